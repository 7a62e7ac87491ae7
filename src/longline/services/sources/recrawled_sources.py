"""Sources whose pages are submitted by their URLs and fetched again: changes with their holds, and figures."""

from collections.abc import Callable, Mapping, Sequence

import msgspec

from longline.model.errors import NotFound
from longline.model.proxies.proxy_health import success_rate
from longline.model.sources.recrawl_settings import recrawl_settings
from longline.model.sources.source import NewSource, SourceQuery, SourceRow
from longline.ports.records import Records
from longline.services.proxies.proxy_figures import ProxyFigures
from longline.services.recrawls.holds import Holds
from longline.services.sources.sources import Sources


class SourceFigures(msgspec.Struct, frozen=True, kw_only=True):
    """Figures of a source: its tasks and its proxies."""

    tasks: int
    completed: int
    failed: int
    active_proxies: int

    @property
    def success_rate(self) -> float:
        """The percentage of completed tasks among the ended ones."""
        return success_rate(self.completed, self.failed)


class RecrawledSources:
    """Operations on sources that concern their recrawls; a change of the switch or the window is a hold at once."""

    def __init__(self, sources: Sources, records: Records, proxies: ProxyFigures, holds: Holds) -> None:
        self._sources, self._records, self._recrawls = sources, records.sources, records.recrawls
        self._proxies, self._holds = proxies, holds

    async def make(self, source: NewSource) -> SourceRow:
        """Register a source; raises `Taken` for a taken name, `BadInput` for an unknown parser."""
        row = await self._sources.make(source)
        await self._follow(None, row)
        return row

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
        """Change a source; its next requests follow the new settings."""
        before: SourceRow | None = None

        def noted(row: SourceRow) -> SourceRow:
            nonlocal before
            before = row
            return amend(row)

        row = await self._sources.change(source_id, noted)
        await self._follow(before, row)
        return row

    async def switch(self, source_id: int, *, on: bool) -> SourceRow:
        """Enable a source, or stop it: within a second no request of its recrawls begins."""
        row = await self._sources.switch(source_id, on)
        # Also when nothing changed: a process that died between the two steps left a switch without its hold.
        await (self._holds.enable if on else self._holds.disable)(source_id)
        self._holds.forget(source_id)
        return row

    async def _follow(self, before: SourceRow | None, row: SourceRow) -> None:
        """Hold the recrawls of a source as its settings say."""
        self._holds.forget(row.id)
        if row.enabled != (before is None or before.enabled):
            await (self._holds.enable if row.enabled else self._holds.disable)(row.id)
        window = recrawl_settings(row.recrawl).window
        if window != (None if before is None else recrawl_settings(before.recrawl).window):
            await self._holds.set_window(row.id, window)

    async def figures(self, rows: Sequence[SourceRow]) -> Mapping[int, SourceFigures]:
        """Return the figures of sources by their ids."""
        ids = [row.id for row in rows]
        sums, counts = await self._proxies.sums(ids), await self._recrawls.counts_of(ids)
        return {source_id: _figures(counts[source_id], sums[source_id].active) for source_id in ids}


def _figures(counts: Mapping[str, int], active_proxies: int) -> SourceFigures:
    return SourceFigures(
        tasks=sum(counts.values()),
        completed=counts.get("completed", 0),
        failed=counts.get("failed", 0),
        active_proxies=active_proxies,
    )
