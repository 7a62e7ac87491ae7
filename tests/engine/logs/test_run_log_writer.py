import logging
from typing import Any

import pytest

from longline.drivers.signals.local import LocalSignals
from longline.engine.logs import run_log_writer as journal_module
from longline.engine.logs.run_log_writer import LineBudget, RunLogSettings, RunLogWriter
from longline.model.errors import Unavailable
from longline.model.signal_topics import LOGS_TOPIC
from longline.ports.records import Records
from longline.testing.clock import START, FakeClock
from tests.drivers.records.world import running_run


class AwayOnce:
    """Logs that fail at first."""

    def __init__(self, logs: Any) -> None:
        self._logs, self.away = logs, True

    def __getattr__(self, name: str) -> Any:
        if self.away:
            raise Unavailable("the database is away")
        return getattr(self._logs, name)


def journal(records: Records, clock: FakeClock, **settings: Any) -> RunLogWriter:
    return RunLogWriter(records.logs, LocalSignals(), clock, RunLogSettings(**settings))


async def texts(records: Records, run_id: int) -> list[str]:
    return [entry.message for entry in (await records.logs.read(run_id, 0, 1000)).entries]


async def test_log_records_with_a_run_are_written_in_bulk(records: Records, clock: FakeClock):
    run, listening = await running_run(records), LocalSignals()
    mine = RunLogWriter(records.logs, listening, clock, RunLogSettings())
    speaker = logging.Logger("a speaker")
    speaker.addHandler(mine)
    speaker.info("nothing to do with a run")
    speaker.warning("page %d", 7, extra={"run_id": run.id, "topic": "extract", "url": "https://a.example/", "odd": {1}})
    try:
        raise ValueError("why")
    except ValueError:
        speaker.exception("it broke", extra={"run_id": run.id})
    async with listening.listen(LOGS_TOPIC) as heard:
        await mine.write()
        assert (await anext(heard)).text == str(run.id)
    first, second = (await records.logs.read(run.id, 0, 10)).entries
    assert (first.level, first.topic, first.message, first.at) == ("warn", "extract", "page 7", START)
    assert first.fields == '{"url":"https://a.example/","odd":[1]}'
    assert (second.level, second.topic, second.message) == ("error", "lifecycle", "it broke")
    assert "ValueError: why" in (second.fields or "")


async def test_a_log_begins_once_and_before_other_entries(records: Records, clock: FakeClock):
    run = await running_run(records)
    here, there = journal(records, clock), journal(records, clock)
    for one in (here, there):
        one.say(run.id, "info", "fetch", "page")
        one.begin(run.id)
        one.begin(run.id)
        await one.write()
    assert await texts(records, run.id) == ["run started", "page", "page"]


@pytest.mark.parametrize(
    ("settings", "written"),
    [
        ({}, ["info", "lifecycle", "warn", "error"]),
        ({"level": "debug"}, ["debug", "info", "lifecycle", "warn", "error"]),
        ({"level": "error"}, ["error"]),
        ({"quiet": True}, ["lifecycle", "warn", "error"]),
    ],
)
async def test_the_settings_select_the_entries(
    records: Records, clock: FakeClock, settings: dict[str, Any], written: list[str]
):
    run, mine = await running_run(records), journal(records, clock, **settings)
    for level in ("debug", "info"):
        mine.say(run.id, level, "fetch", level)
    mine.say(run.id, "info", "lifecycle", "lifecycle")
    for level in ("warn", "error"):
        mine.say(run.id, level, "fetch", level)
    await mine.write()
    assert await texts(records, run.id) == written


async def test_a_log_begins_at_any_level(records: Records, clock: FakeClock):
    run, mine = await running_run(records), journal(records, clock, level="error")
    mine.begin(run.id)
    await mine.write()
    assert (await records.logs.read(run.id, 0, 10)).sealed is False, "the log exists without an entry"
    assert await texts(records, run.id) == []


async def test_debug_entries_are_throttled_and_counted(records: Records, clock: FakeClock):
    run, mine = await running_run(records), journal(records, clock, level="debug", rate=2)
    for n in range(5):
        mine.say(run.id, "debug", "fetch", f"small {n}")
        mine.say(run.id, "info", "fetch", f"large {n}")
    clock.advance(0.5)
    mine.say(run.id, "debug", "fetch", "later")
    await mine.write()
    said = await texts(records, run.id)
    assert [text for text in said if not text.startswith("large")] == ["small 0", "small 1", "later"]
    assert len([text for text in said if text.startswith("large")]) == 5
    [log] = await records.logs.find(run.uid)
    assert log.dropped == 3


async def test_the_number_of_waiting_entries_is_bounded(
    records: Records, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
):
    one, two = await running_run(records), await running_run(records)
    mine = journal(records, clock)
    for n in range(3):
        mine.say(one.id, "info", "fetch", str(n))
    monkeypatch.setattr(journal_module, "MAX_WAITING", 4)
    for n in range(2):
        mine.say(two.id, "info", "fetch", str(n))
    await mine.write()
    assert (await texts(records, one.id), await texts(records, two.id)) == (["0", "1", "2"], ["0"])
    assert [(await records.logs.find(run.uid))[0].dropped for run in (one, two)] == [0, 1]


async def test_entries_of_a_failed_write_are_written_later(
    records: Records, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(journal_module, "MAX_WAITING", 2)
    run, logs = await running_run(records), AwayOnce(records.logs)
    mine: Any = RunLogWriter(logs, LocalSignals(), clock, RunLogSettings())
    mine.begin(run.id)
    mine.say(run.id, "info", "fetch", "first")
    await mine.write()
    for text in ("second", "third"):
        mine.say(run.id, "info", "fetch", text)
    logs.away = False
    await mine.write()
    assert await texts(records, run.id) == ["run started", "first", "second"]


async def test_many_entries_are_written_in_batches(records: Records, clock: FakeClock, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(journal_module, "BATCH_SIZE", 3)
    run, mine = await running_run(records), journal(records, clock)
    for n in range(10):
        mine.say(run.id, "info", "fetch", str(n))
    await mine.write()
    assert await texts(records, run.id) == [str(n) for n in range(10)]


async def test_invalid_characters_are_replaced_and_long_texts_are_cut(records: Records, clock: FakeClock):
    run, mine = await running_run(records), journal(records, clock)
    mine.say(run.id, "info", "fetch", "a\0b\ud800" + "x" * 10_000, {"odd": "c\0d"})
    await mine.write()
    [entry] = (await records.logs.read(run.id, 0, 10)).entries
    assert entry.message.startswith("ab?xx")
    assert len(entry.message) < 10_000


async def test_entries_are_written_without_a_signal_to_readers(
    records: Records, clock: FakeClock, caplog: pytest.LogCaptureFixture
):
    run, deaf = await running_run(records), LocalSignals()
    await deaf.close()
    mine = RunLogWriter(records.logs, deaf, clock, RunLogSettings())
    for _ in range(3):
        mine.say(run.id, "info", "fetch", "page")
        await mine.write()
    assert await texts(records, run.id) == ["page"] * 3
    assert caplog.text.count("log readers not notified") == 1


def test_a_line_budget_fills_up_again():
    bucket = LineBudget(2, 0.0)
    assert [bucket.take(0.0) for _ in range(3)] == [True, True, False]
    assert [bucket.take(at) for at in (0.5, 0.6, 10.0, 10.0, 10.0)] == [True, False, True, True, False]
