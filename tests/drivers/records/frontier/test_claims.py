"""Leases of hosts on both engines: claim, order, renewal, deadline, release and reaping."""

import asyncio
from collections import Counter
from typing import cast

import msgspec

from longline.drivers.records import open_records
from longline.drivers.records.database import Transaction
from longline.drivers.records.frontier.claims import ClaimRow, FrontierRecords
from longline.ports.records import Records
from longline.ports.records.frontier.frontier import ClaimRequest, HostSetting
from longline.testing.clock import FakeClock
from tests.drivers.records.peek import Peek
from tests.drivers.records.world import (
    DELAY,
    ME,
    TTL,
    YOU,
    admit,
    claim,
    claim_one,
    ended,
    host_report,
    release,
    report,
    running_run,
    url,
    urls,
)


async def wakes(peek: Peek) -> dict[str, int | None]:
    return dict(await peek.rows("SELECT h.host, l.wake_at FROM line l JOIN hosts h ON h.id = l.host_id"))


async def test_hosts_are_made_once_and_keep_their_settings(records: Records, peek: Peek):
    await records.frontier.ensure_hosts([HostSetting("a.example", 10, 2), HostSetting("b.example", 20, 1)])
    await records.frontier.ensure_hosts([HostSetting("a.example", 99, 9), HostSetting("c.example", 30, 3)])
    rows = await peek.rows("SELECT host, delay_ms, concurrency FROM hosts ORDER BY host")
    assert rows == [("a.example", 10, 2), ("b.example", 20, 1), ("c.example", 30, 3)]
    assert await wakes(peek) == {"a.example": None, "b.example": None, "c.example": None}


async def test_concurrent_callers_make_the_same_hosts_once(records: Records, peek: Peek):
    hosts = [HostSetting(f"h{i}.example", 10, 1) for i in range(50)]
    await asyncio.gather(*(records.frontier.ensure_hosts(hosts[i:] + hosts[:i]) for i in range(0, 50, 7)))
    assert (await peek.value("SELECT COUNT(*) FROM hosts"), await peek.value("SELECT COUNT(*) FROM line")) == (50, 50)


async def test_a_lease_has_all_facts_for_a_worker(records: Records, clock: FakeClock):
    run = await running_run(records)
    await records.frontier.ensure_hosts([HostSetting("a.example", 250, 3)])
    await records.frontier.admit([url(run, path="/x", depth=2, priority=7)], {})
    (lease,) = await records.frontier.claim(ClaimRequest(ME, 10, 10, TTL))
    assert (lease.host, lease.delay_ms, lease.concurrency, lease.not_before) == ("a.example", 250, 3, 0)
    assert lease.until == clock.now() + TTL
    (task,) = lease.tasks
    assert (task.url, task.run_id, task.scope, task.depth) == ("https://a.example/x", run.id, run.id, 2)
    assert (task.attempt, task.priority, task.due) == (1, 7, 0)


async def test_a_claimed_task_is_shown_as_queued_until_it_is_given_back(records: Records):
    run = await running_run(records)
    await admit(records, url(run))
    lease = await claim_one(records)
    (task,) = await records.tasks.find()
    standing = await records.moves.current("task", task.id)
    assert (task.state, task.attempt) == ("queued", 0)
    assert standing is not None
    assert (standing.state, standing.rest, standing.token) == ("queued", "pending", lease.token)
    assert (standing.owner, standing.lease_until) == (ME, lease.until)
    await release(records, lease)
    (task,) = await records.tasks.find()
    assert (task.state, task.attempt) == ("pending", 0)
    standing = await records.moves.current("task", task.id)
    assert standing is not None
    assert (standing.state, standing.owner, standing.lease_until) == ("pending", None, None)


async def test_a_host_belongs_to_one_worker_at_a_time(records: Records):
    run = await running_run(records)
    await admit(records, *urls(run, "a.example", 5))
    first = await claim(records, tasks=2)
    assert len(first["a.example"].tasks) == 2
    assert await claim(records, owner=YOU) == {}


