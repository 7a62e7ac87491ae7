"""Series of a catalogue, their targets, and the runs that crawl them."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Protocol

from longline.model.runs.run import NewRun
from longline.model.series.series import NewSeries, NewTarget, SeriesRow, TargetRow
from longline.model.series.series_run import (
    CatalogueFigures,
    NewSeriesRun,
    SeriesRunQuery,
    SeriesRunRow,
    SourceRunCounts,
)
from longline.model.series.series_schedule import AutomaticSource
from longline.model.states import Actor
from longline.ports.records.logs import LogMonthStore
from longline.ports.records.sources import SourceVersionStore


class SeriesStore(Protocol):
    """Series."""

    async def add(self, series: NewSeries) -> SeriesRow:
        """Make a series; raise `Taken` for a slug that another series has."""
        ...

    async def get(self, ids: Collection[str]) -> dict[str, SeriesRow]:
        """Return the series with these ids."""
        ...

    async def find(self, title: str | None, *, limit: int, offset: int) -> list[SeriesRow]:
        """Return series with this part in their titles, by title."""
        ...

    async def after(self, title: str | None, place: tuple[str, str], limit: int) -> list[SeriesRow]:
        """Return series as `find` does, behind the title and the id of a series; an empty title begins the list."""
        ...

    async def count(self, title: str | None) -> int:
        """Return the number of series with this part in their titles."""
        ...


class TargetStore(Protocol):
    """Targets."""

    async def add(self, target: NewTarget) -> TargetRow:
        """Make a target; raise `Taken` for an external id that the source has already, `NotFound` without a source."""
        ...

    async def get(self, target_id: int) -> TargetRow | None:
        """Return one target."""
        ...

    async def of_series(self, series_id: str) -> list[TargetRow]:
        """Return the targets of a series, oldest first."""
        ...

    async def change(self, target: TargetRow, was: TargetRow) -> TargetRow | None:
        """Write a target; return None when it is gone or changed from `was`. `Taken` for a taken external id."""
        ...

    async def remove(self, target_id: int, series_id: str) -> bool:
        """Delete a target of a series; return False where the series has no such target."""
        ...


class SeriesRunStore(Protocol):
    """Runs that crawl the catalogue of a source, or one series of it."""

    async def add(self, run: NewRun, facts: NewSeriesRun, actor: Actor = "person") -> SeriesRunRow:
        """Make a run, `queued`, with its facts; raise `Conflict` while another run of its subject is open."""
        ...

    async def get(self, uid: str) -> SeriesRunRow | None:
        """Return one run."""
        ...

    async def find(self, query: SeriesRunQuery, *, limit: int, offset: int) -> list[SeriesRunRow]:
        """Return a page of runs."""
        ...

    async def count(self, query: SeriesRunQuery) -> int:
        """Return the number of chosen runs."""
        ...

    async def remove_source(self, source_id: int, uses: str) -> bool:
        """Delete a source with its targets while it has these uses; return False while a run of it is running.

        Queued runs are cancelled. All runs of the source are marked as deleted, and their logs stay.
        """
        ...

    async def stuck(self, started_before: int, limit: int) -> list[SeriesRunRow]:
        """Return running runs that started before a time, oldest first."""
        ...

    async def replace_stuck(self, stuck: SeriesRunRow, run: NewRun, facts: NewSeriesRun) -> SeriesRunRow | None:
        """Fail a running run as stuck and make a queued one in its place; return None for a run that has ended."""
        ...

    async def figures(self, started_before: int) -> CatalogueFigures:
        """Return the numbers of open runs and of sources; a run that started before a time is stuck."""
        ...

    async def of_source(self, source_id: int) -> SourceRunCounts:
        """Return the numbers of the runs of a source, and its run that ended last."""
        ...


class AutomaticRunStore(Protocol):
    """Sources and targets that are due for an automatic run."""

    async def sources(self, after_id: int, limit: int) -> list[AutomaticSource]:
        """Return enabled sources with an extension and a larger id, by id."""
        ...

    async def targets(self, source_id: int, before: int, limit: int) -> list[TargetRow]:
        """Return active targets of a source that were last tried before a time, longest ago first."""
        ...

    async def add(self, run: NewRun, facts: NewSeriesRun, before: int) -> bool:
        """Note that the subject of a run is tried now, and make the run, `queued`.

        Return False, without a run, where the subject was tried after `before` or another run of it is open.
        """
        ...


@dataclass(frozen=True, slots=True)
class SeriesStores:
    """The stores of catalogues; the logs of their runs are kept by month."""

    series: SeriesStore
    targets: TargetStore
    runs: SeriesRunStore
    log_months: LogMonthStore
    versions: SourceVersionStore
    automatic: AutomaticRunStore
