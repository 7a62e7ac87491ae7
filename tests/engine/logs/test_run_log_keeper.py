import gzip
import json
from typing import Any

import pytest

from longline.drivers.blobs import open_blobs
from longline.drivers.signals.local import LocalSignals
from longline.engine.logs.run_log_keeper import RunLogKeeper, RunLogKeeperSettings
from longline.engine.runs.retention import RunDeleter
from longline.model.ids import new_id
from longline.model.logs.run_log import LogFilter, NewLogEntry
from longline.model.runs.run import RunRow
from longline.model.schedules.schedule import NewSchedule
from longline.ports.blobs import Blobs
from longline.ports.records import Records
from longline.ports.records.frontier.frontier import Change
from longline.testing.clock import START, FakeClock
from tests.drivers.records.world import admit, claim_one, host_report, report, running_run, url, urls


@pytest.fixture
def blobs() -> Blobs:
    return open_blobs("memory://")


@pytest.fixture
def scribe(records: Records, blobs: Blobs, clock: FakeClock) -> RunLogKeeper:
    return RunLogKeeper(records.logs, blobs, LocalSignals(), clock, RunLogKeeperSettings())


async def say(records: Records, run: RunRow, *texts: str) -> None:
    await records.logs.append([NewLogEntry(run.id, START, "info", "fetch", text) for text in texts], {})


async def end(records: Records, run: RunRow, clock: FakeClock, move: str = "cancel") -> None:
    became = {"cancel": "cancelled", "lapse": "failed"}[move]
    assert await records.moves.apply(Change("run", run.id, move, "running", became, "person", error="why"))
    clock.advance(1.0)


async def archive(blobs: Blobs, key: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in gzip.decompress(await blobs.get(key)).splitlines()]


async def entries(records: Records, run: RunRow) -> list[tuple[str, str, dict[str, Any]]]:
    found = (await records.logs.read(run.id, 0, 1000)).entries
    return [(e.level, e.message, json.loads(e.fields or "{}")) for e in found]


async def test_a_run_that_ended_is_summed_up_and_its_log_is_closed_and_archived(
    records: Records, scribe: RunLogKeeper, blobs: Blobs, clock: FakeClock
):
    schedule = await records.schedules.add(NewSchedule(new_id(), "https://a.example/"))
    await running_run(records, schedule_id=schedule.id)
    run = await running_run(records, schedule_id=schedule.id)
    await say(records, run, "a", "b")
    await end(records, run, clock, "lapse")
    await scribe.once()
    await scribe.once()
    level, message, fields = (await entries(records, run))[-1]
    assert (level, message) == ("error", "run failed")
    assert fields == {
        "status": "failed",
        "pages": 0,
        "items": 0,
        "errors": 0,
        "duration_ms": 0,
        "logs_emitted": 3,
        "logs_throttled": 0,
        "throttle_percent": 0.0,
        "error": "why",
    }
    key = f"logs/{schedule.uid}/2.log.gz"
    lines = await archive(blobs, key)
    assert [line["message"] for line in lines] == ["a", "b", "run failed"]
    assert lines[0] == {
        "schema_version": 1,
        "timestamp": "2023-11-14T22:13:20.000000000Z",
        "level": "info",
        "category": "crawler.fetch",
        "message": "a",
        "job_id": schedule.uid,
        "execution_id": run.uid,
    }
    [found] = await records.logs.find(schedule.uid, number=2)
    assert (found.key, found.kept, found.bytes) == (key, 3, len(await blobs.get(key)))


async def test_milestones_and_heartbeats_of_a_run_are_logged_by_one_of_several_keepers(
    records: Records, scribe: RunLogKeeper, blobs: Blobs, clock: FakeClock
):
    other = RunLogKeeper(records.logs, blobs, LocalSignals(), clock, RunLogKeeperSettings())
    run = await running_run(records)
    await say(records, run, "a")
    await admit(records, *urls(run, "a.example", 61))
    for _ in range(2):
        await scribe.once()
        await other.once()
    assert len(await entries(records, run)) == 1, "the run has no progress yet"
    lease = await claim_one(records)
    await report(records, host_report(lease, [o for o in host_report(lease).outcomes[:60]]))
    for _ in range(2):
        await scribe.once()
        await other.once()
    assert (await entries(records, run))[1:] == [
        ("info", "milestone", {"pages": 60, "items": 0, "errors": 0, "queue_depth": 1, "milestone": 50})
    ]
    clock.advance(15.0)
    for _ in range(2):
        await other.once()
        await scribe.once()
    assert (await entries(records, run))[2:] == [
        ("info", "heartbeat", {"pages": 60, "items": 0, "errors": 0, "queue_depth": 1})
    ]


