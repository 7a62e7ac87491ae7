"""Feeds that a page declares by `link rel=alternate`."""

from longline.model.urls.link_resolution import join_all
from longline.plugins.page import Page

_TYPES = ("rss+xml", "atom+xml", "rdf+xml", "feed+json")
_ALTERNATE = "link[rel~='alternate' i][href][type]"


def feed_links(page: Page) -> list[str]:
    """Return the feeds that a page declares by `link rel=alternate`, in order."""
    named = (node.attributes for node in page.css(_ALTERNATE) if _is_feed(node.attributes.get("type")))
    return join_all(page.base, (link["href"] or "" for link in named))


def _is_feed(kind: str | None) -> bool:
    return any(known in (kind or "").lower() for known in _TYPES)
