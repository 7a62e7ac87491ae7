"""Moves of all nouns: refusals, legal moves, and released leases."""

import asyncio
from itertools import product

import pytest

from longline.engine.lifecycle.moves import AFTER_CLAIM, AFTER_TAKE, MAX_TASKS_PER_TRANSACTION, Lifecycle, MoveRequest
from longline.model.errors import BadInput, IllegalMove, NotFound, StaleLease
from longline.model.frontier.task import PARSE
from longline.model.ids import new_id
from longline.model.schedules.schedule import NewSchedule
from longline.model.states import IN_HAND, MOVES, Actor, Move, Noun, TaskState, legal
from longline.ports.records import Records
from longline.ports.records.frontier.frontier import ClaimRequest, Current, HostSetting, ReportBatch
from longline.testing.clock import FakeClock
from tests.drivers.records.peek import Peek, Snapshot
from tests.drivers.records.world import DELAY, ME, TTL, YOU, ended, get_run, host_report, queued_run, url, urls


@pytest.fixture
def lifecycle(records: Records) -> Lifecycle:
    return Lifecycle(records)


async def schedule(records: Records, interval_ms: int | None = 60_000) -> int:
    return (await records.schedules.add(NewSchedule(new_id(), "https://a.example/", interval_ms=interval_ms))).id


async def start(lifecycle: Lifecycle, noun: Noun, subject: int, owner: int = ME) -> Current:
    return await lifecycle.move(MoveRequest(noun, subject, "start", "scheduler", owner=owner, lease_ms=TTL))


async def running(records: Records, lifecycle: Lifecycle, amount: int = 1, **facts: int) -> int:
    """Start a run with URLs of one host."""
    run = await queued_run(records, **facts)
    await start(lifecycle, "run", run.id)
    await lifecycle.admit(urls(run.id, "a.example", amount), [HostSetting("a.example", DELAY, 1)])
    return run.id


# -- the table ----------------------------------------------------------------------------------------------------

SCHEDULE_PATHS: dict[str, tuple[tuple[str, Actor], ...]] = {
    "pending": (("force_run", "person"),),
    "scheduled": (),
    "running": (("start", "scheduler"),),
    "paused": (("pause", "person"),),
    "completed": (("start", "scheduler"), ("succeed", "worker")),
    "failed": (("start", "scheduler"), ("fail", "worker")),
    "cancelled": (("cancel", "person"),),
}
RUN_PATHS: dict[str, tuple[tuple[str, Actor], ...]] = {
    "queued": (),
    "running": (("start", "scheduler"),),
    "completed": (("start", "scheduler"), ("finish", "worker")),
    "failed": (("start", "scheduler"), ("fail", "worker")),
    "cancelled": (("cancel", "person"),),
}
PATHS: dict[Noun, dict[str, tuple[tuple[str, Actor], ...]]] = {"schedule": SCHEDULE_PATHS, "run": RUN_PATHS}
CASES = [(noun, state) for noun, paths in PATHS.items() for state in paths]


async def brought_to(records: Records, lifecycle: Lifecycle, noun: Noun, state: str) -> tuple[int, Current]:
    subject = await schedule(records) if noun == "schedule" else (await queued_run(records)).id
    standing = await records.moves.current(noun, subject)
    for name, actor in PATHS[noun][state]:
        assert standing is not None
        lease = (ME, TTL) if name == "start" else (None, None)
        standing = await lifecycle.move(MoveRequest(noun, subject, name, actor, standing.token, *lease))
    assert standing is not None
    assert standing.state == state
    return subject, standing


def order_for(rule: Move, subject: int, token: int) -> MoveRequest:
    lease = (YOU, TTL) if rule.gives else (None, None)
    return MoveRequest(rule.noun, subject, rule.name, sorted(rule.actors)[0], token, *lease)


@pytest.mark.parametrize(("noun", "state"), CASES)
async def test_every_move_from_every_state_follows_the_table(
    records: Records, lifecycle: Lifecycle, peek: Peek, noun: Noun, state: str
):
    for rule in (rule for rule in MOVES if rule.noun == noun):
        subject, standing = await brought_to(records, lifecycle, noun, state)
        order = order_for(rule, subject, standing.token)
        before = await peek.snapshot()
        if state not in rule.was:
            with pytest.raises(IllegalMove) as refused:
                await lifecycle.move(order)
            assert refused.value.legal == legal(noun, state, order.actor)
            assert await peek.snapshot() == before, (noun, state, rule.name)
        elif rule.gives and standing.owner is not None:
            with pytest.raises(StaleLease, match="is held by"):
                await lifecycle.move(order)
            assert await peek.snapshot() == before
        else:
            moved = await lifecycle.move(order)
            assert moved.state == rule.became, (noun, state, rule.name)
            event = (await records.events.find(limit=10_000))[-1]
            assert event.noun == noun
            assert event.subject == subject
            assert event.move == rule.name
            assert event.was == state
            assert event.became == rule.became


