"""The services behind this door."""

from dataclasses import dataclass

from longline.services.backfill import Backfill
from longline.services.glances import Glances
from longline.services.runs import Runs
from longline.services.schedules import Schedules, Slots
from longline.services.sources import Sources
from longline.services.sync import Sync
from longline.services.trials import Trials


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
