"""A job as a bot gets it, and what a bot makes of it."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from decimal import Decimal
from typing import Any

import can_ada
import orjson

MAX_ERROR_CHARS = 500
MAX_BODY_BYTES = 10_000_000
"""The size of a request that the server takes."""


class JobFailed(Exception):
    """Raised by a handler that could not do a job; its text is what the server is told."""


class Unsendable(Exception):
    """A result that cannot be sent: it is not JSON, or too large."""


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

    @classmethod
    def read(cls, told: Mapping[str, Any]) -> "Job":
        """Return the job in a server's answer; fields that a newer server adds are left out."""
        return cls(**{each.name: told[each.name] for each in fields(cls)})

    @property
    def host(self) -> str:
        """The name of the host as the server spells it: in lower case, in ASCII and without a port."""
        return self._part("hostname")

    @property
    def host_and_port(self) -> str:
        """The name of the host, with its port unless it is the scheme's own."""
        return self._part("host")

    def _part(self, name: str) -> str:
        try:
            return str(getattr(can_ada.parse(self.url), name))
        except ValueError:
            return ""


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
        """Return the fields of a submit; raises `Unsendable` for data that is not JSON."""
        told = {"success": True, "price": str(self.price), "currency": self.currency, "title": self.title}
        try:
            data = dict(self.parsed_data)
            _check_numbers(data)
        except Exception as error:
            raise Unsendable(f"parsed_data is not a JSON object: {error}") from error
        return {**told, "in_stock": self.in_stock, "parsed_data": data, "raw_html": self.raw_html}


def encoded(body: Mapping[str, Any]) -> bytes:
    """Return a request's body as JSON; raises `Unsendable` for what is not JSON or larger than the server takes."""
    try:
        content = orjson.dumps(body)
    except orjson.JSONEncodeError as error:
        raise Unsendable(f"the result is not JSON: {error}") from error
    if len(content) > MAX_BODY_BYTES:
        raise Unsendable(f"the result has {len(content):,} bytes, the server takes {MAX_BODY_BYTES:,}")
    return content


def failure(error: BaseException | str) -> dict[str, Any]:
    """What is sent for a job that failed."""
    said = error if isinstance(error, str) else _text_of(error) or type(error).__name__
    kind = "" if isinstance(error, str | JobFailed | Unsendable) else f"{type(error).__name__}: "
    # Text that is not Unicode, such as undecodable bytes of a page, could not be sent.
    text = f"{kind}{said}".encode("utf-8", "replace").decode()
    return {"success": False, "error_msg": text[:MAX_ERROR_CHARS]}


def _text_of(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # an exception of somebody else's may raise anything where it is asked for its text
        return ""


def _check_numbers(value: Any) -> None:
    """Refuse numbers that JSON does not have: an encoder would write null for them without a word."""
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{value} is not a JSON number")
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ():
        _check_numbers(each)
