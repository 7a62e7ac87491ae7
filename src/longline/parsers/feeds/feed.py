"""Feeds: RSS of every version, Atom and JSON Feed, including documents that are not well-formed.

XML is read by feedparser, which handles many deviations from the standards; `xmlfeed.py` bounds its cost.
"""

import asyncio
import re
from calendar import timegm
from collections.abc import AsyncIterator, Iterable, Iterator
from importlib import import_module
from typing import Any

from msgspec import to_builtins

from longline.html.type_sniffing import is_json, root_of
from longline.model.feeds.feed import Enclosure, Feed, FeedEntry, NotAFeed
from longline.model.urls.link_resolution import join
from longline.model.whole_number import whole_number
from longline.parsers.dates import timestamp_of
from longline.parsers.feeds.jsonfeed import is_json_feed, read_json_feed
from longline.parsers.feeds.update_interval import update_interval_ms
from longline.parsers.markup import one_line, plain_text, sanitized
from longline.plugins import Item, Link, Page, parser

_ROOTS = frozenset(("rss", "rdf", "feed", "channel"))
_ADDRESS_AND_NAME = re.compile(r"(?P<address>[^\s@]+@[^\s@]+)\s*\((?P<name>[^()]*)\)")
_DIGITS = re.compile(r"[\d-]+", re.ASCII)
_WEB = ("http://", "https://")


def is_feed(page: Page) -> bool:
    """Return whether a page begins as a feed does; its Content-Type is ignored."""
    return root_of(page.body) in _ROOTS or is_json_feed(page.body)


@parser("feed", types=("*",), when=is_feed)
async def feed(page: Page) -> AsyncIterator[Item | Link]:
    """Yield the feed as an item, an item for each entry, and a link to each entry's page."""
    found = await asyncio.to_thread(read_feed, page.body, page.url, page.content_type)
    about = to_builtins(found)
    entries = about.pop("entries")
    yield Item("feed", **about | {"at": page.url, "count": len(entries)})
    for entry in entries:
        yield Item("entry", **entry, feed=page.url)
        if entry["url"]:
            yield Link(entry["url"])


def read_feed(body: bytes, url: str = "", content_type: str = "") -> Feed:
    """Read the feed in a document fetched from `url`; raises `NotAFeed` and nothing else."""
    if is_json(body):
        return read_json_feed(body, url)
    try:
        # Imported on first use: the library takes a tenth of a second, and most crawls meet no feed.
        xmlfeed = import_module("longline.parsers.feeds.xmlfeed")
        made, flaw = xmlfeed.read_xml(body, url, content_type)
        return _feed(made, url, root_of(body), flaw)
    except NotAFeed:
        raise
    except Exception as error:  # the library raises many kinds of exceptions for broken documents
        raise NotAFeed(f"the feed cannot be read: {error!r}") from error


def _feed(made: Any, url: str, root: str, flaw: str | None) -> Feed:
    about, version = made["feed"], str(made.get("version") or "")
    if not version and not made["entries"] and not (about and root in _ROOTS):
        raise NotAFeed("the document is no feed")
    kind = version.rstrip("0123456789nu") or ("cdf" if root == "channel" else "rss")
    number = version.removeprefix(kind).rstrip("nu")
    return Feed(
        kind,
        f"{number[0]}.{number[1:]}" if number else "",
        title=_title(about, "title"),
        description=next(filter(None, (_described(about, name, url) for name in ("subtitle", "info", "summary"))), ""),
        link=_web(_text(about, "link")),
        url=_first_link(about, "self", url),
        language=_text(about, "language"),
        updated=_timestamp(about, "updated", "published"),
        every_ms=update_interval_ms(
            _text(about, "ttl"), _text(about, "sy_updateperiod"), _text(about, "sy_updatefrequency")
        ),
        hub=_first_link(about, "hub", url),
        image=_href(about.get("image"), url) or _web(_text(about, "logo")) or _web(_text(about, "icon")),
        authors=_authors(about),
        entries=tuple(_entry(entry, url) for entry in made["entries"]),
        flaw=flaw,
    )


def _entry(entry: Any, url: str) -> FeedEntry:
    name = _text(entry, "id")
    contents = [part for part in entry.get("content") or () if part.get("value")]
    return FeedEntry(
        url=_entry_url(entry, url) or _web(name),
        id=name,
        title=_title(entry, "title"),
        # Without a summary detail, the type and base of the content apply.
        summary=_markup(entry.get("summary_detail") or next(iter(contents), None), _text(entry, "summary"), url),
        content="\n".join(_markup(part, part["value"], url) for part in contents),
        authors=_authors(entry),
        published=_timestamp(entry, "published", "created"),
        updated=_timestamp(entry, "updated"),
        categories=_without_duplicates(tag.get("term") or tag.get("label") or "" for tag in entry.get("tags") or ()),
        enclosures=tuple(_enclosures(entry, url)),
        images=_without_duplicates(_images(entry, url)),
        language=_text(entry, "language") or _language(entry),
    )


