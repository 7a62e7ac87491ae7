"""The services behind this door."""

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
    """What the handlers ask; `planning` is off where no schedules are fired."""

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
