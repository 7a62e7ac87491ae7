"""The services behind this door."""

from dataclasses import dataclass

from longline.services.page_preview import Glances
from longline.services.schedules.backfill import Backfill
from longline.services.schedules.runs import Runs
from longline.services.schedules.schedules import Schedules, Slots
from longline.services.sources.source_schedules import Sync
from longline.services.sources.sources import Sources
from longline.services.sources.trial_crawl import Trials


@dataclass(frozen=True, slots=True)
class Desk:
    """What the handlers ask; `planning` is off where no schedules are fired."""

    schedules: Schedules
    slots: Slots
    runs: Runs
    sources: Sources
    sync: Sync
    glances: Glances
    trials: Trials
    backfill: Backfill
    lease_ms: int
    planning: bool = True
    internal_secret: str = ""