def _entry_url(entry: Any, url: str) -> str | None:
    link = _text(entry, "link")
    # The library takes every id for a link unless isPermaLink is false; most ids are only names.
    if entry.get("guidislink") and not link.lower().startswith((*_WEB, "/")):
        return None
    return _whole(link, url)


def _text(thing: Any, name: str) -> str:
    # Not by the library's own getter, which substitutes one date for another with a warning.
    value = dict.get(thing, name)
    return value.strip() if isinstance(value, str) else ""


def _title(thing: Any, name: str) -> str:
    detail = dict.get(thing, f"{name}_detail") or {}
    text = _text(thing, name)
    return one_line(text) if detail.get("type") == "text/plain" else plain_text(text)


def _described(thing: Any, name: str, url: str) -> str:
    return _markup(dict.get(thing, f"{name}_detail"), _text(thing, name), url)


def _markup(detail: Any, text: str, url: str) -> str:
    if not detail or detail.get("type") == "text/plain":
        return text
    return sanitized(text, detail.get("base") or url)


def _language(entry: Any) -> str:
    return next(
        (d["language"] for d in (entry.get("title_detail"), entry.get("summary_detail")) if _has_language(d)), ""
    )


def _has_language(detail: Any) -> bool:
    return bool(detail and detail.get("language"))


def _web(text: str) -> str | None:
    return _unescape(text) if text.lower().startswith(_WEB) else None


def _unescape(url: str) -> str:
    """Return a URL that was escaped twice as it was meant: the library does so in `link` elements, and nowhere else."""
    return url.replace("&amp;", "&")


def _href(thing: Any, base: str) -> str | None:
    href = str(thing.get("href") or thing.get("url") or "").strip() if isinstance(thing, dict) else ""
    return _whole(href, base)


def _whole(text: str, base: str) -> str | None:
    return (_web(text) or join(base, _unescape(text))) if text else None


def _first_link(about: Any, rel: str, base: str) -> str | None:
    return next((_href(link, base) for link in about.get("links") or () if link.get("rel") == rel), None)


def _authors(thing: Any) -> tuple[str, ...]:
    # The form that RSS requires, which the library misreads if the address has a long top-level domain.
    if by := _ADDRESS_AND_NAME.fullmatch(_text(thing, "author")):
        return _without_duplicates([by["name"] or by["address"]])
    people = thing.get("authors") or ()
    named = _without_duplicates(
        person.get("name") or person.get("email") or person.get("href") or "" for person in people
    )
    return named or _without_duplicates([_text(thing, "author")])


def _enclosures(entry: Any, base: str) -> Iterator[Enclosure]:
    for link in entry.get("links") or ():
        if link.get("rel") == "enclosure" and (where := _href(link, base)):
            length = whole_number(str(link.get("length") or "").strip())
            yield Enclosure(where, str(link.get("type") or ""), length)


def _images(entry: Any, base: str) -> Iterator[str | None]:
    yield _href(entry.get("image"), base)
    for picture in entry.get("media_thumbnail") or ():
        yield _href(picture, base)
    for medium in entry.get("media_content") or ():
        if medium.get("medium") == "image" or str(medium.get("type")).startswith("image/"):
            yield _href(medium, base)
    for enclosure in _enclosures(entry, base):
        if enclosure.type.startswith("image/"):
            yield enclosure.url


def _without_duplicates(texts: Iterable[str | None]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(bare for text in texts if text and (bare := text.strip())))


def _timestamp(thing: Any, *names: str) -> int | None:
    """Return the first valid date among these fields, in milliseconds rounded down to seconds."""
    moments = (read for name in names for read in (timestamp_of(_text(thing, name)), _of_digits(thing, name)))
    return next((moment // 1000 * 1000 for moment in moments if moment is not None), None)


def _of_digits(thing: Any, name: str) -> int | None:
    """Return a date of digits only, such as an ordinal date, as parsed by the library, which knows many such forms."""
    parsed = dict.get(thing, f"{name}_parsed")
    if parsed is None or not _DIGITS.fullmatch(_text(thing, name)):
        return None
    try:
        return timegm(parsed) * 1000
    except (ValueError, OverflowError, TypeError):
        return None
