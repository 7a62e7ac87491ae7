"""Runs that crawl the catalogue of a source, or one series of it."""

from typing import Literal

import msgspec

from longline.model.duration import MINUTE_MS
from longline.model.ids import new_id
from longline.model.runs.crawl_plan import CrawlPlan
from longline.model.runs.end_effect import PlannedEffect, RunEffectKind
from longline.model.runs.end_judgement import EndRules
from longline.model.runs.run import NewRun, RunKind, RunRow

SERIES_END = EndRules("all", (PlannedEffect(RunEffectKind.SERIES_HEALTH),))
"""Rules of the end: a run fails where none of its URLs completes, and its source notes the end."""

CATALOGUE_SUBJECT = ""
"""Subject of the runs that crawl the whole catalogue of a source; other runs have the id of their series."""

STUCK = "stuck"
"""Error of a run that a person has failed because it runs for too long."""

STUCK_AFTER_MS = 30 * MINUTE_MS
"""Time after which a running run counts as stuck."""

DEFAULT_DELAY_MS = 1000
MAX_DELAY_MS = 86_400_000
MAX_HOSTS = 100
"""Pause between requests if neither the config nor the source sets one, the longest pause, and hosts of a config."""

DEFAULT_MAX_RETRIES = 3
"""Retries of a page after its first attempt."""

MAX_RETRIES_KEY = "crawler.max_retries"
"""Setting of the API of the catalogue: another number of retries."""


SeriesRunOrder = Literal["due", "ended_at", "completed"]

DEFAULT_FAILURE_THRESHOLD = 5
"""Failed runs in a row after which a source is disabled."""

CANCEL_ORDERED = "cancellation ordered"
"""Entry of a run's log about the order to cancel it."""


class NewSeriesRun(msgspec.Struct, frozen=True):
    """The facts of a run beside its row: the series, None for the whole catalogue, and the caller that ordered it.

    A run that the platform started by itself has no caller.
    """

    series_id: str | None = None
    caller_id: str | None = None
    caller_name: str | None = None


class SeriesRunRow(msgspec.Struct, frozen=True):
    """A run of a catalogue with its facts."""

    run: RunRow
    series_id: str | None
    caller_id: str | None
    caller_name: str | None


class SeriesRunQuery(msgspec.Struct, frozen=True, kw_only=True):
    """A choice of runs, the newest in their order first; a run without the time of the order comes last.

    `states` are states of runs, none for all. `is_ordered` chooses runs with a caller or without one, `due_after` runs
    that are due later.
    """

    states: tuple[str, ...] = ()
    source_id: int | None = None
    series_id: str | None = None
    is_ordered: bool | None = None
    due_after: int | None = None
    order: SeriesRunOrder = "due"


class CatalogueFigures(msgspec.Struct, frozen=True):
    """Numbers of open runs of catalogues, of those that are stuck, and of sources with an extension by their state.

    A `failing` source is enabled, and its last run failed.
    """

    queued: int
    running: int
    stuck: int
    enabled: int
    disabled: int
    failing: int


class SourceRunCounts(msgspec.Struct, frozen=True):
    """Numbers of the runs of a source by state, and its run that ended last."""

    total: int
    states: dict[str, int]
    last: SeriesRunRow | None


def new_series_run(
    seeds: tuple[str, ...], source_id: int | None, source_name: str, series_id: str | None, due: int
) -> NewRun:
    """Return a run to be queued; the rest of its plan is made at its start, from the source as it is then."""
    plan = CrawlPlan(seeds, end=SERIES_END, source_id=source_id, source_name=source_name)
    subject = series_id or CATALOGUE_SUBJECT
    return NewRun(new_id(), RunKind.SERIES, plan.text(), seeds[0], source_id=source_id, due=due, subject=subject)
