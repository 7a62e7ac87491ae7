"""Where sources are looked up: our own table, or another service that keeps them."""

from typing import Protocol

from longline.model.source import CrawlSource


class Directory(Protocol):
    """Looks sources up."""

    async def get(self, ref: str) -> CrawlSource | None:
        """One source; None when there is none. Raises `Unavailable` when that cannot be known."""
        ...

    async def page(self, number: int) -> list[CrawlSource]:
        """Sources in pages from 1 on; an empty one is behind the last."""
        ...
