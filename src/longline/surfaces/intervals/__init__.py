"""The HTTP API of the interval contract, in which schedules are jobs, and runs executions."""

from longline.surfaces.intervals.routes import routes
from longline.surfaces.intervals.services import IntervalServices

__all__ = ["IntervalServices", "routes"]
