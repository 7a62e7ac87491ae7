"""The interval crawler's door: schedules are jobs here, and runs executions."""

from longline.surfaces.intervals.routes import routes
from longline.surfaces.intervals.services import IntervalServices

__all__ = ["IntervalServices", "routes"]
