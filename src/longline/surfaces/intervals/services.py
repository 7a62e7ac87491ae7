"""The services behind the interval API."""

from dataclasses import dataclass

from longline.services.page_preview import PagePreviews
from longline.services.schedules.backfill import Backfill
from longline.services.schedules.runs import Runs
from longline.services.schedules.schedules import Schedules, Slots
from longline.services.sources.source_schedules import SourceSchedules
from longline.services.sources.sources import Sources
from longline.services.sources.trial_crawl import Trials


@dataclass(frozen=True, slots=True)
class IntervalServices:
    """The services that the handlers call; `planning` is False in a process that fires no schedules."""

    schedules: Schedules
    slots: Slots
    runs: Runs
    sources: Sources
    sync: SourceSchedules
    glances: PagePreviews
    trials: Trials
    backfill: Backfill
    lease_ms: int
    planning: bool = True
    internal_secret: str = ""
