"""Crawl settings of a source: one typed Struct, sent by clients and stored as JSON."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from longline.html.css_selectors import check_selectors
from longline.model.duration import MINUTE_MS
from longline.model.errors import BadInput
from longline.model.patterns import MAX_PATTERNS, check_patterns
from longline.model.sources.source import rate_limit_seconds
from longline.model.urls.url import BadUrl, parse
from longline.model.urls.url_credentials import without_credentials
from longline.surfaces.intervals.field_types import MAX_NUMBER, Key, Text

IngestionMode = Annotated[
    Literal["feed", "spider", "both"], Meta(description="Whether URLs come from the feed, from crawls, or from both.")
]
RenderMode = Annotated[
    Literal["static", "dynamic"], Meta(description="Whether a browser renders the pages (`dynamic`) or not.")
]
Json = dict[str, Any]


def _feed_problem(text: str) -> str | None:
    try:
        parse(text or "https://none.example/")
    except BadUrl as bad:
        return str(bad)
    return None


def _sitemap_problem(text: str) -> str | None:
    if without_credentials(text) == text:
        return None
    return str(BadUrl("credentials", text, "it has a user name or a password in it"))


def _patterns_problem(name: str, found: object) -> str | None:
    try:
        check_patterns(name, found)
    except BadInput as bad:
        return str(bad)
    return None


def _article_patterns_problem(found: list[str]) -> str | None:
    return _patterns_problem("article_url_patterns", found)


def _rules_problem(rules: Json) -> str | None:
    lists = {name: rules[name] for name in ("allow", "disallow") if rules.get(name) is not None}
    texts = (_patterns_problem(f"rules.{name}", found) for name, found in lists.items())
    return next((text for text in texts if text is not None), None)


def _selectors_problem(groups: Json) -> str | None:
    try:
        check_selectors(groups)
    except BadInput as bad:
        return str(bad)
    return None


def _rate_problem(rate: str | float) -> str | None:
    text = str(rate).strip()
    try:
        if text:
            rate_limit_seconds(text)
    except BadInput as error:
        return str(error)
    return None


_PATTERN_LIST: Json = {"type": ["array", "null"], "items": {"type": "string"}, "maxItems": MAX_PATTERNS}

Depth = Annotated[
    int,
    Meta(ge=-MAX_NUMBER, le=MAX_NUMBER, description="Depth of a crawl: 0 means the default of 3, -1 no limit."),
]
Selectors = Annotated[
    Json,
    Meta(description="CSS selectors in the groups `article`, `list` and `page`.", extra={"check": _selectors_problem}),
]
ArticlePatterns = Annotated[
    list[str],
    Meta(
        max_length=MAX_PATTERNS,
        description="Regular expressions (RE2) of the URLs of articles.",
        extra={"check": _article_patterns_problem},
    ),
]
Rules = Annotated[
    Json,
    Meta(
        description="Regular expressions (RE2) of the URLs that a crawl may follow, and may not.",
        extra={"check": _rules_problem},
        extra_json_schema={"properties": {"allow": _PATTERN_LIST, "disallow": _PATTERN_LIST}},
    ),
]
SitemapUrl = Annotated[Text, Meta(description="The URL of a sitemap.", extra={"check": _sitemap_problem})]
FeedUrl = Annotated[
    Text, Meta(description="The URL of an RSS or Atom feed; empty or null for none.", extra={"check": _feed_problem})
]
FeedMinutes = Annotated[
    int,
    Meta(
        ge=1,
        le=MAX_NUMBER,
        description="Minutes between polls of the feed.",
        extra={"texts": {"minimum": "feed_poll_interval_minutes must be positive"}},
    ),
]
RateLimit = Annotated[
    str | int | float,
    Meta(
        description="Delay between requests: a duration such as `10s`, or seconds; up to a day, empty for the default.",
        extra={"check": _rate_problem, "texts": {"type": "rate_limit must be a number or a string"}},
    ),
]


TemplateHint = Annotated[Text, Meta(description="The name of a template of selectors.")]
ExtractionProfile = Annotated[Json, Meta(description="Kept for other services.")]
AllowsDiscovery = Annotated[bool, Meta(description="Whether links to other sites are followed up.")]
SourceType = Annotated[Text, Meta(description="The kind of the source, such as `news`.")]
Region = Annotated[Text, Meta(description="A region with which the documents of the source are marked.")]
SourcePriority = Annotated[
    Text, Meta(description="`critical`, `high`, `normal` or `low`: the interval of the automatic job goes by it.")
]
Times = Annotated[list[Any], Meta(description="Kept for other services.")]


class CrawlSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Settings for crawls of a source. They are stored as they were sent; an absent one has its default."""

    max_depth: Depth | UnsetType | None = UNSET
    selectors: Selectors | UnsetType | None = UNSET
    article_url_patterns: ArticlePatterns | UnsetType | None = UNSET
    rules: Rules | UnsetType | None = UNSET
    sitemap_url: SitemapUrl | UnsetType | None = UNSET
    ingestion_mode: IngestionMode | UnsetType | None = UNSET
    render_mode: RenderMode | UnsetType | None = UNSET
    template_hint: TemplateHint | UnsetType | None = UNSET
    extraction_profile: ExtractionProfile | UnsetType | None = UNSET
    allow_source_discovery: AllowsDiscovery | UnsetType | None = UNSET
    type: SourceType | UnsetType | None = UNSET
    indigenous_region: Region | UnsetType | None = UNSET
    time: Times | UnsetType | None = UNSET
    priority: SourcePriority | UnsetType | None = UNSET
    rate_limit: RateLimit | UnsetType | None = UNSET


