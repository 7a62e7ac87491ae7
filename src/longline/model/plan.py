"""What a run was asked to do, as it is kept in the run's row."""

import msgspec

from longline.model.host import DEFAULT_CONCURRENCY, DEFAULT_DELAY_MS


class CrawlPlan(msgspec.Struct, frozen=True):
    """How far a crawl goes and how politely.

    A URL belongs to it when its host is one of `hosts` or lies in one of `domains` (both empty: any host), when no
    `exclude` pattern is found in it and, if there are `include` patterns, one of them is.
    """

    seeds: tuple[str, ...]
    max_depth: int = 2
    hosts: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    robots: bool = True
    delay_ms: int = DEFAULT_DELAY_MS
    concurrency: int = DEFAULT_CONCURRENCY
    max_attempts: int = 4

    def text(self) -> str:
        """The plan as the text that is stored."""
        return msgspec.json.encode(self, order="sorted").decode()

    @classmethod
    def read(cls, text: str) -> "CrawlPlan":
        """A stored plan."""
        return msgspec.json.decode(text, type=cls)
