"""Plans of runs, as they are stored in the runs' rows."""

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any

import msgspec

from longline.model.frontier.host import DEFAULT_CONCURRENCY, DEFAULT_DELAY_MS
from longline.model.proxies import Strategy

MAX_REDIRECTS = 20
"""Largest number of redirects from one URL, as in browsers, unless a door has a bound of its own."""

BY_NAME = "by_name"
"""Key of a parser's config for pages that were requested by URL: the URL need not look like an article's."""


class Proxying(msgspec.Struct, frozen=True):
    """The choice of proxies for requests, if any: a source's own, else the proxies of `pool`, else all.

    With `direct` a request goes without a proxy where none is usable; otherwise the request fails.
    """

    use: bool = True
    pool: str | None = None
    country: str | None = None
    strategy: Strategy = "lru"
    direct: bool = False


class CrawlPlan(msgspec.Struct, frozen=True):
    """The reach and the politeness of a crawl.

    A URL belongs to the crawl when its host is one of `hosts` or lies in one of `domains` (both empty: any host), when
    the URL matches no `exclude` pattern and, if there are `include` patterns, one of them.

    If there are `content_types`, content of other types is skipped. Each request takes the next of `user_agents`, if
    any; robots.txt is read for the first. `headers` go with every request. With `conditional` a page that was fetched
    before is requested only if it changed since; with `sitemaps` the sitemaps of a site's robots.txt are read; with
    `lenient` an unreachable robots.txt forbids nothing. `source_id` is the run's source, the proxies of which are used,
    and `source_name` the source's name. With `discover` links to other sites are followed up.

    `parsing` is the config of parsers, a JSON object; without `parse` pages are archived and not parsed. `max_body`
    replaces the usual bound of a page's size. URLs that match a pattern of `never` are not fetched, even if they were
    admitted; URLs of more than `max_url` characters, unless 0, are not admitted. With `render` a browser renders the
    page. A page waits `retry_seconds` after a retryable failure, doubled each time up to `retry_most`; reasons in
    `final` are not retried, and with `insistent` nearly all are.
    Every pause is longer by up to `jitter_ms`, at random.
    """

    seeds: tuple[str, ...]
    max_depth: int = 2
    hosts: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    robots: bool = True
    delay_ms: int = DEFAULT_DELAY_MS
    jitter_ms: int = 0
    concurrency: int = DEFAULT_CONCURRENCY
    max_attempts: int = 4
    max_redirects: int = MAX_REDIRECTS
    content_types: tuple[str, ...] = ()
    headers: tuple[tuple[str, str], ...] = ()
    user_agents: tuple[str, ...] = ()
    cookies: bool = True
    conditional: bool = True
    sitemaps: bool = False
    proxying: Proxying = Proxying()
    source_id: int | None = None
    parsing: str = "{}"
    parse: bool = True
    max_body: int | None = None
    never: tuple[str, ...] = ()
    retry_seconds: float = 1.0
    retry_most: float = 3600.0
    final: tuple[str, ...] = ()
    insistent: bool = False
    lenient: bool = False
    source_name: str = ""
    max_url: int = 0
    render: bool = False
    discover: bool = False

    @property
    def config(self) -> Mapping[str, Any]:
        """Return the config of parsers: the choice of a parser, and selectors."""
        return _config(self.parsing)

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
