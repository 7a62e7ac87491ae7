"""Single guarded moves on both engines: row, place, counters and event change together or not at all."""

import re

import orjson
import pytest

from longline.drivers.records.named_queries import load
from longline.model.errors import IllegalMove
from longline.model.frontier.task import BOT
from longline.model.ids import new_id
from longline.model.schedules.schedule import NewSchedule
from longline.model.states import ENDED, Noun, TaskState
from longline.ports.records import Records
from longline.ports.records.frontier.frontier import Change, Current
from longline.testing.clock import FakeClock
from tests.drivers.records.peek import Peek
from tests.drivers.records.world import (
    ME,
    TTL,
    YOU,
    admit,
    claim,
    claim_one,
    ended,
    get_run,
    host_report,
    queued_run,
    report,
    running_run,
    url,
    urls,
)


async def schedule(records: Records, interval_ms: int | None = 60_000) -> int:
    return (await records.schedules.add(NewSchedule(new_id(), "https://a.example/", interval_ms=interval_ms))).id


async def start(records: Records, noun: Noun, subject: int, was: str, owner: int = ME) -> Current:
    standing = await records.moves.apply(
        Change(noun, subject, "start", was, "running", "scheduler", owner=owner, lease_ms=TTL)
    )
    assert standing is not None
    return standing


async def held(records: Records, noun: Noun) -> tuple[int, Current]:
    """Start a schedule or a run under a lease; return its id and its state."""
    if noun == "run":
        subject = (await queued_run(records)).id
        return subject, await start(records, "run", subject, "queued")
    subject = await schedule(records)
    return subject, await start(records, "schedule", subject, "scheduled")


async def move_task(records: Records, task_id: int, move: str, was: str, became: str, **more: object) -> Current | None:
    return await records.moves.apply(Change("task", task_id, move, was, became, "person", **more))  # type: ignore[arg-type]


async def one_task(records: Records, amount: int = 1) -> tuple[int, int]:
    """Start a run with open tasks; return its id and the id of the first task."""
    run = await running_run(records)
    await admit(records, *urls(run, "a.example", amount))
    return run.id, (await records.tasks.find(run_id=run.id))[0].id


# -- schedules and runs -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("noun", ["schedule", "run"])
async def test_a_start_gives_a_lease_with_a_deadline(records: Records, clock: FakeClock, noun: Noun):
    subject, standing = await held(records, noun)
    assert (standing.state, standing.owner, standing.lease_until) == ("running", ME, clock.now() + TTL)
    assert standing.token > 0
    assert await records.moves.current(noun, subject) == standing


@pytest.mark.parametrize("noun", ["schedule", "run"])
async def test_a_missing_row_has_no_state_and_no_move(records: Records, noun: Noun):
    assert await records.moves.current(noun, 4711) is None
    assert await records.moves.apply(Change(noun, 4711, "cancel", "running", "cancelled", "person")) is None
    assert await records.events.find() == []


@pytest.mark.parametrize("noun", ["schedule", "run"])
@pytest.mark.parametrize("wrong", ["state", "token", "deadline"])
async def test_a_failed_guard_changes_nothing(records: Records, peek: Peek, noun: Noun, wrong: str):
    subject, standing = await held(records, noun)
    if noun == "run":
        await admit(records, url(subject))
    before = await peek.snapshot()
    change = Change(
        noun,
        subject,
        "fail",
        was="paused" if wrong == "state" else "running",
        became="failed",
        actor="worker",
        token=standing.token - 1 if wrong == "token" else standing.token,
        lease_seen=1 if wrong == "deadline" else standing.lease_until,
    )
    assert await records.moves.apply(change) is None
    assert await peek.snapshot() == before


@pytest.mark.parametrize("noun", ["schedule", "run"])
async def test_a_move_writes_its_event(records: Records, clock: FakeClock, noun: Noun):
    subject, standing = await held(records, noun)
    clock.advance(1)
    change = Change(noun, subject, "fail", "running", "failed", "worker", "broken", token=standing.token, error="E")
    failed = await records.moves.apply(change)
    assert failed is not None
    assert (failed.state, failed.owner, failed.lease_until) == ("failed", None, None)
    assert failed.token != standing.token
    event = (await records.events.find())[-1]
    assert event.noun == noun
    assert event.subject == subject
    assert event.move == "fail"
    assert event.was == "running"
    assert event.became == "failed"
    assert (event.actor, event.reason, event.at, event.moves) == ("worker", "broken", clock.now(), None)


