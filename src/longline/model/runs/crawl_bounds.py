"""Bounds of a run's URLs: its hosts and domains, its patterns, and guards against crawler traps.

A trap is a site with endless URLs: a calendar, a relative link that nests into itself, a filter in every
combination. The bounds are far beyond the needs of honest sites.
"""

from collections import Counter
from functools import lru_cache

import msgspec

from longline.model.patterns import Patterns
from longline.model.urls.url import Url, target

BOUND_REASONS = frozenset({"offsite", "excluded", "not_included"})
"""Reasons of bounds that a person can widen; a run that keeps refused URLs stores the URLs that they refused."""

DEPTH = "depth"
"""Reason of URLs that are deeper than the depth limit."""

FILE_EXTENSIONS = (
    *("pdf", "xml", "json", "css", "js", "png", "jpg", "jpeg", "gif", "svg", "ico", "woff"),
    *("zip", "mp3", "mp4"),
)
"""Extensions of files that are not pages."""

FILES = rf"(?i)^https?://[^/]+[^?#]*\.(?:{'|'.join(FILE_EXTENSIONS)})(?:[?#]|$)"
"""Pattern of the addresses of files that are not pages."""

DOWNLOADS = r"(?i)^https?://[^?#]*(?:downloadmp3|download\.php|downloadfile)"
"""Pattern of addresses that serve files under other names."""

UNBOUNDED_DEPTH = 1_000_000
"""Depth that no page of a site has."""

MAX_SEGMENTS = 32
MAX_REPEATS = 4
MAX_PARAMETERS = 32


class CrawlBounds(msgspec.Struct, frozen=True):
    """The URLs that belong to a crawl."""

    max_depth: int = 2
    """Largest number of links between a seed and a page."""

    hosts: tuple[str, ...] = ()
    """Hosts of the crawl; together with `domains` empty: any host."""

    domains: tuple[str, ...] = ()
    """Domains of the crawl, each with its subdomains."""

    include: tuple[str, ...] = ()
    """Patterns of which a URL must match one, if there are any."""

    exclude: tuple[str, ...] = ()
    """Patterns of which a URL must match none."""

    never: tuple[str, ...] = ()
    """Patterns of URLs that are not fetched, even if they were admitted."""

    max_url_chars: int = 0
    """Length of the longest URL that is admitted; 0 for any length."""

    sitemaps: bool = False
    """Whether the sitemaps that a site's robots.txt names are read."""

    discover: bool = False
    """Whether links to other sites are followed up."""

    sitemap_only: bool = False
    """Whether only pages that sitemaps list belong to the crawl."""

    keep_refused: bool = False
    """Whether refused URLs are stored, so that wider bounds can admit them later."""

    def for_sitemaps(self) -> "CrawlBounds":
        """Return the bounds of sitemaps themselves: patterns are meant for pages, a sitemap may be on another host."""
        return msgspec.structs.replace(self, include=(), exclude=(), hosts=(), domains=())


class Bounds:
    """The compiled bounds of one plan."""

    def __init__(self, bounds: CrawlBounds) -> None:
        self._hosts = frozenset(bounds.hosts)
        self._domains = tuple(domain.lower().lstrip(".") for domain in bounds.domains)
        # If no include pattern can be compiled, no URL is included: a crawl stays too small rather than too large.
        self._include = Patterns(bounds.include) if bounds.include else None
        self._exclude = Patterns(bounds.exclude)
        self._max_url_chars = bounds.max_url_chars
        self._never = Patterns(bounds.never)

    def refusal(self, url: Url) -> str | None:
        """Return the reason why a URL does not belong to the run, or None when it does."""
        if not self._on_site(url):
            return "offsite"
        if 0 < self._max_url_chars < len(url.href):
            return "too_long"
        if self.excludes(url.href):
            return "excluded"
        if self._include is not None and not self._include.found_in(url.href):
            return "not_included"
        return "trap" if is_trap(url.href) else None

    def excludes(self, href: str) -> bool:
        """Return whether a pattern excludes a URL."""
        return self._exclude.found_in(href)

    def forbids(self, href: str) -> bool:
        """Return whether a URL must not be fetched even if it was admitted."""
        return self._never.found_in(href)

    def _on_site(self, url: Url) -> bool:
        if not self._hosts and not self._domains:
            return True
        name = url.hostname
        return url.host in self._hosts or any(name == d or name.endswith(f".{d}") for d in self._domains)


@lru_cache(maxsize=256)
def bounds_of(bounds: CrawlBounds) -> Bounds:
    """Return the bounds of a plan, compiled once."""
    return Bounds(bounds)


def is_trap(href: str) -> bool:
    """Return whether a URL looks like a crawler trap: too deep, too repetitive, or with too many parameters."""
    path, _, query = target(href).partition("?")
    if query.count("&") >= MAX_PARAMETERS:
        return True
    if path.count("/") <= MAX_REPEATS:
        return False
    segments = [segment for segment in path.split("/") if segment]
    return len(segments) > MAX_SEGMENTS or max(Counter(segments).values(), default=0) > MAX_REPEATS
