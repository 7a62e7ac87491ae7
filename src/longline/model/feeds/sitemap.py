"""Sitemaps: lists of a site's pages, or of further sitemaps."""

from urllib.parse import urlsplit

import msgspec

from longline.model.duration import HOUR_MS
from longline.model.errors import LonglineError
from longline.model.urls.link_resolution import join

MAX_PLACES = 50_000
MAX_BYTES = 50 * 1024 * 1024
"""Bounds of the sitemap protocol for one file, decompressed."""

SITEMAP_INTERVAL_MS = 6 * HOUR_MS
NEWS_WINDOW_MS = 48 * HOUR_MS
"""Times between two reads of a source's sitemaps, and since the last change of a page that is still admitted."""

MAX_LEVELS = 3
"""Largest depth of nested sitemap indexes."""

DEFAULT_PATHS = ("/sitemap.xml", "/news-sitemap.xml")
"""Paths of the sitemaps of a source that names none."""

_SCHEMES = ("http://", "https://")
_WITHOUT_SCHEME = "www."
URL_BEGINNINGS = (*_SCHEMES, _WITHOUT_SCHEME)
"""Beginnings of URLs in a list; many lists leave out the scheme."""


class NotASitemap(LonglineError):
    """A document that no sitemap can be read from."""


class News(msgspec.Struct, frozen=True, gc=False):
    """The facts of a news sitemap about an article."""

    title: str = ""
    publication: str = ""
    language: str = ""
    published: int | None = None
    keywords: tuple[str, ...] = ()


class Video(msgspec.Struct, frozen=True, gc=False):
    """The facts of a video sitemap about a video; either of its URLs may be missing."""

    title: str = ""
    description: str = ""
    thumbnail: str | None = None
    content: str | None = None
    player: str | None = None
    published: int | None = None


class Alternate(msgspec.Struct, frozen=True, gc=False):
    """The same page in another language or for another device."""

    url: str
    language: str = ""


class SitemapEntry(msgspec.Struct, frozen=True):
    """One URL of a sitemap; `changed` is UTC milliseconds, None where the date is missing or invalid."""

    url: str
    changed: int | None = None
    frequency: str = ""
    priority: float | None = None
    news: News | None = None
    images: tuple[str, ...] = ()
    videos: tuple[Video, ...] = ()
    alternates: tuple[Alternate, ...] = ()


class Sitemap(msgspec.Struct, frozen=True):
    """A sitemap as it was read; the places of an `index` are further sitemaps.

    `flaw` names the fault of a document that could be read all the same, such as more URLs than are allowed.
    """

    kind: str
    places: tuple[SitemapEntry, ...] = ()
    index: bool = False
    flaw: str | None = None

    def since(self, cutoff: int) -> list[str]:
        """Return the URLs of places that changed after `cutoff`, or that have no date."""
        return [place.url for place in self.places if place.changed is None or place.changed > cutoff]


class SitemapRow(msgspec.Struct, frozen=True):
    """The reading of a source's sitemaps: `run_id` is the run under way, `level` the number of indexes above."""

    source_id: int
    level: int = 0
    run_id: int | None = None
    due_at: int = 0


def asked(row: SitemapRow, _now: int, run_id: int, level: int, after: int | None) -> SitemapRow | None:
    """Return the row with a run under way that follows run `after`; None when another run is under way."""
    return msgspec.structs.replace(row, run_id=run_id, level=level) if row.run_id == after else None


def answered(row: SitemapRow, now: int, run_id: int | None) -> SitemapRow | None:
    """Return the row after its last run; None when the run is no longer the row's."""
    return SitemapRow(row.source_id, due_at=now + SITEMAP_INTERVAL_MS) if row.run_id == run_id else None


def may_be_sitemap(url: str) -> bool:
    """Return whether a URL looks like that of a sitemap."""
    path = urlsplit(url).path.lower()
    return "sitemap" in path or path.endswith((".xml", ".xml.gz", ".txt.gz"))


def fetchable_url(text: str, base: str) -> str | None:
    """Return an absolute URL that can be fetched, or None; a missing scheme or host is added."""
    if text.lower().startswith(_WITHOUT_SCHEME):
        text = f"//{text}"
    return join(base or text, text) if text.lower().startswith((*_SCHEMES, "/")) else None