@pytest.mark.parametrize("noun", ["schedule", "run"])
async def test_renewal_under_the_token_until_the_deadline(records: Records, clock: FakeClock, peek: Peek, noun: Noun):
    subject, standing = await held(records, noun)
    clock.advance(TTL / 1000)
    assert await records.moves.renew(noun, subject, standing.token, TTL)
    renewed = await records.moves.current(noun, subject)
    assert renewed is not None
    assert renewed.lease_until == clock.now() + TTL
    before = await peek.snapshot()
    assert not await records.moves.renew(noun, subject, standing.token + 1, TTL)
    clock.advance(TTL / 1000 + 0.001)
    assert not await records.moves.renew(noun, subject, standing.token, TTL)
    assert await peek.snapshot() == before


@pytest.mark.parametrize("noun", ["schedule", "run"])
async def test_lapsed_leases_are_listed_with_their_deadlines(records: Records, clock: FakeClock, noun: Noun):
    schedule_id = await schedule(records)
    if noun == "run":
        subject = (await queued_run(records, schedule_id=schedule_id)).id
        standing = await start(records, "run", subject, "queued")
    else:
        subject, standing = schedule_id, await start(records, "schedule", schedule_id, "scheduled")
    clock.advance(TTL / 1000)
    assert await records.moves.lapsed(noun, 10) == []
    clock.advance(0.001)
    assert await records.moves.lapsed(noun, 10) == [(subject, standing.lease_until)]
    assert await records.moves.lapsed(noun, 0) == []


async def test_a_lapsed_run_without_a_schedule_is_freed_for_adoption(records: Records, clock: FakeClock):
    run_id, standing = await held(records, "run")
    kept = (await queued_run(records, schedule_id=await schedule(records))).id
    await start(records, "run", kept, "queued")
    clock.advance(TTL / 1000 + 1)
    assert await records.moves.lapsed("run", 10) == [(kept, standing.lease_until)]
    assert await records.moves.free_lapsed() == 1
    freed = await records.moves.current("run", run_id)
    assert freed is not None
    assert (freed.state, freed.owner, freed.lease_until) == ("running", None, None)
    assert not await records.moves.renew("run", run_id, standing.token, TTL)
    adopted = await records.moves.apply(
        Change("run", run_id, "adopt", "running", "running", "worker", owner=YOU, lease_ms=TTL, token=freed.token)
    )
    assert adopted is not None
    assert (adopted.owner, adopted.state) == (YOU, "running")


async def test_freeing_a_run_needs_its_token(records: Records, peek: Peek):
    run_id, standing = await held(records, "run")
    before = await peek.snapshot()
    assert not await records.moves.free("run", run_id, standing.token - 1)
    assert await peek.snapshot() == before
    assert await records.moves.free("run", run_id, standing.token)
    assert not await records.moves.free("run", run_id, standing.token)
    freed = await records.moves.current("run", run_id)
    assert freed is not None
    assert (freed.state, freed.owner) == ("running", None)


async def test_disowning_frees_runs_but_leaves_those_of_schedules_to_their_deadline(records: Records, clock: FakeClock):
    mine, standing = await held(records, "run")
    scheduled = (await queued_run(records, schedule_id=await schedule(records))).id
    await start(records, "run", scheduled, "queued")
    yours = (await queued_run(records)).id
    await start(records, "run", yours, "queued", owner=YOU)
    assert await records.moves.release_all(ME) == 1
    owners = {run.id: (run.owner, run.lease_until) for run in await records.runs.find()}
    assert owners == {
        mine: (None, None),
        scheduled: (ME, standing.lease_until),
        yours: (YOU, standing.lease_until),
    }
    clock.advance(TTL / 1000 + 1)
    assert [subject for subject, _ in await records.moves.lapsed("run", 10)] == [scheduled], "no run is stuck"


