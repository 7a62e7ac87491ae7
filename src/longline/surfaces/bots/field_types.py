"""Types of the fields in requests and responses of the bot-pull contract, with their bounds and texts of problems."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from time import gmtime
from typing import Annotated, Any, ClassVar, Self
from uuid import UUID

from msgspec import Meta, Raw

from longline.model.errors import BadInput
from longline.model.patterns import compile_pattern
from longline.model.urls.url import BadUrl, parse
from longline.surfaces.bots.errors import NOT_STRINGS, REQUIRED

MAX_INT = 2**31 - 1
MAX_JOBS = 100
MAX_HOSTS = 100
MAX_HOST_CHARS = 255
MAX_KEY_CHARS = 255
MAX_URL_CHARS = 2048
MAX_DIGITS, MAX_PLACES = 12, 2

NOT_BLANK = r"^\s*[^\s\x00][^\x00]*$"
NO_NUL = r"^[^\x00]*$"

_AMOUNT = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_HOST = re.compile(r"(\*\.)?[^\s*/?#@\\\x00]+")
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_CURRENCY = re.compile(r"[A-Za-z]{3}")

LATEST_MS = 253_402_300_799_000
"""Last second with a four-digit year, in milliseconds; later times are shown as this one."""

Uuid = Annotated[str, Meta(extra_json_schema={"format": "uuid"})]

Uri = Annotated[str, Meta(extra_json_schema={"format": "uri"})]

Time = Annotated[str, Meta(extra_json_schema={"format": "date-time"})]

JsonObject = Annotated[Raw, Meta(extra_json_schema={"type": "object"})]

JsonStrings = Annotated[Raw, Meta(extra_json_schema={"type": "array", "items": {"type": "string"}})]

PercentShare = Annotated[float, Meta(description="In per cent.")]


class JobUuid(str):
    """The UUID of a job, in its canonical form."""

    json_schema: ClassVar[Mapping[str, Any]] = {"type": "string", "format": "uuid"}

    @classmethod
    def parse(cls, sent: Any) -> Self:
        """Return a UUID in any form."""
        if isinstance(sent, str) and _UUID.fullmatch(sent):
            return cls(sent)
        try:
            return cls(UUID(sent))
        except (ValueError, AttributeError, TypeError):
            raise ValueError("Must be a valid UUID.") from None


class Price(int):
    """A non-negative amount of money in hundredths."""

    json_schema: ClassVar[Mapping[str, Any]] = {
        "anyOf": [
            {"type": "number", "minimum": 0, "exclusiveMaximum": 10 ** (MAX_DIGITS - MAX_PLACES)},
            {"type": "string", "pattern": r"^[0-9]{1,10}(\.[0-9]{1,2})?$"},
        ],
    }

    @classmethod
    def parse(cls, sent: Any) -> Self:
        """Return the amount of a JSON number or of a decimal text."""
        amount = _amount(sent)
        exponent = None if amount is None else amount.as_tuple().exponent
        if amount is None or not isinstance(exponent, int):
            raise ValueError("A valid number is required.")
        if amount < 0:
            raise ValueError("Ensure this value is greater than or equal to 0.")
        if -exponent > MAX_PLACES:
            raise ValueError(f"Ensure that there are no more than {MAX_PLACES} decimal places.")
        if amount >= 10 ** (MAX_DIGITS - MAX_PLACES):
            raise ValueError(f"Ensure that there are no more than {MAX_DIGITS} digits in total.")
        return cls(amount * 10**MAX_PLACES)


def _amount(sent: Any) -> Decimal | None:
    if isinstance(sent, str):
        sent = sent.strip()
        if not _AMOUNT.fullmatch(sent):
            return None
    elif isinstance(sent, bool) or not isinstance(sent, int | Decimal):
        return None
    try:
        return Decimal(sent)
    except InvalidOperation:
        return None


class Currency(str):
    """A currency code in upper case."""

    json_schema: ClassVar[Mapping[str, Any]] = {"type": "string", "pattern": "^[A-Za-z]{3}$"}

    @classmethod
    def parse(cls, sent: Any) -> Self:
        """Return a code of three ASCII letters, in any case."""
        # Checked before upper-casing, which turns some single letters into two.
        if not isinstance(sent, str) or not _CURRENCY.fullmatch(sent):
            raise ValueError("Currency must be 3-letter ISO code (e.g., USD, VND, EUR)")
        return cls(sent.upper())


class HostNames(tuple[str, ...]):
    """Host names in their stored form, sorted; a name may begin with `*.`, for every host below it."""

    json_schema: ClassVar[Mapping[str, Any]] = {
        "type": "array",
        "items": {"type": "string", "maxLength": MAX_HOST_CHARS},
        "maxItems": MAX_HOSTS,
    }

    @classmethod
    def parse(cls, sent: Any) -> Self:
        """Return a list of host names."""
        if not isinstance(sent, list) or not all(isinstance(each, str) for each in sent):
            raise ValueError(NOT_STRINGS)
        if len(sent) > MAX_HOSTS:
            raise ValueError(f"Ensure this field has no more than {MAX_HOSTS} elements.")
        found = {_host(text) for text in sent}
        if None in found:
            raise ValueError("Enter valid host names, such as shop.example or *.shop.example.")
        return cls(sorted(host for host in found if host is not None))


def _host(text: str) -> str | None:
    if len(text) > MAX_HOST_CHARS or not _HOST.fullmatch(text):
        return None
    below, name = ("*.", text[2:]) if text.startswith("*.") else ("", text)
    try:
        return below + parse(f"http://{name}/").host
    except BadUrl:
        return None


class Moment(int):
    """A time in UTC milliseconds."""

    json_schema: ClassVar[Mapping[str, Any]] = {"type": "string", "format": "date-time"}

    @classmethod
    def parse(cls, sent: Any) -> Self:
        """Return an ISO 8601 time; a time without an offset is UTC."""
        try:
            at = datetime.fromisoformat(sent)
            # The conversion to UTC fails for a year out of range in UTC.
            return cls(round((at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)).timestamp() * 1000))
        except (ValueError, TypeError, OverflowError):
            raise ValueError("Datetime has wrong format. Use ISO 8601, as in 2025-01-07T07:20:00Z.") from None


class QueryMoment(Moment):
    """A time in a query string, in which an unescaped plus sign of an offset is decoded as a blank."""

    @classmethod
    def parse(cls, sent: Any) -> Self:
        """Return an ISO 8601 time."""
        return super().parse(sent.replace(" ", "+") if "T" in sent else sent)


class IdempotencyKey(str):
    """The key of a submit that may be repeated."""

    json_schema: ClassVar[Mapping[str, Any]] = {"type": "string", "minLength": 1, "maxLength": MAX_KEY_CHARS}

    @classmethod
    def parse(cls, sent: Any) -> Self:
        """Return the text of the header."""
        if not 0 < len(sent) <= MAX_KEY_CHARS:
            raise ValueError(f"Ensure this header has 1 to {MAX_KEY_CHARS} characters.")
        return cls(sent)


def _url_problem(url: str) -> str | None:
    return None if _is_url(url.strip()) else "Enter a valid URL."


def _urls_problem(urls: list[str]) -> str | None:
    return None if all(len(url) <= MAX_URL_CHARS and _is_url(url) for url in urls) else "Enter valid URLs."


def _is_url(text: str) -> bool:
    try:
        parse(text)
    except BadUrl:
        return False
    return True


def _pattern_problem(pattern: str) -> str | None:
    try:
        compile_pattern(pattern.strip())
    except BadInput as error:
        return f"{error}."
    return None


Text = Annotated[str, Meta(pattern=NO_NUL)]
BotId = Annotated[
    str, Meta(min_length=1, max_length=100, pattern=NOT_BLANK, description="The bot's own name, case-sensitive.")
]
Url = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=MAX_URL_CHARS,
        pattern=NOT_BLANK,
        description="An absolute http or https URL.",
        extra_json_schema={"format": "uri"},
        extra={"check": _url_problem},
    ),
]
Urls = Annotated[
    list[Annotated[str, Meta(extra_json_schema={"format": "uri", "maxLength": MAX_URL_CHARS})]],
    Meta(description="Absolute http or https URLs.", extra={"check": _urls_problem, "texts": {"null": REQUIRED}}),
]
UrlPattern = Annotated[
    str,
    Meta(
        max_length=2048,
        pattern=NO_NUL,
        description="A regular expression searched in known URLs of the domain; empty for all of them.",
        extra={"check": _pattern_problem},
    ),
]
JobIds = Annotated[list[str], Meta(description="Ids of jobs.", extra={"texts": {"null": REQUIRED}})]
JobId = Annotated[JobUuid, Meta(description="Id of the job.", extra={"texts": {"null": REQUIRED}})]
Success = Annotated[bool, Meta(description="Whether the bot has a result.", extra={"texts": {"null": REQUIRED}})]
Priority = Annotated[int, Meta(ge=1, le=20, description="Jobs with a higher priority are pulled first.")]
Retries = Annotated[int, Meta(ge=0, le=MAX_INT, description="Retries after the first failed attempt.")]
PositiveInt = Annotated[int, Meta(ge=1, le=MAX_INT)]
BatchSize = Annotated[int, Meta(ge=1, le=10_000, description="Most rows in one pass.")]


def time_text(at: int) -> str:
    """Return a time in the contract's format."""
    # Three times as fast as the text of a datetime; a pull has a time in every job.
    seconds, milliseconds = divmod(min(at, LATEST_MS), 1000)
    year, month, day, hour, minute, second = gmtime(seconds)[:6]
    fraction = f".{milliseconds:03}" if milliseconds else ""
    return f"{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{fraction}Z"


def optional_time(at: int | None) -> str | None:
    """Return a time in the contract's format, None for None."""
    return None if at is None else time_text(at)


def amount(hundredths: int) -> Decimal:
    """Return an amount of money as a number with two places."""
    return Decimal(hundredths).scaleb(-2)


def share(part: int, other: int) -> float:
    """Return the share of `part` in per cent; 0.0 if both are zero."""
    return round(part / (part + other) * 100, 2) if part + other else 0.0
