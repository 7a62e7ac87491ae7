"""Series and their targets: made, changed and looked up."""

from collections.abc import Callable, Collection

from longline.model.errors import NotFound, StaleLease
from longline.model.series.series import NewSeries, NewTarget, SeriesRow, TargetRow
from longline.model.sources.source import SourceRow
from longline.ports.records.series import SeriesStore, TargetStore
from longline.ports.records.sources import SourceStore
from longline.services.schedules.schedules import MAX_TRIES


class Series:
    """All operations on series and targets."""

    def __init__(self, series: SeriesStore, targets: TargetStore, sources: SourceStore) -> None:
        self._series, self._targets, self._sources = series, targets, sources

    async def sources(self, ids: Collection[int]) -> dict[int, SourceRow]:
        """Return the sources with these ids, those that exist."""
        return await self._sources.get_many(ids) if ids else {}

    async def make(self, series: NewSeries) -> SeriesRow:
        """Make a series; raise `Taken` for a slug that another series has."""
        return await self._series.add(series)

    async def get(self, series_id: str) -> SeriesRow:
        """Return a series; raise `NotFound` for an unknown id."""
        found = await self._series.get([series_id])
        if series_id not in found:
            raise NotFound("series", series_id)
        return found[series_id]

    async def get_many(self, ids: Collection[str]) -> dict[str, SeriesRow]:
        """Return the series with these ids, those that exist."""
        return await self._series.get(ids) if ids else {}

    async def find(self, title: str | None, limit: int, offset: int) -> tuple[list[SeriesRow], int]:
        """Return series with this part in their titles, by title, and the number of all of them."""
        rows = await self._series.find(title, limit=limit, offset=offset)
        return rows, await self._series.count(title)

    async def after(self, title: str | None, place: tuple[str, str], limit: int) -> list[SeriesRow]:
        """Return series with this part in their titles, by title, behind the title and the id of a series."""
        return await self._series.after(title, place, limit)

    async def targets(self, series_id: str) -> list[TargetRow]:
        """Return the targets of a series, oldest first; raise `NotFound` for an unknown series."""
        await self.get(series_id)
        return await self._targets.of_series(series_id)

    async def linked(self, series_id: str, source_id: int) -> list[TargetRow]:
        """Return the active targets of a series on a source."""
        found = await self._targets.of_series(series_id)
        return [target for target in found if target.source_id == source_id and target.active]

    async def link(self, target: NewTarget) -> TargetRow:
        """Make a target; raise `NotFound` without its series or source, `Taken` for a taken external id."""
        await self.get(target.series_id)
        return await self._targets.add(target)

    async def target(self, series_id: str, target_id: int) -> TargetRow:
        """Return a target of a series; raise `NotFound` where the series has no such target."""
        found = await self._targets.get(target_id)
        if found is None or found.series_id != series_id:
            raise NotFound("target", target_id)
        return found

    async def change_target(self, series_id: str, target_id: int, amend: Callable[[TargetRow], TargetRow]) -> TargetRow:
        """Change a target of a series; raise `NotFound`, or `Taken` for a taken external id."""
        for _ in range(MAX_TRIES):
            was = await self.target(series_id, target_id)
            wanted = amend(was)
            if wanted == was:
                return was
            row = await self._targets.change(wanted, was)
            if row is not None:
                return row
        raise StaleLease(f"target {target_id} kept changing")

    async def unlink(self, series_id: str, target_id: int) -> None:
        """Delete a target of a series; raise `NotFound` where the series has no such target."""
        if not await self._targets.remove(target_id, series_id):
            raise NotFound("target", target_id)