async def test_a_move_may_set_the_next_due_time_of_a_schedule(records: Records):
    subject, standing = await held(records, "schedule")
    token = standing.token
    await records.moves.apply(
        Change("schedule", subject, "retry_later", "running", "scheduled", "worker", token=token, due=7)
    )
    row = await records.schedules.get(subject)
    assert row is not None
    assert (row.next_due, row.state) == (7, "scheduled")
    await records.moves.apply(Change("schedule", subject, "pause", "scheduled", "paused", "person"))
    row = await records.schedules.get(subject)
    assert row is not None
    assert row.next_due == 7, "a move without a due time keeps it"


async def test_a_run_has_the_times_of_its_start_and_end_and_its_error(records: Records, clock: FakeClock):
    run_id, standing = await held(records, "run")
    began = clock.now()
    clock.advance(1)
    await records.moves.free("run", run_id, standing.token)
    await records.moves.apply(Change("run", run_id, "adopt", "running", "running", "worker", owner=YOU, lease_ms=TTL))
    clock.advance(1)
    await records.moves.apply(Change("run", run_id, "fail", "running", "failed", "worker", error="out of luck"))
    run = await get_run(records, run_id)
    assert (run.started_at, run.ended_at, run.error) == (began, clock.now(), "out of luck")


async def test_a_run_with_open_tasks_does_not_finish(records: Records, peek: Peek):
    run_id, _ = await one_task(records)
    before = await peek.snapshot()
    assert await records.moves.apply(Change("run", run_id, "finish", "running", "completed", "worker")) is None
    assert await peek.snapshot() == before


@pytest.mark.parametrize("query", ["hosts_of_open_tasks", "open_tasks_of_run"])
def test_a_task_is_open_without_a_fate(query: str):
    (listed,) = re.findall(r"state NOT IN \(([^)]*)\)", load("pg")[query].sql)
    assert set(re.findall(r"'(\w+)'", listed)) == ENDED


async def test_a_run_without_tasks_may_finish(records: Records):
    run = await running_run(records)
    assert await records.moves.apply(Change("run", run.id, "finish", "running", "completed", "worker"))
    assert (await get_run(records, run.id)).state == "completed"


@pytest.mark.parametrize(("move", "became"), [("cancel", "cancelled"), ("fail", "failed"), ("lapse", "failed")])
async def test_a_run_that_stops_cancels_its_open_tasks(records: Records, peek: Peek, move: str, became: str):
    run = await running_run(records)
    other = await running_run(records)
    await admit(records, *urls(run, "a.example", 3), url(other, "b.example", "/other"))
    leases = await claim(records)
    await report(records, host_report(leases["b.example"], [], unstarted=leases["b.example"].tasks))
    first, second, third = leases["a.example"].tasks
    done = [ended(first), ended(second, TaskState.DOWNLOADED)]
    await report(records, host_report(leases["a.example"], done, release=False))
    await admit(records, url(run, path="/bot", executor=BOT), url(run, "c.example"))
    paused = next(t.id for t in await records.tasks.find() if t.host == "c.example")
    await move_task(records, paused, "pause", "pending", "paused")
    assert await records.moves.apply(Change("run", run.id, move, "running", became, "person"))
    row = await get_run(records, run.id)
    assert row.state == became
    assert row.admitted == 5
    assert row.open == 0
    assert row.completed == 1
    assert row.cancelled == 4
    fates = {(f.fate, f.reason): f.count for f in await records.runs.fates(run.id)}
    assert fates == {("completed", "ok"): 1, ("cancelled", f"run {became}"): 4}
    assert await peek.rows("SELECT * FROM offers") == []
    assert len(await peek.rows("SELECT * FROM queue")) == 1, "the task of the other run"
    moves = [orjson.loads(e.moves) for e in await records.events.find() if e.moves][-1]
    assert sorted(was for _, was, _, _ in moves) == ["downloaded", "paused", "pending", "pending"]
    assert {now for _, _, now, _ in moves} == {"cancelled"}
    reported = await report(records, host_report(leases["a.example"], [ended(third)]))
    assert reported.gone == {third.id}, "the report is late"
    assert (await get_run(records, other.id)).open == 1


# -- tasks ------------------------------------------------------------------------------------------------------


