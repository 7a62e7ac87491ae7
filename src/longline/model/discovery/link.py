"""Links that lead away from the sources they were found on, and the domains they lead to."""

from collections import Counter
from collections.abc import Iterable
from typing import Literal
from urllib.parse import urlsplit

import msgspec

from longline.model.duration import DAY_MS

DomainStatus = Literal["active", "ignored", "reviewing", "promoted"]
"""A person's judgement of a domain; `active` domains are not judged yet."""


FIRST_DEPTH = 1
"""The depth of a start page in the API; inside, its depth is 0."""


class NewLink(msgspec.Struct, frozen=True, gc=False):
    """A link that a page of a run had."""

    run_id: int
    url: str
    parent_url: str
    depth: int


class LinkDetails(msgspec.Struct, frozen=True, gc=False):
    """The response to the URL of a link; a failure has no content type."""

    url: str
    status: int
    content_type: str | None


class LinkRow(msgspec.Struct, frozen=True):
    """A link as stored; `taken` once a schedule was made of it."""

    id: int
    uid: str
    source: str
    source_name: str
    url: str
    parent_url: str | None
    depth: int
    domain: str
    status: int | None
    content_type: str | None
    taken: bool
    priority: int
    discovered_at: int
    updated_at: int


class LinkQuery(msgspec.Struct, frozen=True):
    """The filter and the order of a list of links."""

    taken: bool | None = None
    source: str | None = None
    source_name: str | None = None
    domain: str | None = None
    search: str | None = None
    sort: Literal["urgency", "updated_at", "discovered_at"] = "urgency"
    rising: bool = False


class DomainRow(msgspec.Struct, frozen=True):
    """The links to a domain in figures; `sources` are the sources of the links."""

    domain: str
    status: DomainStatus
    links: int
    source_count: int
    depth: float
    first_seen: int
    last_seen: int
    ok: float
    html: float
    notes: str | None
    sources: tuple[str, ...] = ()
    is_source: bool = False

    def quality(self, now: int) -> int:
        """Return the quality of the domain, from 0 to 100."""
        days = (now - self.last_seen) / DAY_MS
        score = 30 * self.ok + 30 * self.html + 20 * min(self.source_count / 5, 1) + 20 * max(0.0, 1 - days / 30)
        return min(int(score), 100)


class DomainQuery(msgspec.Struct, frozen=True):
    """The filter and the order of a list of domains."""

    domain: str | None = None
    status: str | None = None
    search: str | None = None
    sort: Literal["links", "source_count", "last_seen", "domain"] = "links"
    rising: bool = False


def domain_of(url: str) -> str:
    """Return the domain of a link: its host's name, without a leading www."""
    return (urlsplit(url).hostname or "").removeprefix("www.")


def clusters(urls: Iterable[str]) -> list[tuple[str, int]]:
    """Return the first path segments of URLs with their counts, most frequent first."""
    found = Counter(_pattern(urlsplit(url).path) for url in urls)
    return sorted(found.items(), key=lambda one: (-one[1], one[0]))


def _pattern(path: str) -> str:
    first, _, rest = path.lstrip("/").partition("/")
    return f"/{first}/*" if rest else f"/{first}"
