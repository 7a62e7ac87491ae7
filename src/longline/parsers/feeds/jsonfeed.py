"""JSON Feed, versions 1.0 and 1.1."""

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from longline.html.type_sniffing import is_json
from longline.model.feeds.feed import Enclosure, Feed, FeedEntry, NotAFeed
from longline.model.urls.link_resolution import join
from longline.parsers.dates import timestamp_of
from longline.parsers.markup import plain_text, sanitized

_VERSION = re.compile(r"https?://(?:www\.)?jsonfeed\.org/version/(\d+(?:\.\d+)?)")
_NUMBER = re.compile(r"(1(?:\.[01])?)$")


def is_json_feed(body: bytes) -> bool:
    """Return whether a document is JSON and names jsonfeed.org."""
    # The slashes may be escaped.
    return is_json(body) and b"jsonfeed.org" in body


def read_json_feed(body: bytes, url: str = "") -> Feed:
    """Read the feed in a JSON document fetched from `url`; raises `NotAFeed` and nothing else."""
    try:
        made = msgspec.json.decode(body.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace"))
    except (msgspec.DecodeError, RecursionError) as error:
        raise NotAFeed(f"not JSON: {error}") from None
    version = _VERSION.match(_text(made, "version")) if isinstance(made, dict) else None
    if version is None and isinstance(made, dict) and isinstance(made.get("items"), list):
        # Some feeds give only the number, which suffices if the caller expects a feed.
        version = _NUMBER.match(_text(made, "version"))
    if version is None:
        raise NotAFeed("the document does not say which version of JSON Feed it is")
    return Feed(
        "json",
        version[1] if "." in version[1] else f"{version[1]}.0",
        title=_text(made, "title"),
        description=_text(made, "description"),
        link=_whole(url, made, "home_page_url"),
        url=_whole(url, made, "feed_url"),
        language=_text(made, "language"),
        hub=next((_text(hub, "url") for hub in _things(made, "hubs") if _text(hub, "url")), None),
        image=_whole(url, made, "icon") or _whole(url, made, "favicon"),
        authors=_authors(made),
        entries=tuple(_entry(item, url, _text(made, "language")) for item in _things(made, "items")),
    )


def _entry(item: dict[str, Any], url: str, language: str) -> FeedEntry:
    name = _text(item, "id")
    images = (_whole(url, item, "image"), _whole(url, item, "banner_image"))
    html = _text(item, "content_html")
    return FeedEntry(
        url=_whole(url, item, "url") or (name if name.startswith(("http://", "https://")) else None),
        id=name,
        title=plain_text(_text(item, "title")) if "<" in _text(item, "title") else _text(item, "title"),
        summary=_text(item, "summary"),
        content=sanitized(html, url) if html else _text(item, "content_text"),
        authors=_authors(item),
        published=timestamp_of(_text(item, "date_published")),
        updated=timestamp_of(_text(item, "date_modified")),
        categories=tuple(str(tag) for tag in _list(item, "tags") if isinstance(tag, str) and tag.strip()),
        enclosures=tuple(_enclosures(item, url)),
        images=tuple(dict.fromkeys(image for image in images if image)),
        language=_text(item, "language") or language,
    )


def _enclosures(item: dict[str, Any], url: str) -> Iterator[Enclosure]:
    for attached in _things(item, "attachments"):
        where, size = _whole(url, attached, "url"), attached.get("size_in_bytes")
        if where:
            length = int(size) if isinstance(size, int | float) and 0 <= size < 2**63 else None
            yield Enclosure(where, _text(attached, "mime_type"), length)


def _authors(thing: dict[str, Any]) -> tuple[str, ...]:
    one = thing.get("author")  # version 1.0 has one, version 1.1 has a list
    people = [*_things(thing, "authors"), *([one] if isinstance(one, dict) else [])]
    return tuple(dict.fromkeys(name for person in people if (name := _text(person, "name") or _text(person, "url"))))


def _text(thing: dict[str, Any], name: str) -> str:
    value = thing.get(name)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)  # an id that should have been text
    return value.strip() if isinstance(value, str) else ""


def _whole(base: str, thing: dict[str, Any], name: str) -> str | None:
    text = _text(thing, name)
    if text.startswith(("http://", "https://")):
        return text
    return join(base, text) if text else None


def _list(thing: dict[str, Any], name: str) -> list[Any]:
    value = thing.get(name)
    return value if isinstance(value, list) else []


def _things(thing: dict[str, Any], name: str) -> list[dict[str, Any]]:
    return [one for one in _list(thing, name) if isinstance(one, dict)]