async def test_concurrent_claims_get_distinct_hosts(records: Records, records_url: str):
    run = await running_run(records)
    await admit(records, *(url(run, f"h{i}.example") for i in range(40)))
    others = [await open_records(records_url, FakeClock()) for _ in range(3)]
    ports = [records, *others]
    found = await asyncio.gather(*(ports[i % 4].frontier.claim(ClaimRequest(i, 5, 10, TTL)) for i in range(16)))
    for other in others:
        await other.schema.close()
    # PostgreSQL skips rows that another claim has locked: no claim waits, and skipped hosts are claimed later.
    found.append(await records.frontier.claim(ClaimRequest(99, 100, 10, TTL)))
    hosts = [lease.host for leases in found for lease in leases]
    assert sorted(hosts) == sorted(f"h{i}.example" for i in range(40))
    assert sum(len(lease.tasks) for leases in found for lease in leases) == 40


async def test_the_host_that_has_waited_longest_is_claimed_first(records: Records, clock: FakeClock):
    run = await running_run(records)
    for host in ("c.example", "a.example", "b.example"):
        await admit(records, url(run, host))
        clock.advance(1)
    got = [[*(await claim(records, hosts=1))] for _ in range(3)]
    assert got == [["c.example"], ["a.example"], ["b.example"]]


async def test_a_released_host_goes_to_the_end_of_the_line(records: Records, clock: FakeClock):
    run = await running_run(records)
    await admit(records, *urls(run, "big.example", 9), url(run, "small.example"))
    first = await claim(records, hosts=1, tasks=2)
    clock.advance(1)
    for lease in first.values():
        await report(records, host_report(lease))
    (second,) = await claim(records, hosts=1)
    assert {second} == {"big.example", "small.example"} - set(first)


async def test_hosts_are_leased_equally_often_for_any_number_of_tasks(records: Records, clock: FakeClock):
    run = await running_run(records)
    sizes = {"large.example": 60, "middle.example": 20, "small.example": 12, "tiny.example": 6}
    await admit(records, *(u for host, amount in sizes.items() for u in urls(run, host, amount)))
    leased = Counter[str]()
    for _ in range(12):
        leases = await claim(records, hosts=2, tasks=1)
        leased.update(leases.keys())
        clock.advance(0.001)
        await report(records, *(host_report(lease) for lease in leases.values()))
    assert leased == dict.fromkeys(sizes, 6)


async def test_tasks_of_a_host_are_claimed_by_priority(records: Records):
    run = await running_run(records)
    await admit(records, *(url(run, path=f"/{p}", priority=p) for p in (500, 3, 900, 40)))
    lease = (await claim(records, tasks=3))["a.example"]
    assert [t.priority for t in lease.tasks] == [3, 40, 500]


async def test_tasks_of_equal_priority_are_claimed_in_the_order_of_admission(records: Records):
    run = await running_run(records)
    for path in ("/z", "/a", "/m"):
        await admit(records, url(run, path=path))
    lease = await claim_one(records)
    assert [t.url[-2:] for t in lease.tasks] == ["/z", "/a", "/m"]


async def test_a_task_that_became_due_is_ordered_by_its_priority(records: Records, clock: FakeClock):
    run = await running_run(records)
    due = clock.now() + 1_000
    await admit(records, url(run, path="/ready", priority=5), url(run, path="/due", priority=1, due=due))
    clock.advance(1)
    lease = (await claim(records, tasks=1))["a.example"]
    assert [(t.url[-4:], t.due) for t in lease.tasks] == [("/due", due)]


async def test_a_task_is_not_claimed_before_it_is_due(records: Records, clock: FakeClock):
    run = await running_run(records)
    await admit(records, url(run, path="/now"), url(run, path="/later", priority=1, due=clock.now() + 1))
    lease = await claim_one(records)
    assert [t.url[-4:] for t in lease.tasks] == ["/now"]
    await report(records, host_report(lease))
    assert await claim(records) == {}
    clock.advance(0.001)
    assert [t.url[-6:] for t in (await claim_one(records)).tasks] == ["/later"]


async def test_limits_of_hosts_and_tasks_hold(records: Records):
    run = await running_run(records)
    await admit(records, *(u for h in "abcd" for u in urls(run, f"{h}.example", 6)))
    leases = await claim(records, hosts=3, tasks=4)
    assert [len(lease.tasks) for lease in leases.values()] == [4, 4, 4]
    assert len(await claim(records, hosts=3, tasks=4)) == 1


async def test_a_host_without_work_is_leased_without_tasks_and_goes_to_sleep(records: Records, peek: Peek):
    run = await running_run(records)
    await admit(records, url(run))
    await peek.rows("DELETE FROM queue") if peek.engine == "lite" else await peek.rows("DELETE FROM queue RETURNING id")
    lease = await claim_one(records)
    assert lease.tasks == ()
    await report(records, host_report(lease))
    assert await wakes(peek) == {"a.example": None}
    assert await claim(records) == {}


