"""The standing frontier: its lists, and URLs that are advanced."""

from typing import Any

import pytest

from longline.drivers.records.frontier import standing_frontier as standing
from longline.drivers.records.like_patterns import contains
from longline.model.frontier.standing_frontier import NEVER_DUE_MS, SCOPE, UrlQuery
from longline.model.ids import new_id
from longline.model.runs.run import NewRun, RunKind
from longline.model.states import TaskState
from longline.ports.records import Records
from longline.ports.records.frontier.frontier import ClaimRequest, HostSetting
from longline.testing.clock import FakeClock
from tests.drivers.records.audit import faults
from tests.drivers.records.peek import Peek
from tests.drivers.records.world import (
    admit,
    claim,
    claim_one,
    ended,
    host_report,
    queued_run,
    release,
    report,
    url,
)


async def test_a_waiting_url_is_advanced_and_stays_counted(records: Records, peek: Peek, clock: FakeClock):
    run = await queued_run(records, seed="s")
    late = url(run, path="/late", scope=SCOPE, priority=500, due=10**15)
    await admit(records, late, url(run, path="/other", scope=SCOPE, priority=450))
    found = await records.standing.known("a.example", late.key)
    assert found is not None
    task_id = found.task_id
    assert found == (task_id, task_id, False)
    assert await records.standing.advance(task_id, 400)
    assert await records.standing.advance(task_id, 600)
    assert await peek.rows(f"SELECT due, priority FROM queue WHERE id = {task_id}") == [(0, 400)]
    assert await peek.rows(f"SELECT due, priority FROM tasks WHERE id = {task_id}") == [(0, 400)]
    lease = await claim_one(records)
    assert lease.tasks[0].id == task_id
    assert not await records.standing.advance(task_id, 100), "the task is in hand"
    await release(records, lease)
    assert await faults(peek, clock.now()) == []
    assert not await records.standing.advance(task_id + 999, 1)


async def test_only_sleeping_urls_are_found(records: Records):
    run = await queued_run(records, seed="s")
    asleep = url(run, path="/asleep", scope=SCOPE, priority=490, due=NEVER_DUE_MS)
    await admit(
        records, asleep, url(run, path="/late", scope=SCOPE, due=NEVER_DUE_MS - 1), url(run, path="/now", scope=SCOPE)
    )
    [(task_id, priority)] = await records.standing.asleep(10)
    assert (await records.standing.known("a.example", asleep.key), priority) == ((task_id, task_id, False), 490)
    assert await records.standing.advance(task_id, priority)
    assert await records.standing.asleep(10) == []


async def test_advancing_a_url_wakes_its_host(records: Records):
    run = await queued_run(records, seed="s")
    late = url(run, scope=SCOPE, due=10**15)
    await admit(records, late)
    assert await records.frontier.claim(ClaimRequest(1, 10, 10, 1000)) == []
    found = await records.standing.known("a.example", late.key)
    assert found
    await records.standing.advance(found[0], 500)
    await claim_one(records)


async def test_only_standing_runs_are_listed(records: Records):
    await admit(records, url(await queued_run(records)))
    assert await records.standing.find(UrlQuery()) == ([], 0)
    assert await records.standing.counts() == {}


def test_a_text_to_be_found_is_escaped_for_like():
    assert contains("50%_\\A") == "%50\\%\\_\\\\A%"
    assert contains(None) is None


async def listed(records: Records, **asked: Any) -> tuple[list[str], int]:
    """Return the paths of a list, and the total."""
    rows, total = await records.standing.find(UrlQuery(**asked), limit=100)
    return [row.url.rpartition("/")[2] for row in rows], total


