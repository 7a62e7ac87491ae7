"""What somebody who writes a bot imports."""

from longline.sdk.bot import Bot, Handler, Stats
from longline.sdk.command import main
from longline.sdk.door import Door, Refused, Unreachable
from longline.sdk.work import Found, Job, JobFailed

__all__ = ["Bot", "Door", "Found", "Handler", "Job", "JobFailed", "Refused", "Stats", "Unreachable", "main"]