@pytest.mark.parametrize("noun", ["schedule", "run"])
async def test_only_actors_of_the_table_may_move(records: Records, lifecycle: Lifecycle, peek: Peek, noun: Noun):
    actors: tuple[Actor, ...] = ("person", "scheduler", "worker", "bot", "upkeep")
    subject, standing = await brought_to(records, lifecycle, noun, "running")
    before = await peek.snapshot()
    for rule, actor in product(MOVES, actors):
        if rule.noun == noun and "running" in rule.was and actor not in rule.actors:
            with pytest.raises(IllegalMove, match=f"cannot {rule.name} a {noun} that is running"):
                await lifecycle.move(MoveRequest(noun, subject, rule.name, actor, token=standing.token))
    assert await peek.snapshot() == before


@pytest.mark.parametrize("noun", ["schedule", "run"])
@pytest.mark.parametrize("wrong", [None, -1, 0, 1])
async def test_a_fenced_move_needs_the_token_of_the_lease(
    records: Records, lifecycle: Lifecycle, peek: Peek, noun: Noun, wrong: int | None
):
    subject, standing = await brought_to(records, lifecycle, noun, "running")
    before = await peek.snapshot()
    for rule in MOVES:
        if rule.noun == noun and rule.fenced and wrong != 0:
            token = None if wrong is None else standing.token + wrong
            with pytest.raises(StaleLease, match="is no longer held"):
                await lifecycle.move(MoveRequest(noun, subject, rule.name, "worker", token=token))
    assert await peek.snapshot() == before
    if wrong == 0:
        assert (
            await lifecycle.move(MoveRequest(noun, subject, "fail", "worker", token=standing.token))
        ).state == "failed"


@pytest.mark.parametrize("noun", ["schedule", "run", "task"])
async def test_an_unknown_subject_cannot_move(lifecycle: Lifecycle, noun: Noun):
    with pytest.raises(NotFound, match=f"no such {noun}: 4711"):
        await lifecycle.move(MoveRequest(noun, 4711, "cancel", "person"))


async def test_a_refusal_lists_the_legal_moves(records: Records, lifecycle: Lifecycle):
    subject = await schedule(records)
    with pytest.raises(IllegalMove) as refused:
        await lifecycle.move(MoveRequest("schedule", subject, "resume", "person"))
    assert str(refused.value) == "cannot resume a schedule that is scheduled; legal now: pause, force_run, cancel"


async def test_a_person_cannot_finish_a_run_with_open_tasks(records: Records, lifecycle: Lifecycle, peek: Peek):
    run_id = await running(records, lifecycle)
    before = await peek.snapshot()
    with pytest.raises(IllegalMove, match="cannot finish a run that is running with open tasks"):
        await lifecycle.move(MoveRequest("run", run_id, "finish", "worker"))
    assert await peek.snapshot() == before


async def test_a_run_with_only_ended_tasks_ends_when_it_starts(records: Records, lifecycle: Lifecycle):
    run = await queued_run(records)
    await lifecycle.admit([url(run)], [HostSetting("a.example", DELAY, 1)])
    (lease,) = await lifecycle.claim(ClaimRequest(ME, 1, 1, TTL))
    assert (await lifecycle.report(ReportBatch(reports=[host_report(lease)]))).ended_runs == ()
    assert (await get_run(records, run.id)).state == "queued"
    assert (await start(lifecycle, "run", run.id)).state == "completed"
    events = [(e.move, e.was, e.became) for e in await records.events.find() if e.noun == "run" and e.became]
    created = ("create", None, "queued")
    assert events == [created, ("start", "queued", "running"), ("finish", "running", "completed")]


# -- tasks --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [m.name for m in MOVES if m.noun == "task" and m.became in IN_HAND])
async def test_no_single_move_claims_a_task(records: Records, lifecycle: Lifecycle, peek: Peek, name: str):
    await running(records, lifecycle)
    (task,) = await records.tasks.find()
    before = await peek.snapshot()
    with pytest.raises((BadInput, IllegalMove)):
        await lifecycle.move(MoveRequest("task", task.id, name, "worker", owner=ME, lease_ms=TTL))
    assert await peek.snapshot() == before


