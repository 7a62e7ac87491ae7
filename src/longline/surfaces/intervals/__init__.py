"""The interval crawler's door: schedules are jobs here, and runs executions."""

from longline.surfaces.intervals.desk import Desk
from longline.surfaces.intervals.routes import routes

__all__ = ["Desk", "routes"]
