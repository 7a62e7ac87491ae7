"""A feed is a list of what is new on a site: RSS, Atom or JSON Feed, as one shape."""

import msgspec

from longline.model.errors import LonglineError


class NotAFeed(LonglineError):
    """A document that no feed can be read from."""


class Enclosure(msgspec.Struct, frozen=True, gc=False):
    """A file that belongs to an entry; `length` is what the feed says of it."""

    url: str
    type: str = ""
    length: int | None = None


class FeedEntry(msgspec.Struct, frozen=True):
    """One thing that is new. Times are UTC milliseconds; `title` is plain text, `summary` and `content` may be HTML."""

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
    """A feed as it was read; `link` is the site it tells of, `url` where it says that it lies itself.

    `every_ms` is how often it says that it changes, and `hub` where one may ask to be told. `flaw` says what is wrong
    with a document that could be read all the same.
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