async def test_pausing_takes_a_task_out_and_resuming_puts_it_back(records: Records, peek: Peek):
    run_id, task_id = await one_task(records)
    paused = await move_task(records, task_id, "pause", "pending", "paused", reason="wait")
    assert paused is not None
    assert paused.state == "paused"
    assert await peek.rows("SELECT * FROM queue") == []
    assert (await get_run(records, run_id)).open == 1, "a paused task is open"
    (lease,) = (await claim(records)).values()
    assert lease.tasks == ()
    await report(records, host_report(lease))
    assert await move_task(records, task_id, "resume", "paused", "pending")
    assert [t.id for t in (await claim_one(records)).tasks] == [task_id]
    events = [e for e in await records.events.find() if e.noun == "task"]
    assert [(e.subject, e.move, e.was, e.became, e.actor, e.reason) for e in events] == [
        (task_id, "pause", "pending", "paused", "person", "wait"),
        (task_id, "resume", "paused", "pending", "person", "resume"),
    ]


async def test_a_task_in_hand_is_moved_from_its_shown_state(records: Records, peek: Peek):
    _, task_id = await one_task(records)
    lease = await claim_one(records)
    before = await peek.snapshot()
    assert await move_task(records, task_id, "pause", "pending", "paused") is None, "the task is queued now"
    assert await move_task(records, task_id, "pause", "queued", "paused", token=lease.token + 1) is None
    assert await peek.snapshot() == before
    assert await move_task(records, task_id, "pause", "queued", "paused", token=lease.token)
    (event,) = [e for e in await records.events.find() if e.noun == "task"]
    assert (event.was, event.became) == ("queued", "paused")


async def test_a_resumed_task_is_not_reported_under_the_old_lease(records: Records):
    run_id, task_id = await one_task(records, 2)
    lease = await claim_one(records)
    await move_task(records, task_id, "pause", "queued", "paused")
    await move_task(records, task_id, "resume", "paused", "pending")
    assert (await report(records, host_report(lease))).gone == {task_id}
    await report(records, host_report(lease, [ended(t) for t in lease.tasks if t.id != task_id]))
    assert [t.id for t in (await claim_one(records)).tasks] == [task_id]
    assert (await get_run(records, run_id)).completed == 1


@pytest.mark.parametrize("state", ["pending", "completed", "failed", "paused"])
async def test_cancelling_moves_the_count(records: Records, state: str):
    run_id, task_id = await one_task(records, 2)
    if state == "paused":
        await move_task(records, task_id, "pause", "pending", "paused")
    elif state != "pending":
        lease = await claim_one(records)
        (one,) = (t for t in lease.tasks if t.id == task_id)
        rest = [t for t in lease.tasks if t.id != task_id]
        await report(records, host_report(lease, [ended(one, TaskState(state), "why")], unstarted=tuple(rest)))
    assert await move_task(records, task_id, "cancel", state, "cancelled", reason="no need")
    row = await get_run(records, run_id)
    assert row.admitted == 2
    assert row.open == 1
    assert row.completed == 0
    assert row.failed == 0
    assert row.cancelled == 1
    assert [(f.fate, f.reason, f.count) for f in await records.runs.fates(run_id)] == [("cancelled", "no need", 1)]


async def test_cancelling_the_last_open_task_ends_the_run(records: Records):
    run_id, task_id = await one_task(records)
    await move_task(records, task_id, "cancel", "pending", "cancelled")
    assert (await get_run(records, run_id)).state == "completed"
    event = (await records.events.find())[-1]
    assert (event.noun, event.subject, event.move) == ("run", run_id, "finish")
    assert event.actor == "upkeep", "a person may not finish a run: it ended by itself"


