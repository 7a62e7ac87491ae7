"""What a curator says of sources, read page by page and made out."""

from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

import msgspec

from longline.model.errors import Unavailable
from longline.model.feeds.feed_poll import MINUTE, POLL_EVERY
from longline.model.sources.source import RemoteSource
from longline.model.timestamps import w3c_moment
from longline.model.url import BadUrl, parse, without_credentials
from longline.ports.sources import Described, ListedSource

MOST_PAGES = 1000
MOST_MINUTES = 525_600

OF_COLUMNS = frozenset(
    {
        *("id", "name", "url", "enabled", "disabled_at", "disable_reason", "identity_key", "created_at", "updated_at"),
        *("feed_url", "feed_poll_interval_minutes", "feed_disabled_at", "feed_disable_reason"),
    }
)
"""Fields that have a place of their own; all others say how a source is crawled."""

KINDS: dict[str, type] = {
    "selectors": dict,
    "rules": dict,
    "article_url_patterns": list,
    "sitemap_url": str,
    "max_depth": int,
}
"""Fields that are looked into; what is of another kind is left out."""

LONGEST = 500
"""Characters of an id or a name: a database has to find them again."""


class SourceListing(NamedTuple):
    """Sources by their ids, and whether these are all there are."""

    sources: dict[str, Described]
    whole: bool


async def listing(page: Callable[[int], Awaitable[ListedSource]]) -> SourceListing:
    """Every page of a list that may change meanwhile; raises `Unavailable` when it has no end.

    It is whole when as many were seen as there are, and as many are there at its end as at its beginning: when one
    goes, those behind it move up, and whoever reads on passes one over.
    """
    found: dict[str, Described] = {}
    totals: set[int | None] = set()
    for number in range(1, MOST_PAGES + 1):
        listed = await page(number)
        new = {ref: one for one in listed.sources if (ref := ref_of(one)) and ref not in found}
        found |= new
        totals.add(listed.total)
        if not listed.sources or _is_last(number, listed, len(found)):
            return SourceListing(found, whole=len(totals) == 1 and len(found) >= (listed.total or 0))
        if not new:
            raise Unavailable(f"the source service repeats itself: {len(found)} sources on {number} pages")
    raise Unavailable(f"the list of the source service has no end: {len(found)} sources on {MOST_PAGES} pages")


def _is_last(number: int, listed: ListedSource, seen: int) -> bool:
    """Whether nothing is behind a page, by all that it says of it."""
    if listed.total is None and listed.pages is None:
        return False
    return number >= (listed.pages or 0) and seen >= (listed.total or 0)


def ref_of(said: Described) -> str:
    """The id of a source; empty when it has none that can be used."""
    ref = said.get("id")
    text = str(ref) if isinstance(ref, str | int) and not isinstance(ref, bool) else ""
    return text if len(text) <= LONGEST and "\0" not in text else ""


def made_out(said: Described, listed: bool | None = None) -> RemoteSource | None:
    """A source as a curator describes it; None for what is none. `listed` is whether its feed is to be polled."""
    ref, name, url = ref_of(said), _text(said, "name"), _text(said, "url")
    if not ref or not name or len(name) > LONGEST or not url or not is_url(url):
        return None
    feed_url = _without_secret(_text(said, "feed_url"))
    if feed_url is None:
        listed = True  # there is nothing to list, but something may be found
    elif not is_url(feed_url):
        listed = False
    enabled = said.get("enabled") is not False
    return RemoteSource(
        ref=ref,
        name=name,
        base_url=url,
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
    """Whether it is one that can be fetched."""
    try:
        parse(text)
    except BadUrl:
        return False
    return True


def _without_secret(text: str | None) -> str | None:
    """Return a URL unless it has a user name or a password in it: what is stored is shown."""
    return text if text is None or without_credentials(text) == text else None


def _crawl(said: Described) -> str:
    kept = {
        name: value
        for name, value in said.items()
        if name not in OF_COLUMNS and isinstance(value, KINDS.get(name, object))
    }
    if isinstance(sitemap := kept.get("sitemap_url"), str) and _without_secret(sitemap) is None:
        del kept["sitemap_url"]
    return msgspec.json.encode(kept, order="sorted").decode()


def _text(said: Described, name: str) -> str | None:
    found = said.get(name)
    return found.replace("\0", "") or None if isinstance(found, str) else None


def _moment(said: Described, name: str) -> int | None:
    found = said.get(name)
    return w3c_moment(found) if isinstance(found, str) else None


def _every_ms(minutes: Any) -> int:
    usable = isinstance(minutes, int) and not isinstance(minutes, bool) and 0 < minutes <= MOST_MINUTES
    return minutes * MINUTE if usable else POLL_EVERY
