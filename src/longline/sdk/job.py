"""A job as a bot receives it, and the result that a bot submits."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from decimal import Decimal
from typing import Any

import ada_url
import orjson

MAX_ERROR_CHARS = 500
MAX_BODY_BYTES = 10_000_000
"""Largest request body that the server accepts."""


class JobFailed(Exception):
    """Raised by a handler that could not do a job; its text is sent to the server."""


class Unsendable(Exception):
    """A result that cannot be sent: it is not JSON, or too large."""


@dataclass(frozen=True, slots=True)
class Job:
    """One URL to crawl, locked for this bot for `timeout_seconds`: until `locked_until` by the server's clock."""

    job_id: str
    url: str
    priority: int
    max_retries: int
    timeout_seconds: int
    retry_count: int
    locked_until: str

    @classmethod
    def read(cls, sent_values: Mapping[str, Any]) -> "Job":
        """Return the job in a server's answer; fields that a newer server adds are left out."""
        return cls(**{each.name: sent_values[each.name] for each in fields(cls)})

    @property
    def host(self) -> str:
        """Return the host name as the server spells it: in lower case, in ASCII and without a port."""
        return self._part("hostname")

    @property
    def host_and_port(self) -> str:
        """Return the host name, with the port unless it is the scheme's default."""
        return self._part("host")

    def _part(self, name: str) -> str:
        try:
            return str(getattr(ada_url.URL(self.url), name))
        except ValueError:
            return ""


@dataclass(frozen=True, slots=True)
class Found:
    """The result of a job. Give the price as a string or a `Decimal`: floats are rounded on their way."""

    price: Decimal | str | int
    currency: str
    title: str = ""
    in_stock: bool = True
    parsed_data: Mapping[str, Any] = field(default_factory=dict)
    raw_html: str | None = None

    def body(self) -> dict[str, Any]:
        """Return the fields of a submit; raise `Unsendable` for data that is not JSON."""
        sent_values = {"success": True, "price": str(self.price), "currency": self.currency, "title": self.title}
        try:
            data = dict(self.parsed_data)
            _check_numbers(data)
        except Exception as error:
            raise Unsendable(f"parsed_data is not a JSON object: {error}") from error
        return {**sent_values, "in_stock": self.in_stock, "parsed_data": data, "raw_html": self.raw_html}


def encoded(body: Mapping[str, Any]) -> bytes:
    """Return a request's body as JSON; raise `Unsendable` for data that is not JSON or is too large."""
    try:
        content = orjson.dumps(body)
    except orjson.JSONEncodeError as error:
        raise Unsendable(f"the result is not JSON: {error}") from error
    if len(content) > MAX_BODY_BYTES:
        raise Unsendable(f"the result has {len(content):,} bytes, the server takes {MAX_BODY_BYTES:,}")
    return content


def failure(error: BaseException | str) -> dict[str, Any]:
    """Return the fields of a submit for a job that failed."""
    said = error if isinstance(error, str) else _text_of(error) or type(error).__name__
    kind = "" if isinstance(error, str | JobFailed | Unsendable) else f"{type(error).__name__}: "
    # Text that is not Unicode, such as undecodable bytes of a page, could not be sent.
    text = f"{kind}{said}".encode("utf-8", "replace").decode()
    return {"success": False, "error_msg": text[:MAX_ERROR_CHARS]}


def _text_of(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # `__str__` of a handler's exception may raise anything
        return ""


def _check_numbers(value: Any) -> None:
    """Raise for numbers that JSON does not have: the encoder would silently write null for them."""
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{value} is not a JSON number")
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ():
        _check_numbers(each)