@pytest.mark.parametrize("ending", ["completed", "failed"])
async def test_restarting_a_task_reopens_its_run(records: Records, clock: FakeClock, ending: str):
    run_id, task_id = await one_task(records, 1 if ending == "completed" else 2)
    lease = await claim_one(records)
    await report(records, host_report(lease, [ended(t) for t in lease.tasks if t.id == task_id]))
    if ending == "failed":
        assert await records.moves.apply(Change("run", run_id, "fail", "running", "failed", "worker"))
    assert (await get_run(records, run_id)).state == ending
    assert await move_task(records, task_id, "restart", "completed", "pending")
    row = await get_run(records, run_id)
    assert (row.state, row.open, row.completed, row.ended_at) == ("running", 1, 0, None)
    assert not [f for f in await records.runs.fates(run_id) if f.fate == "completed"]
    reopened = (await records.events.find())[-1]
    assert (reopened.move, reopened.was, reopened.became, reopened.actor) == ("reopen", ending, "running", "person")
    clock.advance(1)
    (lease,) = (await claim(records)).values()
    assert [(t.id, t.attempt) for t in lease.tasks] == [(task_id, 1)]
    await report(records, host_report(lease))
    assert (await get_run(records, run_id)).state == "completed"


async def test_a_task_of_a_cancelled_run_cannot_be_restarted(records: Records, peek: Peek):
    run_id, task_id = await one_task(records)
    await records.moves.apply(Change("run", run_id, "cancel", "running", "cancelled", "person"))
    before = await peek.snapshot()
    with pytest.raises(IllegalMove, match="cannot reopen a run that is cancelled"):
        await move_task(records, task_id, "restart", "cancelled", "pending")
    assert await peek.snapshot() == before


async def test_restarting_a_task_in_hand_withdraws_it_from_the_worker(records: Records):
    run_id, task_id = await one_task(records)
    lease = await claim_one(records)
    assert await move_task(records, task_id, "restart", "queued", "pending")
    assert (await report(records, host_report(lease))).gone == {task_id}
    await report(records, host_report(lease, []))
    assert [t.attempt for t in (await claim_one(records)).tasks] == [1]
    assert (await get_run(records, run_id)).open == 1


async def test_a_task_may_be_put_back_for_later(records: Records, clock: FakeClock):
    _, task_id = await one_task(records)
    await move_task(records, task_id, "restart", "pending", "pending", due=clock.now() + 5_000)
    (lease,) = (await claim(records)).values()
    assert lease.tasks == (), "the host was awake already, and its release will find the due time"
    await report(records, host_report(lease))
    clock.advance(5)
    assert [t.id for t in (await claim_one(records)).tasks] == [task_id]


async def test_reparse_offers_a_finished_page_again(records: Records):
    run_id, task_id = await one_task(records)
    lease = await claim_one(records)
    await report(records, host_report(lease))
    assert await move_task(records, task_id, "reparse", "completed", "downloaded")
    assert (await get_run(records, run_id)).state == "running"
    assert [x.task.id for x in await records.hands.take("parse", ME, 10, TTL)] == [task_id]
    assert await claim(records) == {}


async def test_a_bots_task_is_put_back_for_bots(records: Records, peek: Peek):
    run = await running_run(records)
    await admit(records, url(run, executor=BOT))
    (lease,) = await records.hands.take(BOT, ME, 10, TTL)
    assert await move_task(records, lease.task.id, "expire", "crawling", "expired")
    assert await peek.rows("SELECT * FROM queue") == []
    (again,) = await records.hands.take(BOT, YOU, 10, TTL)
    assert again.task.id == lease.task.id
    assert await move_task(records, lease.task.id, "pause", "crawling", "paused")
    assert await move_task(records, lease.task.id, "resume", "paused", "pending")
    assert [x.task.id for x in await records.hands.take(BOT, YOU, 10, TTL)] == [lease.task.id]


async def test_a_fenced_move_of_a_task_needs_the_token(records: Records, peek: Peek):
    run_id, task_id = await one_task(records)
    lease = await claim_one(records)
    await report(records, host_report(lease, [ended(lease.tasks[0], TaskState.DOWNLOADED)]))
    (taken,) = await records.hands.take("parse", ME, 1, TTL)
    before = await peek.snapshot()
    for token in (taken.token - 1, taken.token + 1, 0):
        assert await move_task(records, task_id, "complete", "parsing", "completed", token=token) is None
    assert await peek.snapshot() == before
    assert await move_task(records, task_id, "complete", "parsing", "completed", token=taken.token)
    assert (await get_run(records, run_id)).completed == 1


async def test_a_missing_task_has_no_state_and_no_move(records: Records):
    assert await records.moves.current("task", 4711) is None
    assert await move_task(records, 4711, "cancel", "pending", "cancelled") is None
