"""Feeds: lists of a site's new pages in RSS, Atom or JSON Feed, in one shape."""

import msgspec

from longline.model.errors import LonglineError


class NotAFeed(LonglineError):
    """A document that no feed can be read from."""


class Enclosure(msgspec.Struct, frozen=True, gc=False):
    """A file that belongs to an entry; `length` is the length that the feed states."""

    url: str
    type: str = ""
    length: int | None = None


class FeedEntry(msgspec.Struct, frozen=True):
    """One entry of a feed. Times are UTC milliseconds; `title` is plain text, `summary` and `content` may be HTML."""

    url: str | None = None
    id: str = ""
    title: str = ""
    summary: str = ""
    content: str = ""
    authors: tuple[str, ...] = ()
    published: int | None = None
    updated: int | None = None
    categories: tuple[str, ...] = ()
    enclosures: tuple[Enclosure, ...] = ()
    images: tuple[str, ...] = ()
    language: str = ""


class Feed(msgspec.Struct, frozen=True):
    """A feed as it was read; `link` is the URL of its site, `url` the URL that the feed states for itself.

    `every_ms` is the update interval that the feed states, and `hub` its WebSub hub. `flaw` names the fault of a
    document that could be read all the same.
    """

    kind: str
    version: str
    title: str = ""
    description: str = ""
    link: str | None = None
    url: str | None = None
    language: str = ""
    updated: int | None = None
    every_ms: int | None = None
    hub: str | None = None
    image: str | None = None
    authors: tuple[str, ...] = ()
    entries: tuple[FeedEntry, ...] = ()
    flaw: str | None = None
