"""The bot SDK: all names that the author of a bot imports."""

from longline.sdk.bot import Bot, NoHandler, Stats
from longline.sdk.client import ApiClient, RateLimited, RequestRefused, Unreachable
from longline.sdk.command import main
from longline.sdk.handlers import Handler
from longline.sdk.job import Found, Job, JobFailed, Unsendable

__all__ = [
    "ApiClient",
    "Bot",
    "Found",
    "Handler",
    "Job",
    "JobFailed",
    "NoHandler",
    "RateLimited",
    "RequestRefused",
    "Stats",
    "Unreachable",
    "Unsendable",
    "main",
]