async def test_lists_show_the_state_of_urls_after_every_move(records: Records, peek: Peek, clock: FakeClock):
    run = await records.runs.add(NewRun(new_id(), RunKind.STANDING_MANUAL, "{}", seed="s"))
    await admit(records, *(url(run, path=f"/{n}", scope=SCOPE, priority=500 - n) for n in range(4)))
    await admit(records, url(run, "b.example:8080", "/b", scope=SCOPE))
    assert await listed(records) == (["3", "2", "1", "b", "0"], 5)
    leases = await claim(records)
    assert await records.standing.counts() == {"held": 5}
    assert await listed(records, rest="waiting") == ([], 0)
    assert await listed(records, rest="held", host="b.example") == (["b"], 1)
    done, failed, again, back = leases["a.example"].tasks
    outcomes = [ended(done), ended(failed, TaskState.FAILED), ended(again, TaskState.PENDING, "dns", due=10**13)]
    assert not (await report(records, host_report(leases["a.example"], outcomes, unstarted=(back,)))).refused
    await release(records, leases["b.example:8080"])
    assert await records.standing.counts() == {"waiting": 3, "done": 1, "given_up": 1}
    assert await listed(records, sort="due", rest="waiting") == (["1", "b", "0"], 3)
    assert await listed(records, rest="given_up", source="s") == (["2"], 1)
    assert await listed(records, rest="done", kind="frontier.manual", sort="created_at") == (["3"], 1)
    assert await listed(records, source="other") == ([], 0)
    assert await listed(records, rest="nowhere") == ([], 0)
    assert await faults(peek, clock.now()) == []


async def test_a_list_of_many_urls_equals_one_of_few(records: Records, monkeypatch: pytest.MonkeyPatch):
    run = await records.runs.add(NewRun(new_id(), RunKind.STANDING_FEED, "{}", seed="s"))
    other = await records.runs.add(NewRun(new_id(), RunKind.STANDING_MANUAL, "{}", seed="t"))
    await admit(records, *(url((run, other)[n % 2], path=f"/{n}", scope=SCOPE, priority=n % 7) for n in range(30)))
    queries = [
        {"sort": sort} | about
        for sort in ("urgency", "due", "created_at")
        for about in ({"source": "s"}, {"kind": "frontier.manual", "rest": "waiting"}, {"host": "a.example"})
    ]
    gathered = [await listed(records, **query) for query in queries]
    monkeypatch.setattr(standing, "MAX_SORTED_URLS", 0)
    assert [await listed(records, **query) for query in queries] == gathered
    assert [total for _, total in gathered] == [15, 15, 30] * 3


async def test_a_redirected_page_is_listed_under_its_first_url_until_it_is_done(
    records: Records, peek: Peek, clock: FakeClock
):
    run = await records.runs.add(NewRun(new_id(), RunKind.STANDING_MANUAL, "{}", seed="s"))
    given = url(run, path="/given", scope=SCOPE, priority=450)
    await admit(records, given)
    lease = await claim_one(records)
    [task] = lease.tasks
    moved = url(run, "b.example", "/there", scope=SCOPE, parent_id=task.id, hops=1)
    await records.frontier.ensure_hosts([HostSetting("b.example", 0, 1)])
    left = ended(task, TaskState.SKIPPED, "redirected")
    assert not (await report(records, host_report(lease, [left]), admit=[moved])).refused
    [row], _ = await records.standing.find(UrlQuery())
    assert row.id == task.id
    assert row.url == given.url
    assert row.host == "a.example"
    assert row.rest == "waiting"
    assert row.priority == 450
    known = await records.standing.known("b.example", moved.key)
    assert known == await records.standing.known("a.example", given.key) == (task.id, row.task_id, False)
    there = await claim_one(records, "b.example")
    assert await listed(records, rest="held") == (["given"], 1)
    assert not (await report(records, host_report(there))).refused
    [row], _ = await records.standing.find(UrlQuery(rest="done"))
    assert (row.url, row.host) == (moved.url, "b.example")
    assert await listed(records, host="a.example") == ([], 0)
    assert await faults(peek, clock.now()) == []
