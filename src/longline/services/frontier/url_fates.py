"""Lists of the URLs of a run, each with its fate."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime

import msgspec

from longline.model.frontier.fate import UrlFate, UrlFilters
from longline.ports.records.frontier.frontier import TaskStore

BATCH_SIZE = 1000


class UrlOut(msgspec.Struct, frozen=True):
    """A URL as a row of a list or an exported file."""

    url: str
    fate: str
    reason: str | None
    status: int | None
    attempts: int
    depth: int
    found_on: str | None
    final_url: str | None
    error: str | None
    found_at: datetime
    fetched_at: datetime | None
    ended_at: datetime | None
    task_id: int
    run_id: int


class UrlFates:
    """The URLs of runs with their fates."""

    def __init__(self, tasks: TaskStore) -> None:
        self._tasks = tasks

    async def batches(self, run_id: int, filters: UrlFilters) -> AsyncIterator[list[UrlOut]]:
        """Yield the URLs of a run in the order in which they were found."""
        after = 0
        while found := await self._tasks.url_fates(run_id, filters, after=after, limit=BATCH_SIZE):
            yield [_row(fate) for fate in found]
            after = found[-1].id


def _row(fate: UrlFate) -> UrlOut:
    facts = msgspec.structs.asdict(fate)
    times = {name: _time(facts[name]) for name in ("found_at", "fetched_at", "ended_at")}
    known = {name: facts[name] for name in UrlOut.__struct_fields__ if name in facts}
    return UrlOut(**known | times | {"task_id": fate.id})


def _time(milliseconds: int | None) -> datetime | None:
    return None if milliseconds is None else datetime.fromtimestamp(milliseconds / 1000, UTC)
