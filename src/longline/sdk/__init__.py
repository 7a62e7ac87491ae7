"""What somebody who writes a bot imports."""

from longline.sdk.bot import Bot, NoHandler, Stats
from longline.sdk.command import main
from longline.sdk.door import Door, RateLimited, Refused, Unreachable
from longline.sdk.hosts import Handler
from longline.sdk.work import Found, Job, JobFailed, Unsendable

__all__ = [
    "Bot",
    "Door",
    "Found",
    "Handler",
    "Job",
    "JobFailed",
    "NoHandler",
    "RateLimited",
    "Refused",
    "Stats",
    "Unreachable",
    "Unsendable",
    "main",
]