async def test_renewal_moves_the_deadline(records: Records, clock: FakeClock, peek: Peek):
    run = await running_run(records)
    await admit(records, url(run))
    lease = await claim_one(records)
    clock.advance(20)
    assert await records.frontier.renew(ME, [(lease.host_id, lease.token)], TTL) == {lease.host_id}
    assert await wakes(peek) == {"a.example": clock.now() + TTL}
    clock.advance(20)
    assert await records.frontier.reap(10) == []
    assert not (await report(records, host_report(lease))).refused


async def test_only_the_holder_renews_its_own_leases(records: Records, peek: Peek):
    run = await running_run(records)
    await admit(records, url(run), url(run, "b.example"))
    leases = await claim(records)
    a, b = leases["a.example"], leases["b.example"]
    before = await peek.snapshot()
    assert await records.frontier.renew(YOU, [(a.host_id, a.token)], TTL) == set()
    assert await records.frontier.renew(ME, [(a.host_id, a.token - 1), (a.host_id + 999, 1)], TTL) == set()
    assert await peek.snapshot() == before
    await release(records, b)
    assert await records.frontier.renew(ME, [(a.host_id, a.token), (b.host_id, b.token)], TTL) == {a.host_id}


async def test_a_lapsed_lease_is_renewed_until_it_is_reaped(records: Records, clock: FakeClock, peek: Peek):
    run = await running_run(records)
    await admit(records, url(run))
    lease = await claim_one(records)
    clock.advance(TTL / 1000 + 0.001)
    assert await records.frontier.renew(ME, [(lease.host_id, lease.token)], TTL) == {lease.host_id}
    assert await records.frontier.reap(10) == [], "its deadline has moved"
    clock.advance(TTL / 1000 + 0.001)
    assert await records.frontier.reap(10) == [lease.host_id]
    before = await peek.snapshot()
    assert await records.frontier.renew(ME, [(lease.host_id, lease.token)], TTL) == set()
    assert await peek.snapshot() == before


async def test_the_reaper_takes_back_lapsed_leases_alone(records: Records, clock: FakeClock):
    run = await running_run(records)
    await admit(records, url(run))
    old = await claim_one(records)
    clock.advance(TTL / 1000)
    await admit(records, url(run, "b.example"))
    young = await claim_one(records, "b.example")
    assert await records.frontier.reap(10) == [], "a lease holds until its last millisecond is over"
    clock.advance(0.001)
    assert await records.frontier.reap(10) == [old.host_id]
    assert (await report(records, host_report(old))).stale == {old.host_id}
    assert not (await report(records, host_report(young))).refused


async def test_a_pause_that_is_too_long_is_shortened(records: Records, clock: FakeClock, peek: Peek):
    run = await running_run(records)
    await admit(records, *(url(run, host) for host in ("a.example", "b.example", "c.example")))
    leases = await claim(records)
    for host, pause in (("a.example", 7_200_000), ("b.example", 3_000_000)):
        lease = leases[host]
        await report(
            records, host_report(lease, [], unstarted=lease.tasks, not_before=clock.now() + pause, release=True)
        )
    assert await records.frontier.bound_pauses(4_000_000) == 1
    assert await records.frontier.bound_pauses(4_000_000) == 0
    rows = await peek.rows("SELECT not_before - wake_at, not_before FROM line ORDER BY host_id")
    assert rows[0] == (0, clock.now() + 4_000_000)
    assert rows[1] == (0, clock.now() + 3_000_000)
    assert rows[2][1] == 0
    clock.advance(4001)
    assert set(await claim(records)) == {"a.example", "b.example"}


async def test_after_a_reap_the_host_waits_a_whole_delay(records: Records, clock: FakeClock, peek: Peek):
    run = await running_run(records)
    await admit(records, url(run))
    first = await claim_one(records)
    clock.advance(TTL / 1000 + 1)
    await records.frontier.reap(10)
    assert await peek.value("SELECT lapses FROM line") == 1
    await admit(records, url(run, path="/more"))
    clock.advance((DELAY - 1) / 1000)
    assert await claim(records) == {}
    clock.advance(0.001)
    again = await claim_one(records, owner=YOU)
    assert again.token > first.token
    assert {t.url: t.claims for t in again.tasks} == {"https://a.example/": 2, "https://a.example/more": 1}
    assert again.not_before == clock.now()