async def test_every_milestone_is_logged(records: Records, scribe: RunLogKeeper, clock: FakeClock):
    """Milestones are logged for a quick run, and beside other entries."""
    run = await running_run(records)
    await say(records, run, "a")
    await admit(records, *urls(run, "a.example", 155))
    lease = await claim_one(records)
    outcomes = host_report(lease).outcomes
    await report(records, host_report(lease, outcomes[:40], unstarted=lease.tasks[40:]))
    clock.advance(15.0)
    await scribe.once()
    for _ in range(2):
        await report(records, host_report(await claim_one(records)))
        clock.advance(1.0)
    await scribe.once()
    told = (await entries(records, run))[1:]
    said = [(message, fields.get("milestone", fields["pages"])) for _, message, fields in told]
    assert said == [
        ("heartbeat", 40),
        ("milestone", 50),
        ("milestone", 100),
        ("milestone", 150),
        ("run completed", 155),
    ]


async def test_milestones_do_not_delay_heartbeats(records: Records, scribe: RunLogKeeper, clock: FakeClock):
    run = await running_run(records)
    await say(records, run, "a")
    await admit(records, *urls(run, "a.example", 61))
    clock.advance(10.0)
    lease = await claim_one(records)
    await report(records, host_report(lease, host_report(lease).outcomes[:60], unstarted=lease.tasks[60:]))
    await scribe.once()
    clock.advance(5.0)
    await scribe.once()
    assert [message for _, message, _ in await entries(records, run)] == ["a", "milestone", "heartbeat"]


@pytest.mark.parametrize(
    ("wanted", "said"),
    [(LogFilter(), ["milestone", "heartbeat", "run cancelled"]), (LogFilter(quiet=True), ["run cancelled"])]
    + [(LogFilter(level=level), []) for level in ("warn", "error")],
)
async def test_the_log_filter_applies_to_entries_about_runs(
    records: Records, blobs: Blobs, clock: FakeClock, wanted: LogFilter, said: list[str]
):
    scribe = RunLogKeeper(records.logs, blobs, LocalSignals(), clock, RunLogKeeperSettings(wanted=wanted))
    run = await running_run(records)
    await records.logs.open(run.id, [])
    await admit(records, *urls(run, "a.example", 61))
    lease = await claim_one(records)
    await report(records, host_report(lease, host_report(lease).outcomes[:60], unstarted=lease.tasks[60:]))
    clock.advance(15.0)
    await scribe.once()
    await scribe.once()
    await end(records, run, clock)
    await scribe.once()
    assert [line["message"] for line in await archive(blobs, f"logs/{run.uid}/1.log.gz")] == said
    [found] = await records.logs.find(run.uid)
    assert found.kept == len(said)


async def test_the_object_of_an_archived_log_has_labels(
    records: Records, blobs: Blobs, scribe: RunLogKeeper, clock: FakeClock
):
    told: dict[str, str] = {}

    class Listening:
        async def put(self, key: str, data: bytes, labels: dict[str, str]) -> None:
            told.update(labels)
            await blobs.put(key, data)

    store: Any = Listening()
    schedule = await records.schedules.add(NewSchedule(new_id(), "https://a.example/"))
    run = await running_run(records, schedule_id=schedule.id)
    await say(records, run, "a")
    await end(records, run, clock)
    await RunLogKeeper(records.logs, store, LocalSignals(), clock, RunLogKeeperSettings()).once()
    assert told == {
        "Content-Type": "application/gzip",
        "job_id": schedule.uid,
        "execution_id": run.uid,
        "execution_number": "1",
        "line_count": "2",
        "started_at": "2023-11-14T22:13:20.000Z",
        "archived_at": "2023-11-14T22:13:21.000Z",
    }