async def test_rests_of_claimed_and_taken_tasks():
    claimed = {"pending", "downloaded", "queued_parse", "completed", "skipped", "failed"}
    assert {s.value for s in AFTER_CLAIM} == claimed
    assert {s.value for s in AFTER_TAKE} == claimed


@pytest.mark.parametrize("became", [TaskState.CANCELLED, TaskState.PAUSED, TaskState.EXPIRED])
async def test_a_worker_cannot_cancel_pause_or_expire_a_task(
    records: Records, lifecycle: Lifecycle, peek: Peek, became: TaskState
):
    await running(records, lifecycle, 2)
    (lease,) = await lifecycle.claim(ClaimRequest(ME, 1, 10, TTL))
    one, two = lease.tasks
    before = await peek.snapshot()
    outcomes = [ended(one), ended(two, became)]
    with pytest.raises(IllegalMove, match=f"bring to {became}"):
        await lifecycle.report(ReportBatch(reports=[host_report(lease, outcomes)]), [HostSetting("new.example", 1, 1)])
    with pytest.raises(IllegalMove, match=f"bring to {became}"):
        await lifecycle.give([(1, ended(two, became))], ReportBatch(), [HostSetting("new.example", 1, 1)])
    assert await peek.snapshot() == before


@pytest.mark.parametrize("became", [TaskState.QUEUED, TaskState.CRAWLING, TaskState.PARSING])
async def test_a_report_cannot_leave_a_task_claimed(
    records: Records, lifecycle: Lifecycle, peek: Peek, became: TaskState
):
    await running(records, lifecycle)
    (lease,) = await lifecycle.claim(ClaimRequest(ME, 1, 10, TTL))
    before = await peek.snapshot()
    with pytest.raises(IllegalMove, match=f"bring to {became}"):
        await lifecycle.report(ReportBatch(reports=[host_report(lease, [ended(lease.tasks[0], became)])]))
    assert await peek.snapshot() == before


async def test_persons_move_a_claimed_task_and_the_workers_report_is_refused(records: Records, lifecycle: Lifecycle):
    await running(records, lifecycle)
    (lease,) = await lifecycle.claim(ClaimRequest(ME, 1, 10, TTL))
    task_id = lease.tasks[0].id
    assert (await lifecycle.move(MoveRequest("task", task_id, "pause", "person"))).state == "paused"
    assert (await lifecycle.move(MoveRequest("task", task_id, "resume", "person"))).state == "pending"
    assert (await lifecycle.report(ReportBatch(reports=[host_report(lease)]))).gone == {task_id}


async def test_a_page_goes_from_worker_to_parser(records: Records, lifecycle: Lifecycle):
    run_id = await running(records, lifecycle)
    (lease,) = await lifecycle.claim(ClaimRequest(ME, 1, 10, TTL))
    await lifecycle.report(ReportBatch(reports=[host_report(lease, [ended(lease.tasks[0], TaskState.QUEUED_PARSE)])]))
    (taken,) = await lifecycle.take(PARSE, YOU, 10, TTL)
    assert await lifecycle.renew_taken(YOU, [(taken.task.id, taken.token)], TTL) == {taken.task.id}
    found, hosts = [url(run_id, "b.example")], [HostSetting("b.example", DELAY, 1)]
    given = await lifecycle.give([(taken.token, ended(taken.task))], ReportBatch(admit=found), hosts)
    assert given.admitted.new == 1
    assert [lease.host for lease in await lifecycle.claim(ClaimRequest(ME, 10, 10, TTL))] == ["b.example"]


async def test_renewing_no_lease_renews_none(lifecycle: Lifecycle):
    assert await lifecycle.renew(ME, [], TTL) == set()
    assert await lifecycle.renew_taken(ME, [], TTL) == set()


# -- leases that lapse ----------------------------------------------------------------------------------------------