ParserName = Annotated[
    Key, Meta(description="The parser of the pages; empty or null for the one with the closest match.")
]
SinkNames = Annotated[
    list[str], Meta(description="Names of the sinks that get the items of the source's runs. Replaced as a whole.")
]
ParserConfig = Annotated[
    Json, Meta(description="Config of the named parser, which checks the keys and values. Replaced as a whole.")
]


DEFAULT_SETTINGS: Mapping[str, Any] = {
    "max_depth": 0,
    "selectors": {},
    "article_url_patterns": [],
    "rules": {},
    "ingestion_mode": "feed",
    "render_mode": "static",
    "allow_source_discovery": False,
    "type": "news",
    "time": [],
    "priority": "normal",
    "rate_limit": "",
}
"""Defaults of the settings that have one."""


READ_ONLY: Mapping[str, Any] = {"readOnly": True}
_IGNORED = "Ignored: set by other operations."
ShownTime = Annotated[str, Meta(description=_IGNORED, extra_json_schema=READ_ONLY)]
ShownText = Annotated[str, Meta(description=_IGNORED, extra_json_schema=READ_ONLY)]
ShownNumber = Annotated[int, Meta(description=_IGNORED, extra_json_schema=READ_ONLY)]


class FeedSettings(CrawlSettings, frozen=True, kw_only=True):
    """Crawl settings with those of the source's feed."""

    feed_url: FeedUrl | UnsetType | None = UNSET
    feed_poll_interval_minutes: FeedMinutes | None = None

    def feed(self) -> Json:
        """Return the sent settings of the feed, by the names of the model."""
        found: Json = {}
        if self.feed_url is not UNSET:
            found["feed_url"] = parse(self.feed_url).href if self.feed_url else None
        if isinstance(self.ingestion_mode, str):
            found["feed_wanted"] = self.ingestion_mode != "spider"
        if self.feed_poll_interval_minutes is not None:
            found["feed_every_ms"] = self.feed_poll_interval_minutes * MINUTE_MS
        return found


class ParserSettings(FeedSettings, frozen=True, kw_only=True):
    """Settings of crawls and of the feed, with the parser of the source, its config and its sinks."""

    parser: ParserName | UnsetType | None = UNSET
    config: ParserConfig | UnsetType | None = UNSET
    sinks: SinkNames | UnsetType | None = UNSET

    def parsing(self) -> Json:
        """Return the sent settings of parser and sinks; a source without a parser has no config."""
        found: Json = {}
        if self.parser is not UNSET:
            found["parser"] = self.parser or None
            if not self.parser:
                found["config"] = "{}"
        if self.config is not UNSET:
            found["config"] = msgspec.json.encode(self.config or {}, order="sorted").decode()
        if self.sinks is not UNSET:
            found["sinks"] = msgspec.json.encode(self.sinks or []).decode()
        return found


class SentSource(ParserSettings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All settings, and fields that other operations set: a client may send back the source that it got."""

    id: ShownText | None = None
    created_at: ShownTime | None = None
    updated_at: ShownTime | None = None
    disabled_at: ShownTime | None = None
    disable_reason: ShownText | None = None
    feed_disabled_at: ShownTime | None = None
    feed_disable_reason: ShownText | None = None
    admitted: ShownNumber | None = None


def merge_settings(stored: str, sent: CrawlSettings) -> str:
    """Return the stored settings of a source as JSON, updated with the sent ones."""
    found: Json = msgspec.json.decode(stored)
    for name in CrawlSettings.__struct_fields__:
        value = getattr(sent, name)
        if name == "rate_limit":
            if value is not None and value is not UNSET:
                found[name] = str(value).strip()
        elif value is not UNSET:
            found[name] = value
    return msgspec.json.encode(found).decode()


def stored_settings(stored: str) -> CrawlSettings:
    """Return stored settings. Another service may keep values of other types: they are left out."""
    found: Json = msgspec.json.decode(stored)
    try:
        return msgspec.convert(found, CrawlSettings)
    except msgspec.ValidationError:
        return msgspec.convert({name: value for name, value in found.items() if _fits(name, value)}, CrawlSettings)


def _fits(name: str, value: Any) -> bool:
    try:
        msgspec.convert({name: value}, CrawlSettings)
    except msgspec.ValidationError:
        return False
    return True