async def test_a_log_that_opened_again_is_continued(
    records: Records, scribe: RunLogKeeper, blobs: Blobs, clock: FakeClock
):
    run = await running_run(records)
    await admit(records, url(run))
    await say(records, run, "a")
    lease = await claim_one(records)
    await report(records, host_report(lease))
    clock.advance(1.0)
    await scribe.once()
    task = lease.tasks[0].id
    await records.logs.prune(-1, 10**9)
    assert await entries(records, run) == []
    assert await records.moves.apply(Change("task", task, "restart", "completed", "pending", "person"))
    await say(records, run, "b")
    clock.advance(60.0)
    await report(records, host_report(await claim_one(records)))
    clock.advance(1.0)
    await scribe.once()
    lines = await archive(blobs, f"logs/{run.uid}/1.log.gz")
    assert [line["message"] for line in lines] == ["a", "run completed", "b", "run completed"]


async def test_logs_are_closed_without_an_archive(records: Records, blobs: Blobs, clock: FakeClock):
    scribe = RunLogKeeper(
        records.logs, blobs, LocalSignals(), clock, RunLogKeeperSettings(archive=False, entries_ms=5000)
    )
    run = await running_run(records)
    await say(records, run, "a")
    await end(records, run, clock)
    await scribe.once()
    [found] = await records.logs.find(run.uid)
    assert (found.sealed, found.key) == (True, None)
    assert [info async for info in blobs.list("logs")] == []
    clock.advance(120.0)
    await scribe.once()
    assert await entries(records, run) == []


async def test_the_log_of_a_deleted_run_is_deleted(
    records: Records, scribe: RunLogKeeper, blobs: Blobs, clock: FakeClock
):
    run = await running_run(records)
    await say(records, run, "a")
    await end(records, run, clock)
    await scribe.once()
    assert [info.key async for info in blobs.list("logs")] == [f"logs/{run.uid}/1.log.gz"]
    await RunDeleter(records.retention, blobs, blobs).delete(run.id)
    assert [info.key async for info in blobs.list("logs")] == []
    assert await entries(records, run) == []


async def test_logs_are_deleted_with_their_schedule(
    records: Records, scribe: RunLogKeeper, blobs: Blobs, clock: FakeClock
):
    schedule = await records.schedules.add(NewSchedule(new_id(), "https://a.example/"))
    over, live = [await running_run(records, schedule_id=schedule.id) for _ in range(2)]
    await say(records, over, "a")
    await say(records, live, "b")
    await end(records, over, clock)
    await scribe.once()
    assert await records.schedules.remove(schedule.id)
    await end(records, live, clock)
    for _ in range(2):
        clock.advance(60.0)
        await scribe.once()
    assert [info.key async for info in blobs.list("logs")] == []
    assert [run.sealed for run in await records.logs.find(live.uid)] == [None]


async def test_old_logs_are_deleted_with_their_objects(
    records: Records, scribe: RunLogKeeper, blobs: Blobs, clock: FakeClock
):
    run = await running_run(records)
    await say(records, run, "a")
    await end(records, run, clock)
    await scribe.once()
    assert [info.key async for info in blobs.list("logs")] == [f"logs/{run.uid}/1.log.gz"]
    clock.advance(30 * 86_400.0)
    await scribe.once()
    assert [info.key async for info in blobs.list("logs")] == []


async def test_a_log_that_another_instance_archived_is_archived_whole(
    records: Records, scribe: RunLogKeeper, blobs: Blobs, clock: FakeClock
):
    """Without a common store, the keeper of a reopened log does not have its earlier archive."""
    run = await running_run(records)
    await admit(records, url(run))
    await say(records, run, "a")
    lease = await claim_one(records)
    await report(records, host_report(lease))
    clock.advance(1.0)
    await scribe.once()
    assert await records.moves.apply(Change("task", lease.tasks[0].id, "restart", "completed", "pending", "person"))
    await say(records, run, "b")
    await report(records, host_report(await claim_one(records)))
    clock.advance(1.0)
    elsewhere = open_blobs("memory://")
    await RunLogKeeper(records.logs, elsewhere, LocalSignals(), clock, RunLogKeeperSettings()).once()
    lines = await archive(elsewhere, f"logs/{run.uid}/1.log.gz")
    assert [line["message"] for line in lines] == ["a", "run completed", "b", "run completed"]
