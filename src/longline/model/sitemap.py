"""A sitemap is a list of a site's pages, or of further sitemaps."""

import msgspec

from longline.model.errors import LonglineError

MAX_PLACES = 50_000
MAX_BYTES = 50 * 1024 * 1024
"""The protocol's own bounds for one file, undone of its compression."""


class NotASitemap(LonglineError):
    """A document that no sitemap can be read from."""


class News(msgspec.Struct, frozen=True, gc=False):
    """What a news sitemap says of an article."""

    title: str = ""
    publication: str = ""
    language: str = ""
    published: int | None = None
    keywords: tuple[str, ...] = ()


class Video(msgspec.Struct, frozen=True, gc=False):
    """What a video sitemap says of a video; either of its URLs may be missing."""

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


class Place(msgspec.Struct, frozen=True):
    """One URL of a sitemap; `changed` is UTC milliseconds, None where the date is missing or is none."""

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

    `flaw` says what is wrong with a document that could be read all the same, such as more URLs than are allowed.
    """

    kind: str
    places: tuple[Place, ...] = ()
    index: bool = False
    flaw: str | None = None
