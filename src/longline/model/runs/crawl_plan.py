"""Plans of runs, as they are stored in the runs' rows."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Literal

import msgspec

from longline.model.downloads.download_plan import DownloadPlan
from longline.model.proxies.proxy import Strategy
from longline.model.runs.crawl_bounds import CrawlBounds
from longline.model.runs.end_judgement import EndRules

MAX_REDIRECTS = 20
"""Largest number of redirects from one URL, as in browsers, unless a door has a bound of its own."""

SITEMAPS = "sitemaps"
"""Key of a parser's config for runs that need sitemaps read, whichever parser the pages have."""

BY_NAME = "by_name"
"""Key of a parser's config for pages that were requested by URL: the URL need not look like an article's."""


ParserRetry = Literal["never", "recrawl", "reparse"]
"""Retry of a page whose parser failed."""


class Proxying(msgspec.Struct, frozen=True):
    """The choice of proxies for requests, if any: a source's own, else the proxies of `pool`, else all.

    The pools `fallbacks` are used in their order when no proxy of `pool`, and of its own fallbacks, is usable. With
    `direct` a request goes without a proxy where none is usable; otherwise the request fails.
    """

    use: bool = True
    pool: str | None = None
    fallbacks: tuple[str, ...] = ()
    country: str | None = None
    strategy: Strategy = "lru"
    direct: bool = False
    shared: bool = False
    """Whether all proxies are also those of other sources; otherwise a proxy of a source serves no other one."""

    max_proxies: int = 10
    """Largest number of proxies for one request, unless the pool is larger: a dead site looks like a dead proxy."""

    own: str = ""
    """URI of the one proxy of all requests, locked by the vault; no other run uses it."""

    @classmethod
    def by_pools(cls, names: Sequence[str]) -> "Proxying":
        """Return the choice of the first of these pools, with the others as its fallbacks; any proxies for none."""
        return cls(pool=names[0], fallbacks=tuple(names[1:])) if names else cls()


class Politeness(msgspec.Struct, frozen=True):
    """The rules of requests to one host."""

    robots: bool = True
    """Whether robots.txt is obeyed."""

    lenient_robots: bool = False
    """Whether an unreachable robots.txt forbids nothing."""

    delay_ms: int = 1000
    """Pause between the starts of two requests."""

    jitter_ms: int = 0
    """Largest random addition to every pause."""

    concurrency: int = 1
    """Requests at once."""


class Retries(msgspec.Struct, frozen=True):
    """The retries of a page after a failure."""

    max_attempts: int = 4
    """Attempts in all, the first one included."""

    delay_seconds: float = 1.0
    """Pause before the first retry; each later pause is twice as long."""

    max_delay_seconds: float = 3600.0
    """Longest pause before a retry."""

    final: tuple[str, ...] = ()
    """Reasons that are not retried."""

    insistent: bool = False
    """Whether nearly all reasons are retried."""

    statuses: tuple[int, ...] = ()
    """Statuses of responses that are retried besides the usual ones."""

    parser: ParserRetry = "never"
    """Retry after a failed parser: none, a new fetch of the page, or another parse of the archived page."""


class FetchOptions(msgspec.Struct, frozen=True):
    """The form of requests, and the responses that are accepted."""

    max_redirects: int = MAX_REDIRECTS
    """Largest number of redirects from one URL."""

    content_types: tuple[str, ...] = ()
    """Accepted types of content, if there are any; other content is skipped."""

    max_body_bytes: int | None = None
    """Size of the largest accepted page, in place of the worker's."""

    headers: tuple[tuple[str, str], ...] = ()
    """Headers of every request."""

    user_agents: tuple[str, ...] = ()
    """User agents that requests take in turn, if there are any; robots.txt is read for the first."""

    cookies: bool = True
    """Whether cookies are kept and sent."""

    conditional: bool = True
    """Whether a page that was fetched before is requested only if it changed since."""

    render: bool = False
    """Whether a browser renders the page."""

    credentials: str = ""
    """Headers and cookies for the sites of the seeds, locked by the vault."""

    proxying: Proxying = Proxying()
    """Choice of proxies."""


class ParseOptions(msgspec.Struct, frozen=True):
    """The parsing of pages."""

    enabled: bool = True
    """Whether pages are parsed, not only archived."""

    config: str = "{}"
    """Config of parsers, a JSON object."""

    stores_images: bool = False
    """Whether images of products are stored as objects."""

    files: tuple[str, ...] = ()
    """Files of custom parsers by their absolute paths, and modules by their names, of a crawl by command."""


class CrawlPlan(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The configuration of a run.

    A stored plan of another form is refused: without its bounds a crawl would reach any host.
    """

    seeds: tuple[str, ...]
    """URLs that the crawl starts from."""

    bounds: CrawlBounds = CrawlBounds()
    politeness: Politeness = Politeness()
    retries: Retries = Retries()
    fetch: FetchOptions = FetchOptions()
    parse: ParseOptions = ParseOptions()
    end: EndRules = EndRules()

    downloads: DownloadPlan | None = None
    """Rules of a run of downloads; None for a run whose pages are fetched, parsed and archived."""

    objects: str = ""
    """Begin of the keys under which pages other than HTML are also stored as objects; empty for no objects."""

    page_log_level: Literal["debug", "info"] = "debug"
    """Level of entries about pages without a failure in the run's log; below `info` they are not written by default."""

    always_logged: bool = False
    """Whether the start, the end and the failed attempts of pages are logged, whatever the filter of run logs is."""

    single: bool = False
    """Whether every seed stays one task, which follows its redirects to other hosts and keeps its URL."""

    widened: bool = False
    """Whether URLs that narrower bounds refused have still to be admitted."""

    source_id: int | None = None
    """Source of the run, the proxies of which are used."""

    source_name: str = ""
    """Name of the source."""

    @property
    def config(self) -> Mapping[str, Any]:
        """Return the config of parsers: the choice of a parser, and selectors."""
        return _config(self.parse.config)

    def config_at(self, depth: int) -> Mapping[str, Any]:
        """Return the config of parsers for a page: `BY_NAME` holds for start pages only, which have the depth 0."""
        if not depth or BY_NAME not in self.config:
            return self.config
        return {name: value for name, value in self.config.items() if name != BY_NAME}

    def text(self) -> str:
        """Return the plan as JSON for its row."""
        return msgspec.json.encode(self, order="sorted").decode()

    @classmethod
    def read(cls, text: str) -> "CrawlPlan":
        """Return the plan of a stored text."""
        return msgspec.json.decode(text, type=cls)


@lru_cache(256)
def _config(text: str) -> Mapping[str, Any]:
    # Cached, since every page reads the config of its plan.
    return MappingProxyType(msgspec.json.decode(text, type=dict[str, Any]))