async def test_reaping_is_bounded_and_oldest_first(records: Records, clock: FakeClock):
    run = await running_run(records)
    hosts = []
    for name in "cab":
        await admit(records, url(run, f"{name}.example"))
        hosts.append((await claim_one(records, f"{name}.example")).host_id)
        clock.advance(1)
    clock.advance(100)
    assert sorted(await records.frontier.reap(2)) == sorted(hosts[:2])
    assert await records.frontier.reap(2) == hosts[2:]


async def test_release_all_takes_back_everything_of_one_owner(records: Records, clock: FakeClock):
    run = await running_run(records)
    await admit(records, url(run, "a.example"), url(run, "b.example"))
    mine = await claim(records, owner=ME)
    await admit(records, url(run, "c.example"))
    yours = await claim_one(records, "c.example", owner=YOU)
    assert await records.frontier.release_all(ME) == 2
    assert (await report(records, host_report(mine["a.example"]))).refused
    assert not (await report(records, host_report(yours))).refused
    assert await claim(records) == {}, "a dead worker may have sent a request to the host a moment ago"
    clock.advance(DELAY / 1000)
    assert set(await claim(records)) == {"a.example", "b.example"}
    assert await records.frontier.release_all(3) == 0


async def test_lapsed_claims_are_counted_as_claims_and_not_as_attempts(records: Records, clock: FakeClock):
    run = await running_run(records)
    await admit(records, url(run))
    for claims in (1, 2, 3):
        lease = await claim_one(records)
        assert [(t.attempt, t.claims) for t in lease.tasks] == [(1, claims)]
        clock.advance(TTL / 1000 + 1)
        await records.frontier.reap(10)
        clock.advance(DELAY / 1000)


async def test_unstarted_tasks_that_are_given_back_lose_their_claim(records: Records):
    run = await running_run(records)
    await admit(records, *urls(run, "a.example", 3))
    for _ in range(3):
        lease = await claim_one(records)
        assert [t.claims for t in lease.tasks] == [1, 1, 1]
        await release(records, lease)
    lease = await claim_one(records)
    await report(records, host_report(lease, [ended(lease.tasks[0])], unstarted=lease.tasks[1:2]))
    assert [t.claims for t in (await claim_one(records)).tasks] == [1, 2], "the other task keeps its claim"


# -- more tasks for hosts in hand -------------------------------------------------------------------------------------


async def paths(records: Records, hosts: int, *held: tuple[int, int], owner: int = ME) -> dict[str, list[str]]:
    """Return the paths of a claim of two tasks for each host."""
    leases = await records.frontier.claim(ClaimRequest(owner, hosts, 2, TTL, held))
    return {lease.host: [task.url.rpartition("/")[2] for task in lease.tasks] for lease in leases}


async def test_a_claim_for_a_host_in_hand_gives_further_tasks(records: Records):
    run = await running_run(records)
    await admit(records, *(url(run, path=f"/{n}") for n in range(5)))
    (lease,) = await records.frontier.claim(ClaimRequest(ME, 4, 2, TTL))
    held = (lease.host_id, lease.token)
    first = [task.url.rpartition("/")[2] for task in lease.tasks]
    helpings = [first, *[(await paths(records, 4, held))["a.example"] for _ in range(3)]]
    assert [len(helping) for helping in helpings] == [2, 2, 1, 0]
    assert {path for helping in helpings for path in helping} == {"0", "1", "2", "3", "4"}


async def test_tasks_claimed_later_are_reported_under_the_same_lease(records: Records):
    run = await running_run(records)
    await admit(records, *(url(run, path=f"/{n}") for n in range(4)))
    (lease,) = await records.frontier.claim(ClaimRequest(ME, 4, 2, TTL))
    (more,) = await records.frontier.claim(ClaimRequest(ME, 4, 2, TTL, [(lease.host_id, lease.token)]))
    outcomes = [ended(task) for task in (*lease.tasks, *more.tasks)]
    assert not (await report(records, host_report(lease, outcomes, release=True))).refused
    assert {task.state for task in await records.tasks.find()} == {"completed"}


async def test_waiting_hosts_are_claimed_before_further_tasks_of_hosts_in_hand(records: Records):
    run = await running_run(records)
    await admit(records, *(url(run, path=f"/{n}") for n in range(4)))
    (lease,) = await records.frontier.claim(ClaimRequest(ME, 1, 2, TTL))
    await admit(records, url(run, host="b.example", path="/b"))
    held = (lease.host_id, lease.token)
    assert await paths(records, 1, held) == {"b.example": ["b"]}
    assert len((await paths(records, 1, held))["a.example"]) == 2


