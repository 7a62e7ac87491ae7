"""Types of fields that several requests and responses of the catalogue contract share."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, ClassVar, Self

import msgspec
from msgspec import Meta

from longline.model.timestamps import written
from longline.model.urls.url import BadUrl, parse
from longline.surfaces.catalogue.errors import BASE_URL_TEXT, SOURCE_URL_TEXT

MAX_ID = 2**53
MAX_PAGE = 10**9
NOT_BLANK = r"^\s*[^\s\x00][^\x00]*$"
MAX_NAME_CHARS = 100
NO_NUL = r"^[^\u0000]*$"
# A dollar also matches before a line feed at the end.
UUID = r"^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$(?!\n)"
REVERSE_DOMAIN = r"^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)+$(?!\n)"
SLUG = r"^[a-z0-9-]+$(?!\n)"
_INTEGER = re.compile(r"-?[0-9]{1,400}")
_HTTPS = re.compile(r"https://[^/\\?#\s]", re.IGNORECASE)
_TIME = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})")


def is_https_url(text: str) -> bool:
    """Return whether text is an absolute HTTPS URL without credentials."""
    try:
        url = parse(text)
    except BadUrl:
        return False
    return _HTTPS.match(text) is not None and "@" not in text.split("://", 1)[1].split("/", 1)[0] and bool(url.host)


class NumberId(int):
    """An id in a body. An integer that is no id of a row becomes 0, which no row has: it is unknown, not invalid."""

    json_schema: ClassVar[Mapping[str, Any]] = {"type": "integer"}

    @classmethod
    def parse(cls, sent: Any) -> Self:
        """Return the id of a JSON number."""
        is_integer = isinstance(sent, int) and not isinstance(sent, bool)
        # The decoder makes floats of integers that have more than 64 bits.
        if not is_integer and not (isinstance(sent, float) and abs(sent) >= MAX_ID):
            raise ValueError("Enter an integer")
        return cls(sent if 0 < sent <= MAX_ID else 0)


class WrittenId(NumberId):
    """An id in a path or a query."""

    @classmethod
    def parse(cls, sent: Any) -> Self:
        """Return the id of a text."""
        if not isinstance(sent, str) or not _INTEGER.fullmatch(sent):
            raise ValueError("Enter an integer")
        return super().parse(int(sent))


class ZonedTime(int):
    """A time in UTC microseconds; `sent`, its text, is in ISO 8601 and has a zone."""

    sent: str
    json_schema: ClassVar[Mapping[str, Any]] = {"type": "string", "format": "date-time"}

    @classmethod
    def parse(cls, sent: Any) -> Self:
        """Return the time of a text."""
        try:
            if not isinstance(sent, str) or not _TIME.fullmatch(sent):
                raise ValueError
            at = datetime.fromisoformat(sent).astimezone(UTC) - _EPOCH
            found = cls((at.days * 86_400 + at.seconds) * 1_000_000 + at.microseconds)
        except (ValueError, OverflowError):
            raise ValueError("Enter a time in ISO 8601 with a zone, as in 2026-04-01T10:00:00Z") from None
        found.sent = sent
        return found

    @property
    def ms(self) -> int:
        """The last millisecond that is not later."""
        return self // 1000

    @property
    def next_ms(self) -> int:
        """The first millisecond that is not earlier."""
        return -(-self // 1000)


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def base_url_problem(text: str) -> str | None:
    """Return the problem of a source's URL, or None."""
    return None if is_https_url(text) else BASE_URL_TEXT


def source_url_problem(text: str) -> str | None:
    """Return the problem of a mapping's URL, or None."""
    return None if is_https_url(text) else SOURCE_URL_TEXT


def name_problem(text: str) -> str | None:
    """Return the problem of a source's name, or None; spaces around it do not count."""
    return "name is too long" if len(text.strip()) > MAX_NAME_CHARS else None


def _url(check: Any, text: str) -> Any:
    texts = dict.fromkeys(("too_short", "pattern", "too_long"), text)
    return Meta(
        max_length=2048,
        pattern=NO_NUL,
        description="An absolute HTTPS URL.",
        extra_json_schema={"format": "uri"},
        extra={"check": check, "texts": texts},
    )


BaseUrl = Annotated[str, _url(base_url_problem, BASE_URL_TEXT)]
SourceUrl = Annotated[str, _url(source_url_problem, SOURCE_URL_TEXT)]
Timestamp = Annotated[str, Meta(extra_json_schema={"format": "date-time"})]
"""A time in RFC 3339, in UTC."""
Text = Annotated[str, Meta(pattern=NO_NUL)]
SourceId = Annotated[WrittenId, Meta(description="Id of a source.")]
SentSourceId = Annotated[NumberId, Meta(description="Id of a source.")]
MappingId = Annotated[WrittenId, Meta(description="Id of a mapping.")]
ComicId = Annotated[str, Meta(pattern=UUID, description="Id of a comic, a UUIDv7.")]
JobId = Annotated[str, Meta(pattern=UUID, description="Id of a job, a UUIDv7.")]
PageNumber = Annotated[int, Meta(ge=1, le=MAX_PAGE, description="Number of the page, counted from 1.")]
Reason = Annotated[str, Meta(max_length=2000, pattern=NO_NUL, description="The reason, for the audit log.")]
Name = Annotated[
    str,
    Meta(
        pattern=NOT_BLANK,
        description="The unique name of the source: 1 to 100 characters, without the spaces around it.",
        extra={"check": name_problem},
    ),
]
Slug = Annotated[str, Meta(pattern=SLUG, max_length=120, description="The unique slug.")]
ExtensionId = Annotated[
    str, Meta(pattern=REVERSE_DOMAIN, max_length=200, description="The plug-in that runs the crawl, a reverse domain.")
]
ExternalId = Annotated[
    str, Meta(pattern=NOT_BLANK, max_length=1000, description="The id that the source gives to the comic.")
]


class AuditedOrder(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An order that needs no more than its path."""

    reason: Reason | None = None


class CataloguePageQuery(msgspec.Struct, frozen=True, kw_only=True):
    """The query of a list: one page of it."""

    page: PageNumber = 1
    limit: Annotated[int, Meta(ge=1, le=200, description="Entries of the page.")] = 50

    @property
    def offset(self) -> int:
        """The number of entries before the page."""
        return (self.page - 1) * self.limit


def time_text(at: int) -> str:
    """Return UTC milliseconds as text."""
    return written(at)


def optional_time(at: int | None) -> str | None:
    """Return UTC milliseconds as text, None for None."""
    return None if at is None else written(at)
