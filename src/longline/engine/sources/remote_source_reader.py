"""The sources of a source manager, read page by page and validated."""

from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

import msgspec

from longline.model.duration import MINUTE_MS
from longline.model.errors import Unavailable
from longline.model.feeds.feed_poll import POLL_INTERVAL_MS
from longline.model.sources.remote_source import MAX_INTERVAL_MINUTES, MAX_PAGES, MAX_TEXT_CHARS
from longline.model.sources.source import RemoteSource
from longline.model.timestamps import w3c_moment
from longline.model.urls.url import BadUrl, parse
from longline.model.urls.url_credentials import without_credentials
from longline.ports.sources import Described, ListedSource

COLUMN_FIELDS = frozenset(
    {
        *("id", "name", "url", "enabled", "disabled_at", "disable_reason", "identity_key", "created_at", "updated_at"),
        *("feed_url", "feed_poll_interval_minutes", "feed_disabled_at", "feed_disable_reason", "parser", "config"),
    }
)
"""Fields that have a column of their own; all others are crawl settings of a source."""

KINDS: dict[str, type] = {
    "selectors": dict,
    "rules": dict,
    "article_url_patterns": list,
    "sitemap_url": str,
    "max_depth": int,
}
"""Types of the fields that are read; a value of another type is left out."""


class SourceListing(NamedTuple):
    """The sources of a list by their ids, and whether the list is whole."""

    sources: dict[str, Described]
    whole: bool


async def listing(page: Callable[[int], Awaitable[ListedSource]]) -> SourceListing:
    """Read every page of a list that may change meanwhile; raise `Unavailable` when the list has no end.

    The list is whole when as many sources were seen as its total says, and every page had the same total: when a
    source is removed, the sources behind it move up, and the next page misses one.
    """
    found: dict[str, Described] = {}
    totals: set[int | None] = set()
    for number in range(1, MAX_PAGES + 1):
        listed = await page(number)
        new = {ref: one for one in listed.sources if (ref := ref_of(one)) and ref not in found}
        found |= new
        totals.add(listed.total)
        if not listed.sources or _is_last(number, listed, len(found)):
            return SourceListing(found, whole=len(totals) == 1 and len(found) >= (listed.total or 0))
        if not new:
            raise Unavailable(f"the source service repeats itself: {len(found)} sources on {number} pages")
    raise Unavailable(f"the list of the source service has no end: {len(found)} sources on {MAX_PAGES} pages")


def _is_last(number: int, listed: ListedSource, seen: int) -> bool:
    """Return whether a page is the last one, by the totals that it has."""
    if listed.total is None and listed.pages is None:
        return False
    return number >= (listed.pages or 0) and seen >= (listed.total or 0)


def ref_of(said: Described) -> str:
    """Return the id of a source; empty when the source has no usable id."""
    ref = said.get("id")
    text = str(ref) if isinstance(ref, str | int) and not isinstance(ref, bool) else ""
    return text if len(text) <= MAX_TEXT_CHARS and "\0" not in text else ""


def read_source(said: Described, listed: bool | None = None) -> RemoteSource | None:
    """Return a source manager's source, or None for an invalid one. `listed` is whether its feed is to be polled."""
    ref, name, url = ref_of(said), _text(said, "name"), _text(said, "url")
    if not ref or not name or len(name) > MAX_TEXT_CHARS or not url or not is_url(url):
        return None
    feed_url = _without_secret(_text(said, "feed_url"))
    if feed_url is None:
        listed = True  # there is no feed to list, but a search may find one
    elif not is_url(feed_url):
        listed = False
    enabled = said.get("enabled") is not False
    return RemoteSource(
        ref=ref,
        name=name,
        base_url=url,
        parser=_text(said, "parser"),
        config=_config(said),
        names_parser="parser" in said,
        crawl=_crawl(said),
        enabled=enabled,
        disabled_at=None if enabled else _moment(said, "disabled_at"),
        disable_reason=None if enabled else _text(said, "disable_reason"),
        feed_url=feed_url,
        feed_wanted=said.get("ingestion_mode") != "spider",
        feed_every_ms=_every_ms(said.get("feed_poll_interval_minutes")),
        feed_disabled_at=_moment(said, "feed_disabled_at"),
        feed_disable_reason=_text(said, "feed_disable_reason"),
        identity_key=_text(said, "identity_key"),
        feed_listed=listed,
    )


def is_url(text: str) -> bool:
    """Return whether a text is a URL that can be fetched."""
    try:
        parse(text)
    except BadUrl:
        return False
    return True


def _without_secret(text: str | None) -> str | None:
    """Return a URL unless it has a user name or a password in it: stored URLs are shown."""
    return text if text is None or without_credentials(text) == text else None


def _crawl(said: Described) -> str:
    kept = {
        name: value
        for name, value in said.items()
        if name not in COLUMN_FIELDS and isinstance(value, KINDS.get(name, object))
    }
    if isinstance(sitemap := kept.get("sitemap_url"), str) and _without_secret(sitemap) is None:
        del kept["sitemap_url"]
    return msgspec.json.encode(kept, order="sorted").decode()


def _config(said: Described) -> str:
    """Return the config of a source's parser as JSON; a value that is no object is none."""
    found = said.get("config")
    return msgspec.json.encode(found if isinstance(found, dict) else {}, order="sorted").decode()


def _text(said: Described, name: str) -> str | None:
    found = said.get(name)
    return found.replace("\0", "") or None if isinstance(found, str) else None


def _moment(said: Described, name: str) -> int | None:
    found = said.get(name)
    return w3c_moment(found) if isinstance(found, str) else None


def _every_ms(minutes: Any) -> int:
    usable = isinstance(minutes, int) and not isinstance(minutes, bool) and 0 < minutes <= MAX_INTERVAL_MINUTES
    return minutes * MINUTE_MS if usable else POLL_INTERVAL_MS