async def test_the_reaper_releases_every_lapsed_lease(records: Records, lifecycle: Lifecycle, clock: FakeClock):
    await running(records, lifecycle, 2)
    (lease,) = await lifecycle.claim(ClaimRequest(ME, 1, 1, TTL))
    await lifecycle.report(ReportBatch(reports=[host_report(lease, [ended(lease.tasks[0], TaskState.DOWNLOADED)])]))
    assert len(await lifecycle.take(PARSE, ME, 1, TTL)) == 1
    assert len(await lifecycle.claim(ClaimRequest(ME, 1, 1, TTL))) == 1
    recurring, once = await schedule(records), await schedule(records, None)
    for subject in (recurring, once):
        await start(lifecycle, "schedule", subject)
    scheduled = await running(records, lifecycle, schedule_id=recurring)
    clock.advance(TTL / 1000)
    assert not any((await lifecycle.reap()).values())
    clock.advance(0.001)
    assert await lifecycle.reap() == {"hosts": 1, "offers": 1, "runs": 2, "schedules": 2}
    assert not any((await lifecycle.reap()).values())
    states = {s.id: s.state for s in await records.schedules.find()}
    assert states == {recurring: "scheduled", once: "pending"}, "a schedule that runs once waits for its run"
    row = await get_run(records, scheduled)
    assert (row.state, row.error, row.open) == ("failed", "lease lapsed", 0)


async def test_a_lease_that_was_renewed_in_the_meantime_is_left_alone(
    records: Records, lifecycle: Lifecycle, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
):
    subject = await schedule(records)
    standing = await start(lifecycle, "schedule", subject)
    seen = standing.lease_until
    clock.advance(1)
    assert await lifecycle.renew_one("schedule", subject, standing.token, TTL)

    async def as_it_was(noun: Noun, limit: int) -> list[tuple[int, int]]:
        return [(subject, seen or 0)] if noun == "schedule" else []

    monkeypatch.setattr(records.moves, "lapsed", as_it_was)
    assert (await lifecycle.reap())["schedules"] == 0
    assert (
        await lifecycle.move(MoveRequest("schedule", subject, "succeed", "worker", token=standing.token))
    ).state == "completed"


async def test_a_renewal_between_the_query_of_the_reaper_and_its_move_wins(
    records: Records, lifecycle: Lifecycle, monkeypatch: pytest.MonkeyPatch
):
    subject = await schedule(records)
    standing = await start(lifecycle, "schedule", subject)
    get = records.schedules.get

    async def and_renew(schedule_id: int) -> object:
        assert await lifecycle.renew_one("schedule", subject, standing.token, TTL + 1)
        return await get(schedule_id)

    async def as_it_was(noun: Noun, limit: int) -> list[tuple[int, int]]:
        return [(subject, standing.lease_until or 0)] if noun == "schedule" else []

    monkeypatch.setattr(records.moves, "lapsed", as_it_was)
    monkeypatch.setattr(records.schedules, "get", and_renew)
    assert (await lifecycle.reap())["schedules"] == 0
    found = await records.moves.current("schedule", subject)
    assert found is not None
    assert (found.state, found.token) == ("running", standing.token)


async def test_all_leases_of_a_dead_owner_are_released_at_once(records: Records, lifecycle: Lifecycle):
    run_id = await running(records, lifecycle, 2)
    (lease,) = await lifecycle.claim(ClaimRequest(ME, 1, 1, TTL))
    await lifecycle.report(ReportBatch(reports=[host_report(lease, [ended(lease.tasks[0], TaskState.DOWNLOADED)])]))
    await lifecycle.take(PARSE, ME, 1, TTL)
    await lifecycle.claim(ClaimRequest(ME, 1, 1, TTL))
    assert await lifecycle.release_all(ME) == 3
    assert await lifecycle.release_all(ME) == 0
    adopted = await lifecycle.move(MoveRequest("run", run_id, "adopt", "worker", owner=YOU, lease_ms=TTL))
    assert adopted.owner == YOU


async def test_a_held_run_is_not_adopted_and_a_released_one_is(records: Records, lifecycle: Lifecycle):
    run = await queued_run(records)
    standing = await start(lifecycle, "run", run.id)
    adopt = MoveRequest("run", run.id, "adopt", "worker", owner=YOU, lease_ms=TTL)
    with pytest.raises(StaleLease, match=f"run {run.id} is held by worker {ME}"):
        await lifecycle.move(adopt)
    assert not await lifecycle.free_run(run.id, standing.token - 1)
    assert await lifecycle.free_run(run.id, standing.token)
    assert (await lifecycle.move(adopt)).owner == YOU
    assert not await lifecycle.renew_one("run", run.id, standing.token, TTL)


# -- races --------------------------------------------------------------------------------------------------------


async def test_of_many_starts_of_one_schedule_one_succeeds(records: Records, lifecycle: Lifecycle):
    subject = await schedule(records)
    found = await asyncio.gather(
        *(start(lifecycle, "schedule", subject, owner) for owner in range(1, 9)), return_exceptions=True
    )
    (winner,) = [x for x in found if isinstance(x, Current)]
    assert all(isinstance(x, IllegalMove | StaleLease) for x in found if x is not winner)
    row = await records.schedules.get(subject)
    assert row is not None
    assert (row.owner, row.token) == (winner.owner, winner.token)
    assert [event.move for event in await records.events.find()] == ["create", "place", "start"]


