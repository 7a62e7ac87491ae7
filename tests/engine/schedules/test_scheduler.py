"""The scheduler in cases that no door shows: crashes between two steps, several schedulers, unavailable sources."""

import asyncio
from typing import Any

import msgspec
import pytest

from longline.engine.lifecycle.moves import Lifecycle
from longline.engine.lifecycle.schedules import ScheduleLifecycle
from longline.engine.schedules.scheduler import (
    Scheduler,
    SchedulerParts,
    SchedulerSettings,
    next_page_changes,
    start_digest,
)
from longline.engine.sources.source_lookup import LocalSources
from longline.model.errors import Unavailable
from longline.model.ids import new_id
from longline.model.runs.start_page import StartPage
from longline.model.schedules.schedule import NewSchedule, ScheduleRow, ScheduleSpec, cancelled, paused, resumed
from longline.model.search.item import NewItem
from longline.model.sources.source import NewSource
from longline.plugins.registry import Registry
from longline.ports.records import Records
from longline.ports.records.frontier.frontier import Change
from longline.ports.records.schedules import PageChanges, ScheduleAmendment, Tick
from longline.testing.clock import FakeClock
from tests.drivers.records.audit import faults
from tests.drivers.records.fixtures import *  # noqa: F403 - fixtures are found by their names
from tests.drivers.records.peek import Peek
from tests.drivers.records.world import admit, claim, host_report, report, url


