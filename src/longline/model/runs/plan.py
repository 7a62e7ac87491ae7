"""What a run was asked to do, as it is kept in the run's row."""

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any

import msgspec

from longline.model.frontier.host import DEFAULT_CONCURRENCY, DEFAULT_DELAY_MS
from longline.model.proxies import Strategy

MAX_REDIRECTS = 20
"""Redirects that are followed from one URL, as in browsers, unless a door has a bound of its own."""

BY_NAME = "by_name"
"""The word by which parsers are told that a page was asked for by name: its address need not look like an article's."""


class Proxying(msgspec.Struct, frozen=True):
    """Whether requests leave by proxies, and by which: a source's own, else those of `pool`, else all there are.

    With `direct` a request goes without one where none of them can go; otherwise it fails by that.
    """

    use: bool = True
    pool: str | None = None
    country: str | None = None
    strategy: Strategy = "lru"
    direct: bool = False


class CrawlPlan(msgspec.Struct, frozen=True):
    """How far a crawl goes and how politely.

    A URL belongs to it when its host is one of `hosts` or lies in one of `domains` (both empty: any host), when no
    `exclude` pattern is found in it and, if there are `include` patterns, one of them is.

    Content of other types than `content_types`, where there are any, is left out. Each request takes the next of
    `user_agents`, where there are any; robots.txt is read for the first. `headers` go with every request. With
    `conditional` a page that was fetched before is asked for only if it changed since; with `sitemaps` those that a
    site's robots.txt names are read; for one that is `lenient`, a robots.txt that cannot be had forbids nothing.
    `source_id` is the run's: its proxies are used; `source_name` is its name. With `discover` links that lead away are
    followed up.

    `parsing` is what its config says to parsers, a JSON object; without `parse` pages are kept and nothing is made of
    them. `max_body` is for pages that are larger than pages usually may be. URLs in which a pattern of `never` is found
    are not asked for, however they came here, and those of more than `max_url` characters, unless that is 0, are not
    admitted. With `render` a page is what a browser makes of it. After a failure that may pass a page waits
    `retry_seconds`, doubled each time up to `retry_most`; reasons in `final` do not pass, and for one that is
    `insistent` nearly all do.
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
        """What parsers are told: which of them, and their selectors."""
        return _config(self.parsing)

    def config_at(self, depth: int) -> Mapping[str, Any]:
        """Return what parsers are told of a page: what was asked for by name has no depth, what was found has one."""
        if not depth or BY_NAME not in self.config:
            return self.config
        return {name: value for name, value in self.config.items() if name != BY_NAME}

    def text(self) -> str:
        """The plan as the text that is stored."""
        return msgspec.json.encode(self, order="sorted").decode()

    @classmethod
    def read(cls, text: str) -> "CrawlPlan":
        """A stored plan."""
        return msgspec.json.decode(text, type=cls)


@lru_cache(256)
def _config(text: str) -> Mapping[str, Any]:
    # A plan is asked for it at every page.
    return MappingProxyType(msgspec.json.decode(text, type=dict[str, Any]))