async def test_a_move_is_repeated_after_a_change_between_its_read_and_its_write(
    records: Records, lifecycle: Lifecycle, monkeypatch: pytest.MonkeyPatch
):
    subject = await schedule(records)
    standing = records.moves.current
    meddled: list[bool] = []

    async def meddling(noun: Noun, of: int) -> Current | None:
        found = await standing(noun, of)
        if not meddled:
            meddled.append(True)
            await Lifecycle(records).move(MoveRequest("schedule", subject, "pause", "person"))
            await Lifecycle(records).move(MoveRequest("schedule", subject, "resume", "person"))
        return found

    monkeypatch.setattr(records.moves, "current", meddling)
    assert (await lifecycle.move(MoveRequest("schedule", subject, "force_run", "person"))).state == "pending"


@pytest.mark.parametrize("noun", ["schedule", "run"])
async def test_a_lease_that_changes_its_owner_between_read_and_write_makes_the_move_stale(
    records: Records, lifecycle: Lifecycle, peek: Peek, monkeypatch: pytest.MonkeyPatch, noun: Noun
):
    subject, mine = await brought_to(records, lifecycle, noun, "running")
    standing, others = records.moves.current, Lifecycle(records)

    async def meanwhile(noun: Noun, of: int) -> Current | None:
        """Return the state as read, and then let another owner start the same noun under another lease."""
        monkeypatch.setattr(records.moves, "current", standing)
        found = await standing(noun, of)
        if noun == "run":
            await others.free_run(of, mine.token)
            await others.move(MoveRequest("run", of, "adopt", "worker", owner=YOU, lease_ms=TTL))
        else:
            await others.move(MoveRequest("schedule", of, "retry_later", "worker", token=mine.token))
            await start(others, "schedule", of, YOU)
        before.append(await peek.snapshot())
        return found

    before: list[Snapshot] = []
    monkeypatch.setattr(records.moves, "current", meanwhile)
    with pytest.raises(StaleLease):
        await lifecycle.move(MoveRequest(noun, subject, "fail", "worker", token=mine.token))
    assert [await peek.snapshot()] == before


async def test_a_move_of_a_subject_that_keeps_changing_fails(
    records: Records, lifecycle: Lifecycle, monkeypatch: pytest.MonkeyPatch
):
    subject = await schedule(records)
    standing = records.moves.current

    async def always_late(noun: Noun, of: int) -> Current | None:
        found = await standing(noun, of)
        monkeypatch.setattr(records.moves, "current", standing)
        await Lifecycle(records).move(MoveRequest("schedule", subject, "pause", "person"))
        await Lifecycle(records).move(MoveRequest("schedule", subject, "resume", "person"))
        monkeypatch.setattr(records.moves, "current", always_late)
        return found

    monkeypatch.setattr(records.moves, "current", always_late)
    with pytest.raises(StaleLease, match="kept changing while it should force_run"):
        await lifecycle.move(MoveRequest("schedule", subject, "force_run", "person"))


async def test_many_urls_are_admitted_in_several_transactions_and_counted_together(
    records: Records, lifecycle: Lifecycle
):
    run = await queued_run(records)
    await start(lifecycle, "run", run.id)
    hosts = [HostSetting("a.example", DELAY, 1)]
    tasks = urls(run.id, "a.example", 2 * MAX_TASKS_PER_TRANSACTION + 3)
    assert await lifecycle.admit(tasks, hosts) == (len(tasks), 0, 0)
    assert await lifecycle.admit(tasks, hosts) == (0, len(tasks), 0)


async def test_a_report_of_many_urls_is_written_in_parts_that_add_up(records: Records, lifecycle: Lifecycle):
    run_id = await running(records, lifecycle)
    [lease] = await lifecycle.claim(ClaimRequest(ME, 1, 1, TTL))
    found = urls(run_id, "a.example", 2 * MAX_TASKS_PER_TRANSACTION + 4)
    batch = ReportBatch([host_report(lease, [ended(lease.tasks[0])])], admit=found, refused={(run_id, "offsite"): 7})
    reported = await lifecycle.report(batch, [HostSetting("a.example", DELAY, 1)])
    assert reported.admitted == (len(found) - 1, 1, 0), "one of the URLs is the page itself"
    run = await get_run(records, run_id)
    assert run.admitted == len(found)
