"""A job as a bot gets it, and what a bot makes of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any
from urllib.parse import urlsplit

ERROR_CHARS = 500


class JobFailed(Exception):
    """Raised by a handler that could not do a job; its text is what the server is told."""


@dataclass(frozen=True, slots=True)
class Job:
    """One URL to crawl, ours until `locked_until`; `locked_until` is the server's clock, `timeout_seconds` is not."""

    job_id: str
    url: str
    priority: int
    max_retries: int
    timeout_seconds: int
    retry_count: int
    locked_until: str

    @property
    def host(self) -> str:
        """The name of the host, in lower case and without a port."""
        return (urlsplit(self.url).hostname or "").lower()


@dataclass(frozen=True, slots=True)
class Found:
    """What a bot extracted. Give the price as a text or a `Decimal`: floats are rounded on their way."""

    price: Decimal | str | int
    currency: str
    title: str = ""
    in_stock: bool = True
    parsed_data: Mapping[str, Any] = field(default_factory=dict)
    raw_html: str | None = None

    def body(self) -> dict[str, Any]:
        """What is sent for it."""
        told = {"success": True, "price": str(self.price), "currency": self.currency, "title": self.title}
        return {**told, "in_stock": self.in_stock, "parsed_data": dict(self.parsed_data), "raw_html": self.raw_html}


def failure(error: BaseException | str) -> dict[str, Any]:
    """What is sent for a job that failed."""
    said = error if isinstance(error, str) else str(error) or type(error).__name__
    kind = "" if isinstance(error, str | JobFailed) else f"{type(error).__name__}: "
    return {"success": False, "error_msg": f"{kind}{said}"[:ERROR_CHARS]}
