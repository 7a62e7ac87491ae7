"""The services behind this door."""

from dataclasses import dataclass

from longline.services.glances import Glances
from longline.services.runs import Runs
from longline.services.schedules import Schedules, Slots
from longline.services.sources import Sources, Sync


@dataclass(frozen=True, slots=True)
class Desk:
    """What the handlers ask; `planning` is off where no schedules are fired."""

    schedules: Schedules
    slots: Slots
    runs: Runs
    sources: Sources
    sync: Sync
    glances: Glances
    lease_ms: int
    planning: bool = True
    internal_secret: str = ""
