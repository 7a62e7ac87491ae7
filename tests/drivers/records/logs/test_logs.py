"""Logs: numbered without a gap, in the order in which the entries become visible, with any number of writers."""

import asyncio
from collections.abc import AsyncIterator

import msgspec
import pytest

from longline.drivers.records import open_database
from longline.drivers.records.database import Database
from longline.drivers.records.logs.logs import LogRecords
from longline.model.ids import new_id
from longline.model.logs.run_log import MAX_ENTRIES, DueLog, LoggedRun, NewLogEntry
from longline.model.runs.run import RunRow
from longline.model.schedules.schedule import NewSchedule, ScheduleRow
from longline.ports.records import Records
from longline.ports.records.frontier.frontier import Change
from longline.testing.clock import START, FakeClock
from tests.drivers.records.gates import PATIENCE, Gate, GatedDatabase, interleave
from tests.drivers.records.peek import Peek
from tests.drivers.records.world import admit, claim_one, host_report, report, running_run, url

EVERYTHING = DueLog(every_ms=15_000, step=50, grace_ms=1000)


def said(run: RunRow | int, *messages: str, level: str = "info") -> list[NewLogEntry]:
    run_id = run if isinstance(run, int) else run.id
    return [NewLogEntry(run_id, START, level, "fetch", message, '{"n":1}') for message in messages]


async def schedule(records: Records) -> ScheduleRow:
    return await records.schedules.add(NewSchedule(new_id(), "https://a.example/"))


async def end(records: Records, run: RunRow) -> None:
    assert await records.moves.apply(Change("run", run.id, "cancel", "running", "cancelled", "person"))


async def texts(records: Records, run: RunRow, after: int = 0) -> list[tuple[int, str]]:
    return [(entry.number, entry.message) for entry in (await records.logs.read(run.id, after, 100_000)).entries]


async def logged(records: Records, run: RunRow) -> LoggedRun:
    [found] = await records.logs.find(run.uid)
    return found


@pytest.fixture
async def database(records_url: str, clock: FakeClock) -> AsyncIterator[Database]:
    opened = await open_database(records_url, clock)
    yield opened
    await opened.close()


async def test_entries_are_numbered_by_run(records: Records):
    one, two = await running_run(records), await running_run(records)
    entries = [*said(one, "a"), *said(two, "b"), *said(one, "c")]
    assert await records.logs.append(entries, {}) == {one.id, two.id}
    assert await records.logs.append(said(two, "d"), {one.id: 3}) == {two.id}
    assert await texts(records, one) == [(1, "a"), (2, "c")]
    assert await texts(records, two, after=1) == [(2, "d")]
    [entry, _] = (await records.logs.read(one.id, 0, 10)).entries
    assert (entry.at, entry.level, entry.topic, entry.fields) == (START, "info", "fetch", '{"n":1}')
    assert ((await logged(records, one)).dropped, (await logged(records, two)).dropped) == (3, 0)


async def test_a_log_is_opened_once(records: Records):
    run = await running_run(records)
    assert [await records.logs.open(run.id, said(run, text)) for text in ("a", "b")] == [True, False]
    assert await texts(records, run) == [(1, "a")]


async def test_the_number_of_entries_is_bounded(records: Records, database: Database):
    run, logs = await running_run(records), LogRecords(database, max_entries=3)
    await logs.append(said(run, "a", "b"), {})
    await logs.append(said(run, "c", "d", "e"), {run.id: 1})
    await logs.append(said(run, "f"), {})
    assert await texts(records, run) == [(1, "a"), (2, "b"), (3, "c")]
    assert (await logged(records, run)).dropped == 4
    await end(records, run)
    assert await logs.seal(run.id, said(run, "nearly", "the end"))
    assert (await texts(records, run))[-2:] == [(3, "c"), (4, "the end")]


async def test_no_log_has_more_entries_than_the_contract_allows(records: Records):
    run = await running_run(records)
    await records.logs.append(said(run, *(["x"] * (MAX_ENTRIES + 10))), {})
    await end(records, run)
    await records.logs.seal(run.id, said(run, "the end"))
    found = await logged(records, run)
    assert (found.last, found.dropped) == (MAX_ENTRIES, 11) == (50_000, 11)


