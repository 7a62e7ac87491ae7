"""Types of fields that several requests and responses of the product-tasks contract share."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Annotated, Any, ClassVar, Literal, Self

import msgspec
from msgspec import Meta

from longline.model.errors import BadInput
from longline.model.recrawls.frequency import frequency_text
from longline.model.states import TaskState
from longline.model.timestamps import written
from longline.model.urls.url import BadUrl, parse

TaskStatus = Literal[
    "pending", "queued", "crawling", "downloaded", "queued_parse", "parsing",
    "completed", "failed", "paused", "cancelled",
]  # fmt: skip

TASK_WORDS: Mapping[TaskState, TaskStatus] = {
    TaskState.PENDING: "pending",
    TaskState.QUEUED: "queued",
    TaskState.CRAWLING: "crawling",
    TaskState.DOWNLOADED: "downloaded",
    TaskState.QUEUED_PARSE: "queued_parse",
    TaskState.PARSING: "parsing",
    TaskState.COMPLETED: "completed",
    TaskState.SKIPPED: "failed",
    TaskState.FAILED: "failed",
    TaskState.PAUSED: "paused",
    TaskState.CANCELLED: "cancelled",
    TaskState.EXPIRED: "failed",
}

MAX_PER_PAGE = 100
MAX_PAGE = 10**9
MAX_ID = 2**53
MAX_AMOUNT = 10**8
NO_NUL = r"^[^\u0000]*$"
NOT_BLANK = r"^\s*[^\s\x00][^\x00]*$"

_TIME_OF_DAY = re.compile(r"([0-9]{2}):([0-5][0-9])(?::([0-5][0-9]))?")
_ABSOLUTE = re.compile(r"https?://[^/\\?#]", re.IGNORECASE)


def url_problem(text: str) -> str | None:
    """Return the problem of text that is no absolute http or https URL, or None."""
    try:
        parse(text.strip())
    except BadUrl:
        return "Enter an absolute http or https URL"
    return None if _ABSOLUTE.match(text.strip()) else "Enter an absolute http or https URL"


class IsoTime(int):
    """A time in UTC milliseconds."""

    json_schema: ClassVar[Mapping[str, Any]] = {"type": "string", "format": "date-time"}

    @classmethod
    def parse(cls, sent: Any) -> Self:
        """Return an ISO 8601 time; a time without an offset is UTC, and a blank in a query is an unescaped plus."""
        try:
            at = datetime.fromisoformat(sent.replace(" ", "+") if "T" in sent else sent)
            return cls(round((at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)).timestamp() * 1000))
        except (ValueError, TypeError, AttributeError, OverflowError):
            raise ValueError("Enter a time in ISO 8601, as in 2025-11-30T10:00:00Z") from None


class Money(int):
    """A non-negative amount of money in hundredths."""

    json_schema: ClassVar[Mapping[str, Any]] = {"type": "number", "minimum": 0, "maximum": 99_999_999.99}

    @classmethod
    def parse(cls, sent: Any) -> Self:
        """Return the amount of a JSON number, or of a text in decimal digits."""
        try:
            found = Decimal(sent if isinstance(sent, int | str | Decimal) and not isinstance(sent, bool) else "none")
            cents = found * 100
        except ArithmeticError:
            raise ValueError("Enter an amount with at most two decimal places") from None
        if not found.is_finite() or cents != cents.to_integral_value() or not 0 <= found < MAX_AMOUNT:
            raise ValueError("Enter an amount with at most two decimal places")
        return cls(cents)


def amount(cents: int | None) -> Decimal | None:
    """Return hundredths as a decimal number with two places."""
    return None if cents is None else Decimal(cents).scaleb(-2)


class TimeOfDay(int):
    """A time of the day in UTC, in seconds from midnight."""

    json_schema: ClassVar[Mapping[str, Any]] = {"type": "string", "pattern": "^[0-2][0-9]:[0-5][0-9](:[0-5][0-9])?$"}

    @classmethod
    def parse(cls, sent: Any) -> Self:
        """Return the time of a text such as `23:00` or `23:00:30`."""
        found = _TIME_OF_DAY.fullmatch(sent) if isinstance(sent, str) else None
        if found is None or int(found[1]) > 23:
            raise ValueError("Enter a time of the day in UTC, as in 23:00")
        return cls(int(found[1]) * 3600 + int(found[2]) * 60 + int(found[3] or 0))


def time_of_day(second: int | None) -> str | None:
    """Return a time of the day as text."""
    return None if second is None else f"{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}"


class Frequency(str):
    """A number and a unit of time."""

    __slots__ = ()
    json_schema: ClassVar[Mapping[str, Any]] = {
        "type": "string",
        "pattern": "^([1-9][0-9]{0,8} second|[1-9][0-9]{0,6} minute|[1-9][0-9]{0,4} hour|[1-9][0-9]{0,3} day"
        "|[1-9][0-9]{0,2} (week|month)|[1-9][0-9]? year)s?$",
    }

    @classmethod
    def parse(cls, sent: Any) -> Self:
        """Return the frequency in its one form."""
        try:
            return cls(frequency_text(sent if isinstance(sent, str) else ""))
        except BadInput:
            raise ValueError("Enter a number and a unit, from second to year, as in 12 hours") from None


Timestamp = Annotated[str, Meta(extra_json_schema={"format": "date-time"})]
"""A time in RFC 3339, in UTC."""
Text = Annotated[str, Meta(pattern=NO_NUL)]
TaskId = Annotated[int, Meta(ge=1, le=MAX_ID, description="Id of a task.")]
DomainId = Annotated[int, Meta(ge=1, le=MAX_ID, description="Id of a domain.")]
ProxyId = Annotated[int, Meta(ge=1, le=MAX_ID, description="Id of a proxy.")]
ProductId = Annotated[int, Meta(ge=1, le=MAX_ID, description="Id of a product.")]
BatchId = Annotated[int, Meta(ge=1, le=MAX_ID, description="Id of a batch.")]
Priority = Annotated[int, Meta(ge=1, le=10, description="1 is the highest priority, 10 the lowest.")]
PageNumber = Annotated[int, Meta(ge=1, le=MAX_PAGE, description="Number of the page, counted from 1.")]
PerPage = Annotated[int, Meta(ge=1, le=MAX_PER_PAGE, description="Entries of the page.")]
WebUrl = Annotated[
    str,
    Meta(
        pattern=NO_NUL,
        description="An absolute http or https URL.",
        extra_json_schema={"format": "uri"},
        extra={"check": url_problem},
    ),
]


class PagedQuery(msgspec.Struct, frozen=True, kw_only=True):
    """The query of a list: one page of it."""

    page: PageNumber = 1
    per_page: PerPage = 20

    @property
    def offset(self) -> int:
        """The number of entries before the page."""
        return (self.page - 1) * self.per_page


def time_text(at: int) -> str:
    """Return UTC milliseconds as text."""
    return written(at)


def optional_time(at: int | None) -> str | None:
    """Return UTC milliseconds as text, None for None."""
    return None if at is None else written(at)


def rounded(value: float | None) -> float | None:
    """Return a mean with two places, None for None."""
    return None if value is None else round(value, 2)
