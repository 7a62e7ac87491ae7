"""Where sources are looked up: our own table, or a curator's."""

from typing import Protocol

from longline.model.source import CrawlSource


class Directory(Protocol):
    """Looks sources up."""

    async def get(self, ref: str) -> CrawlSource | None:
        """One source; None when there is none. Raises `Unavailable` when that cannot be known."""
        ...

    async def called(self, source_id: int) -> str:
        """What the source of that number is called outside."""
        ...

    async def all(self) -> list[CrawlSource]:
        """Every source. Raises `Unavailable` when they cannot be listed."""
        ...
