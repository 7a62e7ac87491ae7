"""Requests about domains: the types of their fields, and the source or the changes of a source that they ask for."""

import re
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from longline.model.sources.recrawl_settings import DailyWindow, RecrawlSettings, recrawl_settings
from longline.model.sources.source import NewSource, SourceRow
from longline.model.sources.source_uses import SourceUse
from longline.model.urls.url import BadUrl, parse
from longline.surfaces.field_problems import InvalidRequest, Problem
from longline.surfaces.products.field_types import NO_NUL, Frequency, TimeOfDay, url_problem

DEFAULT_AGENT = "ProductCrawler/1.0"
SECOND_MS = 1000
MAX_NAME_CHARS = 255

_LABEL = r"(?!-)[a-z0-9_-]{1,63}(?<!-)"
_HOST_NAME = re.compile(rf"{_LABEL}(\.{_LABEL})*")

ParseRetry = Literal["recrawl", "reparse"]
Strategy = Literal["lru", "health", "random3", "geo"]


def _host_name(name: str) -> str:
    """Return the host of a domain: ASCII in lower case, as the hosts of URLs are compared."""
    return parse(f"http://{name.strip()}/").hostname


def _name_problem(name: str) -> str | None:
    try:
        host = _host_name(name)
        is_name = len(host) <= MAX_NAME_CHARS and _HOST_NAME.fullmatch(host) is not None
    except BadUrl:
        is_name = False
    is_name = is_name and not set(name.strip()) & set("/:?#@\\ ")
    return None if is_name else "Enter the name of a domain, such as shop.example"


Name = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=MAX_NAME_CHARS,
        description="Name of the domain, unique; one of another alphabet is stored in ASCII, as in URLs.",
        extra={"check": _name_problem},
    ),
]
BaseUrl = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=512,
        pattern=NO_NUL,
        description="Absolute URL of the site.",
        extra_json_schema={"format": "uri"},
        extra={"check": url_problem},
    ),
]
ParserName = Annotated[str, Meta(min_length=1, max_length=100, pattern=NO_NUL, description="Name of a parser.")]
Delay = Annotated[int, Meta(ge=0, le=60, description="Seconds between the starts of two requests.")]
Concurrency = Annotated[int, Meta(ge=1, le=100, description="Requests at once.")]
Every = Annotated[Frequency, Meta(description="Default time between two crawls of a page, such as 1 day.")]
IsActive = Annotated[bool, Meta(description="Whether pages of the domain are fetched.")]
RobotsUrl = Annotated[
    str,
    Meta(
        max_length=512,
        pattern=NO_NUL,
        description="URL of robots.txt for `refresh-robots`; by default at the root of the site.",
        extra_json_schema={"format": "uri"},
        extra={"check": url_problem},
    ),
]
Agent = Annotated[str, Meta(min_length=1, max_length=255, pattern=r"^[\x20-\x7e]+$", description="User agent.")]
WindowStart = Annotated[TimeOfDay, Meta(description="First time of the day, in UTC, at which nothing is queued.")]
WindowEnd = Annotated[TimeOfDay, Meta(description="Time of the day, in UTC, at which work goes on.")]
Rotation = Annotated[Strategy, Meta(description="Choice of the next proxy.")]
ProxyCountry = Annotated[
    str,
    Meta(pattern="^[A-Za-z]{2}$", description="Country of the proxies that are picked, as two letters."),
]
Direct = Annotated[bool, Meta(description="Whether pages are fetched without a proxy if none is usable.")]
Images = Annotated[bool, Meta(description="Whether images of products are stored.")]
AfterParser = Annotated[ParseRetry, Meta(description="Retry after a failed parser: a new crawl, or another parse.")]
AfterFailure = Annotated[
    bool, Meta(description="Whether a failed recurring task is crawled again like a completed one.")
]


class DomainRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A domain to register."""

    domain_name: Name
    base_url: BaseUrl
    parser_name: ParserName
    crawl_delay_seconds: Delay = 1
    max_concurrent_requests: Concurrency = 5
    default_crawl_frequency: Every | None = None
    is_active: IsActive = True
    robots_txt_url: RobotsUrl | None = None
    user_agent: Agent = DEFAULT_AGENT
    maintenance_start: WindowStart | None = None
    maintenance_end: WindowEnd | None = None
    proxy_strategy: Rotation = "lru"
    proxy_country: ProxyCountry | None = None
    allow_direct: Direct = False
    store_images: Images = False
    parse_retry: AfterParser = "recrawl"
    recur_after_failure: AfterFailure = False

    def source(self) -> NewSource:
        """Return the source to register."""
        settings = RecrawlSettings(
            **({} if self.default_crawl_frequency is None else {"frequency": str(self.default_crawl_frequency)}),
            window=_window(self.maintenance_start, self.maintenance_end),
            strategy=self.proxy_strategy,
            country=self.proxy_country.upper() if self.proxy_country else None,
            direct=self.allow_direct,
            images=self.store_images,
            parser_retry=self.parse_retry,
            again_after_failure=self.recur_after_failure,
        )
        return NewSource(
            name=_host_name(self.domain_name),
            base_url=self.base_url.strip(),
            parser=self.parser_name,
            enabled=self.is_active,
            use=SourceUse.PRODUCTS,
            user_agent=self.user_agent,
            delay_ms=self.crawl_delay_seconds * SECOND_MS,
            concurrency=self.max_concurrent_requests,
            recrawl=settings.text(),
            robots_url=self.robots_txt_url,
        )


class DomainChanges(msgspec.Struct, frozen=True, kw_only=True):
    """Changes of a domain: absent fields keep their values."""

    base_url: BaseUrl | UnsetType = UNSET
    parser_name: ParserName | UnsetType = UNSET
    crawl_delay_seconds: Delay | UnsetType = UNSET
    max_concurrent_requests: Concurrency | UnsetType = UNSET
    default_crawl_frequency: Every | UnsetType = UNSET
    is_active: IsActive | UnsetType = UNSET
    robots_txt_url: RobotsUrl | UnsetType | None = UNSET
    user_agent: Agent | UnsetType = UNSET
    maintenance_start: WindowStart | UnsetType | None = UNSET
    maintenance_end: WindowEnd | UnsetType | None = UNSET
    proxy_strategy: Rotation | UnsetType = UNSET
    proxy_country: ProxyCountry | UnsetType | None = UNSET
    allow_direct: Direct | UnsetType = UNSET
    store_images: Images | UnsetType = UNSET
    parse_retry: AfterParser | UnsetType = UNSET
    recur_after_failure: AfterFailure | UnsetType = UNSET

    def amend(self, row: SourceRow) -> SourceRow:
        """Return a source with these changes."""
        facts = self._set({"base_url": "base_url", "parser_name": "parser", "is_active": "enabled"})
        facts |= self._set({"user_agent": "user_agent", "max_concurrent_requests": "concurrency"})
        facts |= self._set({"robots_txt_url": "robots_url"})
        if self.crawl_delay_seconds is not UNSET:
            facts["delay_ms"] = self.crawl_delay_seconds * SECOND_MS
        if facts.get("parser", row.parser) != row.parser:
            facts["config"] = "{}"
        return msgspec.structs.replace(row, recrawl=self._settings(row).text(), **facts)

    def _settings(self, row: SourceRow) -> RecrawlSettings:
        old = recrawl_settings(row.recrawl)
        start = old.window.from_second if old.window else None
        end = old.window.to_second if old.window else None
        start = start if self.maintenance_start is UNSET else self.maintenance_start
        end = end if self.maintenance_end is UNSET else self.maintenance_end
        facts = self._set(
            {
                "default_crawl_frequency": "frequency",
                "proxy_strategy": "strategy",
                "allow_direct": "direct",
                "store_images": "images",
                "parse_retry": "parser_retry",
                "recur_after_failure": "again_after_failure",
            }
        )
        if self.proxy_country is not UNSET:
            facts["country"] = self.proxy_country.upper() if self.proxy_country else None
        return msgspec.structs.replace(old, window=_window(start, end), **facts)

    def _set(self, names: dict[str, str]) -> dict[str, Any]:
        """Return the fields that were sent, under our names."""
        sent = {ours: getattr(self, theirs) for theirs, ours in names.items()}
        plain = {name: str(value) if isinstance(value, Frequency) else value for name, value in sent.items()}
        return {name: value for name, value in plain.items() if value is not UNSET}


def _window(start: int | None, end: int | None) -> DailyWindow | None:
    """Return the daily window of maintenance; raise `InvalidRequest` for half a window."""
    if start is None and end is None:
        return None
    if start is None or end is None or start == end:
        text = "maintenance_start and maintenance_end must be given together, and must differ"
        raise InvalidRequest([Problem("maintenance_start", "check", text)])
    return DailyWindow(int(start), int(end))
