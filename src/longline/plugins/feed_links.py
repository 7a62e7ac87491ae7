"""URLs of a site's feeds: declared by its pages, or the usual paths."""

from longline.model.url import join_all
from longline.plugins.page import Page

FEED_PATHS = ("/feed", "/rss", "/feed.xml", "/rss.xml", "/atom.xml", "/index.xml")

_TYPES = ("rss+xml", "atom+xml", "rdf+xml", "feed+json")
_ALTERNATE = "link[rel~='alternate' i][href][type]"


def feed_links(page: Page) -> list[str]:
    """Return the feeds that a page declares by `link rel=alternate`, in order."""
    named = (node.attributes for node in page.css(_ALTERNATE) if _is_feed(node.attributes.get("type")))
    return join_all(page.base, (link["href"] or "" for link in named))


def usual_feeds(site: str) -> list[str]:
    """Return the URLs at which sites usually have their feed."""
    return join_all(site, FEED_PATHS)


def _is_feed(kind: str | None) -> bool:
    return any(known in (kind or "").lower() for known in _TYPES)