class Away:
    """A directory, or a store of page changes, that fails."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    async def get(self, _: str) -> Any:
        raise self.error


def scheduler(records: Records, clock: FakeClock, owner: int = 1, **more: Any) -> Scheduler:
    parts: dict[str, Any] = {
        "schedule_lifecycle": ScheduleLifecycle(records),
        "lifecycle": Lifecycle(records),
        "directory": LocalSources(records.sources),
        "parsers": Registry(),
        "history": records.history,
        "page_change_store": records.page_changes,
        "counters": records.counters,
        "clock": clock,
        "owner": owner,
    }
    return Scheduler(SchedulerParts(**parts | more), SchedulerSettings())


async def schedule(records: Records, name: str = "a", interval_ms: int | None = None, due: int = 0) -> ScheduleRow:
    source = await records.sources.add(NewSource(name, f"https://{name}.example/"))
    terms = ScheduleSpec(url=source.base_url, source_ref=source.public_id, max_retries=1)
    return await records.schedules.add(
        NewSchedule(new_id(), terms.url, interval_ms=interval_ms, next_due=due, terms=terms)
    )


async def current(records: Records, row: ScheduleRow) -> ScheduleRow:
    found = await records.schedules.get(row.id)
    assert found is not None
    return found


async def work(records: Records) -> None:
    """Complete all waiting tasks, as a worker does."""
    for lease in (await claim(records)).values():
        assert not (await report(records, host_report(lease))).refused


async def test_a_run_is_launched_by_the_next_scheduler_after_a_death_before_the_launch(
    records: Records, clock: FakeClock
):
    row = await schedule(records)
    [tick] = await ScheduleLifecycle(records).start(1, 10, 300_000)
    assert (tick.run.state, tick.run.number, tick.schedule.state) == ("queued", 1, "running")
    clock.advance(301)
    assert await scheduler(records, clock, 2).follow() == 1
    run = await records.runs.get(tick.run.id)
    assert run is not None
    assert (run.state, run.error, run.admitted, run.seed) == ("running", None, 1, "https://a.example/")
    await work(records)
    await scheduler(records, clock, 2).follow()
    assert (await current(records, row)).state == "completed"


async def test_a_run_gets_its_seed_from_the_next_scheduler_after_a_death_before_the_admission(
    records: Records, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
):
    row = await schedule(records)
    dying = scheduler(records, clock)

    async def die(*_: object) -> None:
        raise ConnectionResetError

    with monkeypatch.context() as patched:
        patched.setattr(records.frontier, "ensure_hosts", die)
        with pytest.raises(ConnectionResetError):
            await dying.poll()
    clock.advance(301)
    assert await scheduler(records, clock, 2).follow() == 1
    [run] = await records.history.find(row.id)
    assert (run.state, run.admitted) == ("running", 1)
    with_seed = scheduler(records, clock)
    await with_seed.follow()
    assert (await records.runs.find())[0].admitted == 1, "a seed is admitted once"
    await work(records)
    await scheduler(records, clock, 2).follow()
    assert (await current(records, row)).state == "completed"


@pytest.mark.parametrize("step", ["start", "launch", "admit"])
async def test_a_lost_connection_between_two_steps_of_a_launch_leaves_no_run_behind(
    records: Records, clock: FakeClock, monkeypatch: pytest.MonkeyPatch, step: str
):
    """The step was carried out, and its response was lost with the connection."""
    row = await schedule(records)
    one = scheduler(records, clock)
    port: Any = records.frontier if step == "admit" else records.ticks
    carried_out = getattr(port, step)

    async def lost(*args: Any) -> None:
        await carried_out(*args)
        raise Unavailable("the database is away")

    with monkeypatch.context() as patched:
        patched.setattr(port, step, lost)
        with pytest.raises(Unavailable):
            await one.poll()
    await one.renew()
    await one.follow()
    await work(records)
    await one.follow()
    [run] = await records.history.find(row.id)
    assert (run.state, run.admitted, (await current(records, row)).state) == ("completed", 1, "completed")


async def test_a_failed_launch_is_repeated_by_the_same_scheduler(
    records: Records, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
):
    row = await schedule(records)
    one = scheduler(records, clock)

    async def away(*_: object) -> None:
        raise Unavailable("the database is away")

    for port, step in ((records.ticks, "launch"), (records.frontier, "ensure_hosts")):
        with monkeypatch.context() as patched:
            patched.setattr(port, step, away)
            with pytest.raises(Unavailable):
                await (one.poll() if step == "launch" else one.follow())
    await one.follow()
    [run] = await records.history.find(row.id)
    assert (run.state, run.admitted) == ("running", 1)


async def test_a_run_fails_if_its_source_is_deleted_before_the_launch(records: Records, clock: FakeClock):
    class Vanishing(LocalSources):
        """A directory in which the source `a` is deleted after its first lookup."""

        async def get(self, ref: str) -> Any:
            found = await super().get(ref)
            if found is not None and found.id is not None and found.name == "a":
                assert await records.sources.remove(found.id)
            return found

    gone, other = [await schedule(records, name) for name in ("a", "b")]
    await scheduler(records, clock, directory=Vanishing(records.sources)).poll()
    [failed], [begun] = [await records.history.find(row.id) for row in (gone, other)]
    assert (failed.state, failed.error, failed.stack) == ("failed", f"source not found: {gone.source_ref}", None)
    assert (begun.state, begun.error, begun.admitted) == ("running", None, 1)


async def test_a_run_that_ends_during_the_stop_of_its_scheduler_is_settled(records: Records, clock: FakeClock):
    class Late(ScheduleLifecycle):
        """Schedules of which some end between the query of the held ones and its result."""

        async def held(self, owner: int) -> list[Tick]:
            found = await super().held(owner)
            await work(records)
            return found

    rows = [await schedule(records, name) for name in ("a", "b")]
    leaving = scheduler(records, clock, schedule_lifecycle=Late(records))
    assert await leaving.poll() == 2
    await leaving.hand_over_runs()
    assert [(await current(records, row)).state for row in rows] == ["completed", "completed"]
    assert await ScheduleLifecycle(records).held(1) == []


async def test_runs_of_a_dead_process_are_adopted_at_once(records: Records, clock: FakeClock):
    row = await schedule(records)
    await scheduler(records, clock, 1).poll()
    assert await Lifecycle(records).release_all(1) == 1
    clock.advance(0.01)
    assert await scheduler(records, clock, 2).follow() == 1
    found = await current(records, row)
    assert (found.state, found.owner) == ("running", 2)
    assert (await records.counters.all())["stale_leases"] == 1


async def test_several_schedulers_adopt_each_run_once(records: Records, clock: FakeClock, peek: Peek):
    rows = [await schedule(records, f"h{n}", interval_ms=60_000) for n in range(20)]
    await scheduler(records, clock).poll()
    clock.advance(301)
    rivals = [scheduler(records, clock, n) for n in (2, 3, 4)]
    assert sum(await asyncio.gather(*(one.follow() for one in rivals))) == 20
    assert (await records.counters.all())["stale_leases"] == 20
    found = [await current(records, row) for row in rows]
    assert [(one.state, one.retries, one.token) for one in found] == [("running", 0, 2)] * 20
    runs = [await records.runs.get(one.run_id or 0) for one in found]
    assert [(run.state, run.adoptions) for run in runs if run] == [("running", 0)] * 20
    assert await faults(peek, clock.now()) == []
    await work(records)
    assert sum(await asyncio.gather(*(one.follow() for one in rivals))) == 20
    assert await faults(peek, clock.now()) == []


async def test_a_scheduler_adopts_its_own_lapsed_runs_after_a_pause(records: Records, clock: FakeClock):
    row = await schedule(records)
    one = scheduler(records, clock)
    await one.poll()
    for _ in range(5):
        clock.advance(301)
        await one.renew()
        assert await one.follow() == 1
    found = await current(records, row)
    assert (found.state, found.owner) == ("running", 1)
    run = await records.runs.get(found.run_id or 0)
    assert run is not None
    assert (run.adoptions, run.unheld_ms) == (0, 5 * 1000), "the process was not killed"


@pytest.mark.parametrize(("runs", "seconds", "counted"), [(2, 29, 0), (2, 31, 0), (1, 1, 1)])
async def test_a_process_that_ended_no_url_accuses_its_only_run_alone(
    records: Records, clock: FakeClock, runs: int, seconds: float, counted: int
):
    rows = [await schedule(records, f"h{n}") for n in range(runs)]
    await scheduler(records, clock).poll()
    for owner in range(1, 6):
        clock.advance(seconds)
        await Lifecycle(records).release_all(owner)
        clock.advance(0.01)
        assert await scheduler(records, clock, owner + 1).follow() == runs
        found = await records.runs.get((await current(records, rows[0])).run_id or 0)
        assert found is not None
        assert found.adoptions == min(owner, 3) * counted
        if found.state == "failed":
            assert (owner, counted) == (4, 1)
            break
    assert found is not None
    assert found.state == ("failed" if counted else "running")


@pytest.mark.parametrize(("seconds", "counted"), [(29, 0), (31, 1)])
async def test_a_run_is_accused_beside_one_with_progress(
    records: Records, clock: FakeClock, seconds: float, counted: int
):
    """One of several runs is accused if its process had the time for a URL, and others ended URLs in it."""
    stuck, moving = [await schedule(records, name) for name in ("stuck", "moving")]
    await scheduler(records, clock).poll()
    run = await records.runs.get((await current(records, moving)).run_id or 0)
    assert run is not None
    for owner in range(1, 5):
        await admit(records, url(run, f"h{owner}.example"))
        clock.advance(seconds)
        leases = await claim(records)
        assert not (await report(records, host_report(leases[f"h{owner}.example"]))).refused
        await Lifecycle(records).release_all(owner)
        clock.advance(0.01)
        assert await scheduler(records, clock, owner + 1).follow() == 2
    states = [await records.runs.get((await current(records, row)).run_id or 0) for row in (stuck, moving)]
    assert [(found.state, found.adoptions) for found in states if found] == [
        ("failed" if counted else "running", 3 * counted),
        ("running", counted),
    ]


async def test_the_log_of_a_run_has_its_adoptions(records: Records, clock: FakeClock, caplog: pytest.LogCaptureFixture):
    await schedule(records)
    one, two, three = (scheduler(records, clock, n) for n in (1, 2, 3))
    await one.poll()
    clock.advance(301)
    await two.follow()
    await two.hand_over_runs()
    clock.advance(0.01)
    await three.follow()
    said = [record.message for record in caplog.records if hasattr(record, "run_id")]
    assert said == ["recovered: stale lock", "interrupted by shutdown", "interrupted by shutdown, continued"]


async def test_a_task_claimed_during_the_adoption_of_its_run_is_reported(records: Records, clock: FakeClock):
    row = await schedule(records)
    await scheduler(records, clock).poll()
    [lease] = (await claim(records)).values()
    clock.advance(29)
    await Lifecycle(records).release_all(1)
    await scheduler(records, clock, 2).follow()
    clock.advance(2)
    [again] = (await claim(records)).values()
    assert (await report(records, host_report(lease))).refused, "its host has another owner by now"
    assert not (await report(records, host_report(again))).refused
    await scheduler(records, clock, 2).follow()
    assert (await current(records, row)).state == "completed"


async def test_a_lease_renewed_after_the_query_is_left_alone(
    records: Records, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
):
    row = await schedule(records)
    await scheduler(records, clock).poll()
    [tick] = await ScheduleLifecycle(records).held(1)

    async def look(*_: object) -> list[Tick]:
        return [tick]  # chosen as lapsed, and renewed before its row was read

    monkeypatch.setattr(records.ticks, "look", look)
    assert await scheduler(records, clock, 2).follow() == 0
    assert (await current(records, row)).state == "running"


async def test_a_row_that_returned_to_its_state_has_another_token(records: Records, clock: FakeClock):
    row = await schedule(records, interval_ms=60_000, due=clock.now() + 60_000)
    schedule_lifecycle = ScheduleLifecycle(records)
    [held] = (await schedule_lifecycle.move_all([(row, paused(row, clock.now(), "me"))], "person")).values()
    [back] = (await schedule_lifecycle.move_all([(held, resumed(held, clock.now()))], "person")).values()
    assert (back.state, back.token) == (row.state, row.token + 2)
    assert await schedule_lifecycle.move_all([(row, paused(row, clock.now(), "late"))], "person") == {}
    assert await current(records, row) == back


async def test_the_cancellation_of_a_schedule_that_starts_meanwhile_is_repeated(records: Records, clock: FakeClock):
    row = await schedule(records, due=clock.now())
    lifecycle = ScheduleLifecycle(records)
    amendment = ScheduleAmendment(
        lambda terms: msgspec.structs.replace(terms, source_name="other"),
        [lambda _, seen: cancelled(seen, clock.now())],
        token=row.token,
    )
    [tick] = await lifecycle.start(1, 10, 30_000)
    assert await lifecycle.amend(row.id, amendment, "person") is None
    assert (await current(records, row)).state == "running", "the run would go on without its schedule"
    again = amendment._replace(run=tick.run, token=tick.schedule.token)
    changed = await lifecycle.amend(row.id, again, "person")
    assert changed is not None
    assert (changed.state, changed.source_name) == ("cancelled", "other")
    run = await records.runs.get(tick.run.id)
    assert run is not None
    assert run.state == "cancelled"


@pytest.mark.parametrize(
    ("error", "said"), [(Unavailable("the source service answered 500"), "answered 500"), (KeyError("x"), "KeyError")]
)
async def test_a_failed_lookup_of_a_source_fails_its_run_and_no_other(
    records: Records, clock: FakeClock, error: Exception, said: str
):
    row = await schedule(records)
    await scheduler(records, clock, directory=Away(error)).poll()
    found = await current(records, row)
    assert (found.state, found.retries) == ("scheduled", 1)
    assert said in (found.error or "")
    [run] = await records.history.find(row.id)
    assert (run.state, run.stack is not None) == ("failed", isinstance(error, KeyError))


async def test_an_interval_stays_unchanged_without_the_store_of_page_changes(records: Records, clock: FakeClock):
    row = await schedule(records, interval_ms=60_000, due=clock.now())
    deaf = scheduler(records, clock, page_change_store=Away(Unavailable("Redis is away")))
    await deaf.poll()
    await work(records)
    await deaf.follow()
    assert (await current(records, row)).next_due == clock.now() + 60_000


async def test_the_items_of_a_run_are_counted_when_it_ends(records: Records, clock: FakeClock):
    row = await schedule(records)
    one = scheduler(records, clock)
    await one.poll()
    [lease] = (await claim(records)).values()
    [task] = lease.tasks
    items = [NewItem("h", "article", task.run_id, task.id, task.url, body="b" * n, key=bytes([n])) for n in range(3)]
    items.append(NewItem("h", "extraction", task.run_id, task.id, task.url, key=b"x"))  # an extraction is no document
    assert not (await report(records, host_report(lease), items=items)).refused
    await one.follow()
    [run] = await records.history.find(row.id)
    assert (run.state, run.completed, run.indexed) == ("completed", 1, 3)
    assert await records.history.items(run.id) == 3
    assert (await records.history.review([run.id]))[run.id].survey.bodiless == 1


async def test_a_cancelled_run_is_no_failure(records: Records, clock: FakeClock):
    row = await schedule(records, interval_ms=60_000, due=clock.now())
    one = scheduler(records, clock)
    await one.poll()
    run_id = (await current(records, row)).run_id
    await records.moves.apply(Change("run", run_id or 0, "cancel", "running", "cancelled", "person"))
    await one.follow()
    found = await current(records, row)
    assert (found.state, found.retries) == ("scheduled", 0)


def test_the_start_page_is_found_with_and_without_its_slash():
    pages = {"https://a.example/x/": "d1", "https://a.example/y": "d2"}
    assert start_digest(StartPage("https://a.example/x", "skipped", "redirected", None, pages)) == "d1"
    assert start_digest(StartPage("https://a.example/z", "completed", "ok", None, pages)) is None
    assert start_digest(None) is None


def test_page_changes_count_unchanged_pages():
    first = next_page_changes(None, "d", 60_000, 5)
    assert first == PageChanges("d", 5, 0, 60_000)
    second = next_page_changes(first, "d", 60_000, 9)
    assert second == PageChanges("d", 5, 1, 120_000)
    assert next_page_changes(second, "e", 60_000, 11) == PageChanges("e", 11, 0, 60_000)
