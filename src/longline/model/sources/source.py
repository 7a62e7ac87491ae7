"""Sources: sites to crawl, with their settings."""

from typing import Any

import msgspec

from longline.model.duration import parse_duration
from longline.model.errors import BadInput, Conflict
from longline.model.feeds.feed_poll import POLL_INTERVAL_MS
from longline.model.sources.source_uses import SourceUse, decode_uses, encode_uses, with_use

MAX_RATE_LIMIT_SECONDS = 86_400.0
"""Longest pause between two requests that a source may ask for: a day."""

DEFAULT_DEPTH = 3
DEFAULT_CONCURRENCY = 2
WARN_ABOVE_DEPTH = 5
"""Depth of the crawl of a source and concurrency at its host if it sets none; a greater depth gives a warning."""


def rate_limit_seconds(text: str) -> float:
    """Return the pause of a rate limit; raise `BadInput` for text that is no duration of up to a day."""
    try:
        seconds = parse_duration(text)
    except ValueError:
        raise BadInput(f"rate_limit must be a duration such as 10s, or a number of seconds, not {text!r}") from None
    if seconds > MAX_RATE_LIMIT_SECONDS:
        raise BadInput(f"rate_limit must not be more than a day, not {text!r}")
    return seconds


class NewSource(msgspec.Struct, frozen=True):
    """A source to be registered; `config` is a JSON object, `budget` bounds the URLs of all its runs together.

    The config is that of the named parser; `sinks` is a JSON array of names of sinks, `proxy_pools` one of names of
    pools: the pool of its requests, then its fallbacks. A source that another service keeps has a `ref`, its id there.
    Without a slug, one is made of the name.
    """

    name: str
    base_url: str
    parser: str | None = None
    config: str = "{}"
    crawl: str = "{}"
    enabled: bool = True
    feed_url: str | None = None
    identity_key: str | None = None
    budget: int | None = None
    feed_wanted: bool = True
    feed_every_ms: int = POLL_INTERVAL_MS
    ref: str | None = None
    slug: str | None = None
    use: SourceUse = SourceUse.INTERVAL
    extension: str | None = None
    extension_config: str = "{}"
    user_agent: str | None = None
    delay_ms: int | None = None
    concurrency: int | None = None
    sinks: str = "[]"
    recrawl: str = "{}"
    proxy_pools: str = "[]"
    robots_url: str | None = None


class SourceRow(msgspec.Struct, frozen=True):
    """A source as stored; ids count from 100000. `admitted` is kept only while there is a budget.

    A remote source has a `ref`, its id at the source manager. `feed_listed` is whether the source manager has the feed
    polled, and `reported_…` are the facts of the feed that the source manager knows: differences are still to be sent.
    `succeeded_at` and `failed_at` are the last ends of its runs, `failures` the number of failed runs since the last
    success.
    """

    id: int
    name: str
    base_url: str
    config: str
    enabled: bool
    created_at: int
    updated_at: int
    parser: str | None = None
    sinks: str = "[]"
    crawl: str = "{}"
    disabled_at: int | None = None
    disable_reason: str | None = None
    feed_url: str | None = None
    feed_disabled_at: int | None = None
    feed_disable_reason: str | None = None
    identity_key: str | None = None
    budget: int | None = None
    admitted: int = 0
    feed_wanted: bool = True
    feed_every_ms: int = POLL_INTERVAL_MS
    ref: str | None = None
    feed_listed: bool = True
    reported_feed_url: str | None = None
    reported_feed_disabled_at: int | None = None
    uid: str | None = None
    succeeded_at: int | None = None
    failed_at: int | None = None
    failures: int = 0
    slug: str = ""
    uses: str = encode_uses([SourceUse.INTERVAL])
    extension: str | None = None
    extension_config: str = "{}"
    user_agent: str | None = None
    delay_ms: int | None = None
    concurrency: int | None = None
    proxy_pools: str = "[]"
    robots_url: str | None = None
    robots_text: str | None = None
    robots_fetched_at: int | None = None
    recrawl: str = "{}"

    def has_use(self, use: SourceUse) -> bool:
        """Return whether an API crawls the source."""
        return use in decode_uses(self.uses)

    @property
    def public_id(self) -> str:
        """Return the public id of the source: the source manager's, else our own."""
        return self.ref or self.uid or str(self.id)


