"""Sources whose pages are submitted by their URLs and fetched again: changes with their holds, and figures."""

from collections.abc import Callable, Mapping, Sequence

import msgspec

from longline.model.errors import NotFound
from longline.model.proxies.proxy_health import success_rate
from longline.model.sources.source import NewSource, SourceQuery, SourceRow
from longline.ports.records.sources import SourceStore
from longline.services.proxies.proxy_figures import ProxyFigures
from longline.services.sources.sources import Sources


class SourceDefaults(msgspec.Struct, frozen=True):
    """The settings of sources that have none of their own."""

    delay_ms: int
    concurrency: int
    user_agent: str


class SourceFigures(msgspec.Struct, frozen=True, kw_only=True):
    """Figures of a source: its tasks, its proxies, and the settings that hold for its requests."""

    tasks: int
    completed: int
    failed: int
    active_proxies: int
    delay_ms: int
    concurrency: int
    user_agent: str

    @property
    def success_rate(self) -> float:
        """The percentage of completed tasks among the ended ones."""
        return success_rate(self.completed, self.failed)


class RecrawledSources:
    """Operations on sources that concern their recrawls."""

    def __init__(self, sources: Sources, records: SourceStore, proxies: ProxyFigures, defaults: SourceDefaults) -> None:
        self._sources, self._records, self._proxies, self._defaults = sources, records, proxies, defaults

    async def make(self, source: NewSource) -> SourceRow:
        """Register a source; raises `Taken` for a taken name, `BadInput` for an unknown parser."""
        return await self._sources.make(source)

    async def get(self, source_id: int) -> SourceRow:
        """Return a source; raise `NotFound` for an unknown id."""
        return await self._sources.get(source_id)

    async def named(self, name: str) -> SourceRow:
        """Return the source of a name; raise `NotFound` for an unknown one."""
        row = await self._records.get_by_name(name)
        if row is None:
            raise NotFound("source", name)
        return row

    async def find(self, query: SourceQuery, limit: int, offset: int) -> tuple[list[SourceRow], int]:
        """Return matching sources, and their total number."""
        return await self._sources.find(query, limit, offset)

    async def change(self, source_id: int, amend: Callable[[SourceRow], SourceRow]) -> SourceRow:
        """Change a source."""
        return await self._sources.change(source_id, amend)

    async def switch(self, source_id: int, *, on: bool) -> SourceRow:
        """Enable a source, or disable it."""
        return await self._sources.switch(source_id, on)

    async def figures(self, rows: Sequence[SourceRow]) -> Mapping[int, SourceFigures]:
        """Return the figures of sources by their ids."""
        sums = await self._proxies.sums([row.id for row in rows])
        return {row.id: self._figures(row, sums[row.id].active) for row in rows}

    def _figures(self, row: SourceRow, active_proxies: int) -> SourceFigures:
        default = self._defaults
        return SourceFigures(
            tasks=0,
            completed=0,
            failed=0,
            active_proxies=active_proxies,
            delay_ms=default.delay_ms if row.delay_ms is None else row.delay_ms,
            concurrency=row.concurrency or default.concurrency,
            user_agent=row.user_agent or default.user_agent,
        )
