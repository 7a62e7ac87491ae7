"""Following of logs, on each engine; the doors are tested over HTTP."""

import asyncio
import gzip
from collections.abc import AsyncIterator
from typing import Any

import pytest

from longline.drivers.blobs import open_blobs
from longline.drivers.signals.local import LocalSignals
from longline.model.errors import NotFound, Unavailable
from longline.model.ids import new_id
from longline.model.logs.run_log import LogMark, NewLogEntry
from longline.model.schedules.schedule import NewSchedule
from longline.ports.records import Records
from longline.ports.records.frontier.frontier import Change
from longline.services.logs import run_logs as module
from longline.services.logs.run_logs import Ended, Followers, LogLines, NoArchive, NoRuns, RunLogs, Step
from longline.testing.clock import START
from tests.drivers.records.world import running_run


async def said(stream: AsyncIterator[Step]) -> list[str]:
    step = await asyncio.wait_for(anext(stream), 60)
    assert isinstance(step, LogLines)
    return [entry.message for entry, _ in step.entries]


async def waiting_are(followers: Followers, amount: int) -> None:
    for _ in range(30_000):
        if sum(map(len, followers._waiting.values())) == amount:
            return
        await asyncio.sleep(0.002)
    raise AssertionError("they never waited")


async def say(records: Records, run_id: int, *texts: str) -> None:
    await records.logs.append([NewLogEntry(run_id, START, "info", "fetch", text) for text in texts], {})


async def test_a_signal_wakes_a_waiting_follower(records: Records, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "POLL_INTERVAL_SECONDS", 3600.0)
    run, signals, stop = await running_run(records), LocalSignals(), asyncio.Event()
    followers = Followers(records.logs, signals)
    hearing = asyncio.create_task(followers.run(stop))
    await say(records, run.id, "a")
    stream = followers.follow(run.uid, None, LogMark(run.id, 0))
    assert await said(stream) == ["a"]
    waiting = asyncio.ensure_future(said(stream))
    await waiting_are(followers, 1)
    await say(records, run.id, "b")
    await signals.send("logs", f"7,{run.id}")
    assert await waiting == ["b"]
    stop.set()
    await hearing


async def test_a_follower_without_signals_polls(records: Records, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "POLL_INTERVAL_SECONDS", 0.01)
    run = await running_run(records)
    await say(records, run.id, "a")
    stream = Followers(records.logs, LocalSignals()).follow(run.uid, None, None)
    assert await said(stream) == ["a"]
    waiting = asyncio.ensure_future(said(stream))
    await asyncio.sleep(0.05)
    await say(records, run.id, "b")
    assert await waiting == ["b"]


async def test_reading_is_repeated_after_a_failed_engine(records: Records, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "RETRY_INTERVAL_SECONDS", 0.001)
    run, troubles = await running_run(records), [Unavailable("away"), Unavailable("still away")]
    await say(records, run.id, "a")

    class Shaky:
        def __getattr__(self, name: str) -> Any:
            if name == "read" and troubles:
                raise troubles.pop()
            return getattr(records.logs, name)

    logs: Any = Shaky()
    stream = Followers(logs, LocalSignals()).follow(run.uid, None, LogMark(run.id, 0))
    assert await said(stream) == ["a"]
    assert not troubles


async def test_a_deleted_log_is_skipped(records: Records, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "POLL_INTERVAL_SECONDS", 0.01)
    schedule = await records.schedules.add(NewSchedule(new_id(), "https://a.example/"))
    old, new = [await running_run(records, schedule_id=schedule.id) for _ in range(2)]
    await say(records, new.id, "new")
    stream = Followers(records.logs, LocalSignals()).follow(schedule.uid, None, LogMark(old.id, 9))
    assert await said(stream) == ["new"]


async def test_a_close_ends_all_streams(records: Records, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "POLL_INTERVAL_SECONDS", 3600.0)
    run = await running_run(records)
    followers = Followers(records.logs, LocalSignals())

    async def follow() -> list[Step]:
        return [step async for step in followers.follow(run.uid, None, None)]

    following = [asyncio.create_task(follow()) for _ in range(3)]
    await waiting_are(followers, 3)
    followers.close()
    for steps in await asyncio.wait_for(asyncio.gather(*following), 60):
        assert [step.entries for step in steps if isinstance(step, LogLines)] == [[]]
        assert not [step for step in steps if isinstance(step, Ended)]


async def test_archives_are_fetched_by_number(records: Records):
    blobs = open_blobs("memory://")
    service = RunLogs(records.logs, records.schedules, blobs)
    run = await running_run(records)
    with pytest.raises(NoRuns):
        await service.archive("nobody", None)
    with pytest.raises(NoArchive):
        await service.archive(run.uid, 1)
    await say(records, run.id, "a")
    await records.logs.archived(run.id, 0, "logs/x", 3, 1)
    with pytest.raises(NoArchive):
        await service.archive(run.uid, None)
    await blobs.put("logs/x", gzip.compress(b"one\n") + gzip.compress(b"two\n"))
    found, lines = await service.lines(run.uid, None)
    assert (found.number, lines) == (1, [b"one", b"two"])


async def test_runs_of_schedules_can_be_followed_and_unknown_ids_are_refused(records: Records):
    service = RunLogs(records.logs, records.schedules, open_blobs("memory://"))
    schedule = await records.schedules.add(NewSchedule(new_id(), "https://a.example/"))
    await service.check(schedule.uid, None)
    run = await running_run(records, schedule_id=schedule.id)
    await service.check(schedule.uid, run.uid)
    for name, uid in [("nobody", None), (schedule.uid, "nothing"), (run.uid, None)]:
        with pytest.raises(NotFound):
            await service.check(name, uid)


async def test_a_follower_goes_to_the_next_run_only_after_the_end_of_the_last(
    records: Records, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(module, "POLL_INTERVAL_SECONDS", 0.01)
    schedule = await records.schedules.add(NewSchedule(new_id(), "https://a.example/"))
    old, new = [await running_run(records, schedule_id=schedule.id) for _ in range(2)]
    await say(records, old.id, "first")
    followers = Followers(records.logs, LocalSignals(), archive=False)
    stream = followers.follow(schedule.uid, None, LogMark(old.id, 0), endless=True)
    assert await said(stream) == ["first"]
    waiting = asyncio.ensure_future(said(stream))
    await say(records, new.id, "of the next run")
    await asyncio.sleep(0.1)
    await say(records, old.id, "late")
    assert await waiting == ["late"]
    assert await records.moves.apply(Change("run", old.id, "cancel", "running", "cancelled", "person"))
    await records.logs.seal(old.id, [NewLogEntry(old.id, START, "info", "lifecycle", "end")])
    assert await said(stream) == ["end"]
    assert isinstance(await asyncio.wait_for(anext(stream), 60), Ended)
    assert await said(stream) == ["of the next run"]