@pytest.mark.parametrize("records_url", ["postgres"], indirect=True)
async def test_the_first_writer_is_seen_first(records: Records, database: Database, peek: Peek):
    run, gate = await running_run(records), Gate("add_entries")
    await records.logs.append(said(run, "begin"), {})
    slow, quick = LogRecords(GatedDatabase(database, gate)), LogRecords(database)
    seen: list[list[tuple[int, str]]] = []

    async def write_and_look() -> None:
        waiting = asyncio.ensure_future(quick.append(said(run, "second"), {}))
        seen.append(await texts(records, run))
        await waiting

    await interleave(lambda: slow.append(said(run, "first"), {}), gate, write_and_look, peek)
    assert seen == [[(1, "begin")]]
    assert await texts(records, run) == [(1, "begin"), (2, "first"), (3, "second")]


async def test_followers_miss_no_entry_of_concurrent_writers(records: Records):
    run, writers, each = await running_run(records), 8, 25
    done = asyncio.Event()

    async def write(who: int) -> None:
        for n in range(each):
            await records.logs.append(said(run, f"{who}:{n}"), {})

    async def follow() -> list[tuple[int, str]]:
        seen: list[tuple[int, str]] = []
        while not (done.is_set() and len(seen) >= writers * each):
            seen += await texts(records, run, after=seen[-1][0] if seen else 0)
            await asyncio.sleep(0)
        return seen

    following = [asyncio.create_task(follow()) for _ in range(3)]
    await asyncio.gather(*(write(who) for who in range(writers)))
    done.set()
    for seen in await asyncio.wait_for(asyncio.gather(*following), PATIENCE):
        assert [number for number, _ in seen] == list(range(1, writers * each + 1))
        for who in range(writers):
            mine = [text for _, text in seen if text.startswith(f"{who}:")]
            assert mine == [f"{who}:{n}" for n in range(each)]


async def test_a_sealed_log_takes_no_entries_until_its_run_opens_again(records: Records):
    run = await running_run(records)
    await admit(records, url(run))
    assert not await records.logs.seal(run.id, said(run, "no")), "there is no log"
    await records.logs.append(said(run, "a"), {})
    assert not await records.logs.seal(run.id, said(run, "no")), "the run has not ended"
    lease = await claim_one(records)
    await report(records, host_report(lease))
    assert await records.logs.seal(run.id, said(run, "end"))
    assert not await records.logs.seal(run.id, said(run, "again"))
    assert await records.logs.append(said(run, "late"), {}) == set()
    part = await records.logs.read(run.id, 0, 10)
    assert (part.sealed, [e.message for e in part.entries]) == (True, ["a", "end"])
    assert (await logged(records, run)).dropped == 1
    task = lease.tasks[0].id
    assert await records.moves.apply(Change("task", task, "restart", "completed", "pending", "person"))
    assert await records.logs.append(said(run, "more"), {}) == {run.id}
    part = await records.logs.read(run.id, 2, 10)
    assert (part.sealed, [e.message for e in part.entries]) == (False, ["more"])


async def test_logs_are_found_by_schedule(records: Records):
    mine, other = await schedule(records), await schedule(records)
    first, second = [await running_run(records, schedule_id=mine.id) for _ in range(2)]
    await running_run(records, schedule_id=other.id)
    third = await running_run(records, schedule_id=mine.id)
    alone = await running_run(records)
    await records.logs.append([*said(first, "a", "b"), *said(third, "c")], {})
    found = await records.logs.find(mine.uid)
    assert [(run.uid, run.number, run.name, run.sealed) for run in found] == [
        (third.uid, 3, mine.uid, False),
        (second.uid, 2, mine.uid, None),
        (first.uid, 1, mine.uid, False),
    ]
    assert [run.uid for run in await records.logs.find(mine.uid, limit=1, offset=1)] == [second.uid]
    assert [run.uid for run in await records.logs.find(mine.uid, number=1)] == [first.uid]
    assert [run.number for run in await records.logs.find(mine.uid, uid=third.uid)] == [3]
    assert [run.number for run in await records.logs.find(alone.uid)] == [1]
    assert await records.logs.find(first.uid) == [], "a log is found by its schedule"
    assert [entry.message for entry in await records.logs.tail(mine.uid, None, 2)] == ["b", "c"]
    assert [entry.message for entry in await records.logs.tail(mine.uid, first.uid, 9)] == ["a", "b"]
    following = await records.logs.following(mine.uid, first.id)
    assert following is not None
    assert following.uid == third.uid
    assert await records.logs.following(mine.uid, third.id) is None


