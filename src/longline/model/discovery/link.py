"""Links that lead away from the sources they were found on, and the domains they lead to."""

from collections import Counter
from collections.abc import Iterable
from typing import Literal
from urllib.parse import urlsplit

import msgspec

DomainStatus = Literal["active", "ignored", "reviewing", "promoted"]
"""What a person thinks of a domain; nobody has thought about an active one."""

DAY_MS = 86_400_000

FIRST_DEPTH = 1
"""The depth of a start page as it is told of outside; to us it is 0."""


class NewLink(msgspec.Struct, frozen=True, gc=False):
    """A link that a page of a run had."""

    run_id: int
    url: str
    parent_url: str
    depth: int


class LinkDetails(msgspec.Struct, frozen=True, gc=False):
    """How the page answered that a link may lead to; a failure has no content type."""

    url: str
    status: int
    content_type: str | None


class LinkRow(msgspec.Struct, frozen=True):
    """A link as stored; `taken` once somebody made a schedule of it."""

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
    """Which links somebody wants to see, and in which order."""

    taken: bool | None = None
    source: str | None = None
    source_name: str | None = None
    domain: str | None = None
    search: str | None = None
    sort: Literal["urgency", "updated_at", "discovered_at"] = "urgency"
    rising: bool = False


class DomainRow(msgspec.Struct, frozen=True):
    """What the links to a domain add up to; `sources` are those they were found on."""

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
        """How promising it is, from 0 to 100."""
        days = (now - self.last_seen) / DAY_MS
        score = 30 * self.ok + 30 * self.html + 20 * min(self.source_count / 5, 1) + 20 * max(0.0, 1 - days / 30)
        return min(int(score), 100)


class DomainQuery(msgspec.Struct, frozen=True):
    """Which domains somebody wants to see, and in which order."""

    domain: str | None = None
    status: str | None = None
    search: str | None = None
    sort: Literal["links", "source_count", "last_seen", "domain"] = "links"
    rising: bool = False


def domain_of(url: str) -> str:
    """The domain that a link leads to: its host's name, without a leading www."""
    return (urlsplit(url).hostname or "").removeprefix("www.")


def clusters(urls: Iterable[str]) -> list[tuple[str, int]]:
    """Where on a domain links lead to: first parts of paths, and how many lead there, most first."""
    found = Counter(_pattern(urlsplit(url).path) for url in urls)
    return sorted(found.items(), key=lambda one: (-one[1], one[0]))


def _pattern(path: str) -> str:
    first, _, rest = path.lstrip("/").partition("/")
    return f"/{first}/*" if rest else f"/{first}"
