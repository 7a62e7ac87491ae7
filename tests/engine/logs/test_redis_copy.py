from collections.abc import Sequence
from typing import Any

from longline.engine.logs import redis_copy as module
from longline.engine.logs.redis_copy import RedisLogCopy
from longline.model.errors import Unavailable
from longline.model.ids import new_id
from longline.model.logs.run_log import LogMark, NewLogEntry
from longline.model.schedules.schedule import NewSchedule
from longline.ports.records import Records
from longline.testing.clock import START
from tests.drivers.records.world import running_run


class Copies:
    """Streams in memory, which fail while `away` is set."""

    def __init__(self) -> None:
        self.streams: dict[str, list[tuple[LogMark, str]]] = {}
        self.away = False

    async def last(self, name: str) -> LogMark | None:
        found = self.streams.get(name)
        return found[-1][0] if found else None

    async def add(self, name: str, lines: Sequence[tuple[LogMark, dict[str, Any]]]) -> None:
        if self.away:
            raise Unavailable("away")
        self.streams.setdefault(name, []).extend((mark, line["message"]) for mark, line in lines)

    async def close(self) -> None:
        pass


async def say(records: Records, run_id: int, *texts: str) -> None:
    await records.logs.append([NewLogEntry(run_id, START, "info", "fetch", text) for text in texts], {})


async def test_entries_are_copied_once_in_order_and_continued_after_a_failure(records: Records, monkeypatch):
    monkeypatch.setattr(module, "BATCH_SIZE", 2)
    schedule = await records.schedules.add(NewSchedule(new_id(), "https://a.example/"))
    first, second = [await running_run(records, schedule_id=schedule.id) for _ in range(2)]
    copies = Copies()
    mine = RedisLogCopy(records.logs, copies)
    await say(records, first.id, "a", "b", "c")
    await mine.copy({first.id})
    copies.away = True
    await say(records, first.id, "d")
    await mine.copy({first.id})
    copies.away = False
    await say(records, second.id, "e")
    await mine.copy({second.id, first.id})
    await mine.copy({second.id, first.id})
    await say(records, first.id, "too late")
    await mine.copy({first.id})
    marks = [*(LogMark(first.id, n) for n in range(1, 5)), LogMark(second.id, 1)]
    assert copies.streams == {schedule.uid: list(zip(marks, "abcde", strict=True))}