def joined(row: SourceRow, new: NewSource) -> SourceRow:
    """Return a source that one more API uses; its settings stay, and settings that it lacks come from `new`."""
    names = ("user_agent", "delay_ms", "concurrency", "identity_key", "feed_url")
    facts: dict[str, Any] = {name: getattr(new, name) for name in names if getattr(row, name) is None}
    if row.parser is None and new.parser is not None:
        facts |= {"parser": new.parser, "config": new.config}
    if new.extension is not None or new.extension_config != "{}":
        # The two belong together: an extension with the config of another would fail every run.
        facts |= {"extension": new.extension, "extension_config": new.extension_config}
    facts |= {name: getattr(new, name) for name in ("crawl", "recrawl") if getattr(row, name) == "{}"}
    facts |= {name: getattr(new, name) for name in ("sinks", "proxy_pools") if getattr(row, name) == "[]"}
    return msgspec.structs.replace(row, uses=with_use(row.uses, new.use), **facts)


class RemoteSource(msgspec.Struct, frozen=True, kw_only=True):
    """A source as its source manager describes it; `feed_listed` is None where it was not asked for."""

    ref: str
    name: str
    base_url: str
    parser: str | None = None
    config: str = "{}"
    names_parser: bool = False
    crawl: str = "{}"
    enabled: bool = True
    disabled_at: int | None = None
    disable_reason: str | None = None
    feed_url: str | None = None
    feed_wanted: bool = True
    feed_every_ms: int = POLL_INTERVAL_MS
    feed_disabled_at: int | None = None
    feed_disable_reason: str | None = None
    identity_key: str | None = None
    feed_listed: bool | None = None


class SourceChange(msgspec.Struct, frozen=True):
    """The last change of a source; versions of one part rise in the order of commits."""

    part: int
    source_id: int
    version: int


class SourceQuery(msgspec.Struct, frozen=True):
    """The filter and the order of a list of sources; `search` is a part of the name or the URL, `name` of the name.

    `failing` chooses sources whose last run failed, or the others. `after` continues a list by name behind a name.
    """

    search: str | None = None
    enabled: bool | None = None
    feed_active: bool | None = None
    sort: str = "name"
    falling: bool = False
    name: str | None = None
    failing: bool | None = None
    after: str | None = None


class FailingSource(msgspec.Struct, frozen=True):
    """A source whose last runs failed; `failures` is their number since the last success."""

    id: int
    name: str
    enabled: bool
    disable_reason: str | None
    failures: int
    failed_at: int | None
    succeeded_at: int | None


class CrawlSource(msgspec.Struct, frozen=True, kw_only=True):
    """A source as a crawl needs it. `ref` is its public id; `id` the id of its row, None where it has no row.

    A browser renders the pages of a `dynamic` source. `parser` is the name of its parser, empty for the closest match,
    and `config` the config of that parser; `reading` are settings for the parsers that make documents of its pages;
    `discover` allows to follow up links to other sites. A source that `is_scheduled` has an automatic schedule.
    """

    ref: str
    name: str
    url: str
    id: int | None = None
    enabled: bool = True
    rate_limit: str = ""
    max_depth: int = 0
    dynamic: bool = False
    priority: str = "normal"
    allow: tuple[str, ...] = ()
    disallow: tuple[str, ...] = ()
    parser: str = ""
    config: dict[str, Any] = {}
    reading: dict[str, Any] = {}
    discover: bool = False
    delay_ms: int | None = None
    concurrency: int | None = None
    user_agent: str = ""
    proxy_pools: tuple[str, ...] = ()
    is_scheduled: bool = True


class Taken(Conflict):
    """A unique field whose value another source has; `field` names the field."""

    def __init__(self, field: str, text: str) -> None:
        super().__init__(text)
        self.field = field