async def test_logs_are_due_for_a_report_after_a_pause_or_their_end(records: Records, clock: FakeClock):
    quiet, busy, over, silent = [await running_run(records) for _ in range(4)]
    await records.logs.append([*said(quiet, "a"), *said(busy, "b"), *said(over, "c")], {})
    await end(records, over)
    await end(records, silent)
    assert await records.logs.due(EVERYTHING) == []
    clock.advance(1.0)
    assert [run.run_id for run in await records.logs.due(EVERYTHING)] == [over.id]
    clock.advance(14.0)
    due = {run.run_id: run for run in await records.logs.due(EVERYTHING)}
    assert set(due) == {quiet.id, busy.id, over.id}
    found = msgspec.structs.replace(due[quiet.id], completed=7)
    assert [await records.logs.beat(found, said(quiet, "beat")) for _ in range(2)] == [True, False]
    assert await texts(records, quiet, after=1) == [(2, "beat")]
    assert {run.run_id for run in await records.logs.due(EVERYTHING)} == {busy.id, over.id}
    [found] = await records.logs.find(quiet.uid)
    assert found.reported_pages == 7


async def test_a_log_is_archived_and_deleted_by_age(records: Records, clock: FakeClock, peek: Peek):
    run = await running_run(records)
    await records.logs.append(said(run, "a"), {})
    await end(records, run)
    assert await records.logs.unarchived() == []
    await records.logs.seal(run.id, said(run, "end"))
    assert [found.run_id for found in await records.logs.unarchived()] == [run.id]
    assert [await records.logs.archived(run.id, 0, "logs/x/1.log.gz", 90, 2) for _ in range(2)] == [True, False]
    assert await records.logs.unarchived() == []
    found = await logged(records, run)
    assert (found.key, found.bytes, found.kept, found.archived_at) == ("logs/x/1.log.gz", 90, 2, clock.now())
    assert await records.logs.prune(10_000, 20_000) == []
    clock.advance(10.0)
    assert await records.logs.prune(10_000, 20_000) == []
    assert await texts(records, run) == []
    assert await peek.value("SELECT COUNT(*) FROM logs WHERE emptied") == 1
    assert (await logged(records, run)).key
    clock.advance(10.0)
    assert await records.logs.prune(10_000, 20_000) == ["logs/x/1.log.gz"]
    assert (await logged(records, run)).key is None
    assert await peek.value("SELECT COUNT(*) FROM logs") == 0


async def test_the_log_of_a_deleted_run_is_deleted(records: Records, peek: Peek):
    run = await running_run(records)
    await records.logs.append(said(run, "a"), {})
    await peek.rows(f"DELETE FROM events WHERE subject = {run.id}" + (" RETURNING id" if peek.engine == "pg" else ""))
    await peek.rows(f"DELETE FROM run_counts WHERE run_id = {run.id} RETURNING run_id")
    await peek.rows(f"DELETE FROM runs WHERE id = {run.id}" + (" RETURNING id" if peek.engine == "pg" else ""))
    assert await records.logs.prune(10_000, 20_000) == []
    assert await peek.value("SELECT COUNT(*) FROM entries") == 0


async def test_an_unarchived_log_is_kept_longer_unless_requested_otherwise(records: Records, clock: FakeClock):
    run = await running_run(records)
    await records.logs.append(said(run, "a"), {})
    await end(records, run)
    await records.logs.seal(run.id, said(run, "end"))
    clock.advance(10.0)
    await records.logs.prune(10_000, 20_000)
    assert len(await texts(records, run)) == 2
    await records.logs.prune(10_000, 20_000, unkept=True)
    assert await texts(records, run) == []


async def test_an_empty_log_is_archived_once(records: Records):
    run = await running_run(records)
    assert await records.logs.open(run.id, [])
    await end(records, run)
    assert await records.logs.seal(run.id, [])
    assert [found.run_id for found in await records.logs.unarchived()] == [run.id]
    assert await records.logs.archived(run.id, 0, "logs/x/1.log.gz", 20, 0)
    assert await records.logs.unarchived() == []
