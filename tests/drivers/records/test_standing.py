"""The standing frontier: looked at, and hastened."""

from longline.drivers.records.text import contains
from longline.model.frontier import ASLEEP, SCOPE, UrlQuery
from longline.ports.records import Records
from longline.testing.clock import FakeClock
from tests.drivers.records.audit import faults
from tests.drivers.records.peek import Peek
from tests.drivers.records.world import admit, claim_one, queued_run, release, url


async def test_a_url_that_waits_goes_sooner_and_stays_counted(records: Records, peek: Peek, clock: FakeClock):
    run = await queued_run(records, seed="s")
    late = url(run, path="/late", scope=SCOPE, priority=500, due=10**15)
    await admit(records, late, url(run, path="/other", scope=SCOPE, priority=450))
    found = await records.standing.known("a.example", late.key)
    assert found is not None
    task_id, removed = found
    assert not removed
    assert await records.standing.hasten(task_id, 400)
    assert await records.standing.hasten(task_id, 600)
    assert await peek.rows(f"SELECT due, priority FROM queue WHERE id = {task_id}") == [(0, 400)]
    assert await peek.rows(f"SELECT due, priority FROM tasks WHERE id = {task_id}") == [(0, 400)]
    lease = await claim_one(records)
    assert lease.tasks[0].id == task_id
    assert not await records.standing.hasten(task_id, 100), "it is in somebody's hand"
    await release(records, lease)
    assert await faults(peek, clock.now()) == []
    assert not await records.standing.hasten(task_id + 999, 1)


async def test_what_sleeps_is_found_and_nothing_else(records: Records):
    run = await queued_run(records, seed="s")
    asleep = url(run, path="/asleep", scope=SCOPE, priority=490, due=ASLEEP)
    await admit(
        records, asleep, url(run, path="/late", scope=SCOPE, due=ASLEEP - 1), url(run, path="/now", scope=SCOPE)
    )
    [(task_id, priority)] = await records.standing.asleep(10)
    assert (await records.standing.known("a.example", asleep.key), priority) == ((task_id, False), 490)
    assert await records.standing.hasten(task_id, priority)
    assert await records.standing.asleep(10) == []


async def test_a_host_that_had_nothing_due_is_woken(records: Records):
    run = await queued_run(records, seed="s")
    late = url(run, scope=SCOPE, due=10**15)
    await admit(records, late)
    assert await records.frontier.claim(1, 10, 10, 1000) == []
    found = await records.standing.known("a.example", late.key)
    assert found
    await records.standing.hasten(found[0], 500)
    await claim_one(records)


async def test_only_standing_runs_are_looked_at(records: Records):
    await admit(records, url(await queued_run(records)))
    assert await records.standing.find(UrlQuery()) == ([], 0)
    assert await records.standing.counts() == {}


def test_a_text_to_be_found_is_no_pattern():
    assert contains("50%_\\A") == "%50\\%\\_\\\\a%"
    assert contains(None) is None