async def test_a_claim_may_skip_hosts_that_have_just_become_free(records: Records, clock: FakeClock):
    run = await running_run(records)
    await admit(records, *(url(run, path=f"/{n}") for n in range(3)))
    clock.advance(0.4)
    await admit(records, url(run, host="b.example", path="/b"))
    clock.advance(0.1)
    assert [lease.host for lease in await records.frontier.claim(ClaimRequest(ME, 4, 1, TTL, waited_ms=500))] == [
        "a.example"
    ]
    assert await records.frontier.claim(ClaimRequest(ME, 4, 1, TTL, waited_ms=101)) == []
    assert [lease.host for lease in await records.frontier.claim(ClaimRequest(YOU, 4, 1, TTL))] == ["b.example"]


async def test_a_released_host_counts_as_free_from_its_release(records: Records, clock: FakeClock):
    run = await running_run(records)
    await admit(records, *(url(run, path=f"/{n}") for n in range(3)))
    lease = await claim_one(records)
    clock.advance(5)
    await report(records, host_report(lease, [ended(lease.tasks[0])], unstarted=lease.tasks[1:], release=True))
    assert await records.frontier.claim(ClaimRequest(ME, 4, 1, TTL, waited_ms=1)) == []
    clock.advance(0.001)
    assert len(await records.frontier.claim(ClaimRequest(ME, 4, 1, TTL, waited_ms=1))) == 1


async def test_a_lost_lease_gets_no_further_tasks(records: Records, clock: FakeClock):
    run = await running_run(records)
    await admit(records, *(url(run, path=f"/{n}") for n in range(4)))
    (lease,) = await records.frontier.claim(ClaimRequest(ME, 1, 2, TTL))
    held = (lease.host_id, lease.token)
    assert await paths(records, 1, held, owner=YOU) == {}, "a lease of another owner"
    assert await paths(records, 1, (lease.host_id, lease.token - 1)) == {}, "an older lease"
    clock.advance((TTL + 1) / 1000)
    assert await paths(records, 1, held) == {}, "a lapsed lease"


async def test_further_tasks_are_given_in_turn_to_the_runs_of_a_host(records: Records):
    one, other = await running_run(records), await running_run(records)
    await admit(records, *(url(run, path=f"/{run.id}-{n}") for run in (one, other) for n in range(4)))
    (lease,) = await records.frontier.claim(ClaimRequest(ME, 4, 4, TTL))
    (more,) = await records.frontier.claim(ClaimRequest(ME, 4, 4, TTL, [(lease.host_id, lease.token)]))
    for helping in (lease, more):
        assert Counter(task.run_id for task in helping.tasks) == {one.id: 2, other.id: 2}


async def test_a_claimed_task_names_the_page_that_links_to_it(records: Records):
    run = await running_run(records)
    await admit(records, url(run, path="/page"))
    (page,) = (await claim_one(records)).tasks
    assert page.found_on is None
    linked, moved = (
        url(run, "b.example", "/link", parent_id=page.id),
        url(run, "c.example", "/moved", parent_id=page.id),
    )
    await admit(records, linked, msgspec.structs.replace(moved, hops=1))
    found = {host: lease.tasks[0].found_on for host, lease in (await claim(records, YOU)).items()}
    assert found == {"b.example": "https://a.example/page", "c.example": None}


async def test_the_columns_of_a_claim_are_the_fields_of_its_row(records: Records):
    """The rows are read by position, so that both statements and the fields must have one order."""
    database = cast(FrontierRecords, records.frontier)._database

    async def columns(tx: Transaction) -> list[str]:
        if tx.engine == "pg":
            rows = await tx.all(
                "claim", owner=ME, hosts=1, tasks=1, ttl=TTL, waited=0, downloads=True, held=[], tokens=[]
            )
        else:
            [lease] = await tx.all("lease_hosts", owner=ME, hosts=1, ttl=TTL, waited=0, downloads=True)
            rows = await tx.batch("pick_tasks", [(lease["host_id"], lease["token"], 0, 0, run.id)], tasks=1)
        return list(rows[0].keys())

    run = await running_run(records)
    await admit(records, url(run))
    assert await database.transact(columns) == list(ClaimRow._fields)
