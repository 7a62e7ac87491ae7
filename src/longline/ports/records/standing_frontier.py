"""The standing frontier: URLs that were given to us one by one, outside any crawl."""

from typing import NamedTuple, Protocol

from longline.model.frontier.standing_frontier import StandingUrl, UrlQuery


class KnownUrl(NamedTuple):
    """A URL that was once given: its id, the task at the end of its redirects, and whether it was taken out since."""

    id: int
    task_id: int
    removed: bool


class StandingFrontierStore(Protocol):
    """Looks at the standing frontier; those that were taken out of it are not shown. Moves are made elsewhere."""

    async def find(self, query: UrlQuery, *, limit: int = 50, offset: int = 0) -> tuple[list[StandingUrl], int]:
        """URLs that fit, and how many there are in all."""
        ...

    async def get(self, url_id: int) -> StandingUrl | None:
        """One of them."""
        ...

    async def known(self, host: str, key: bytes) -> KnownUrl | None:
        """A URL that was once given, or that redirects of such a one led to."""
        ...

    async def counts(self) -> dict[str, int]:
        """How many there are at each rest."""
        ...

    async def asleep(self, limit: int) -> list[tuple[int, int]]:
        """URLs that wait until somebody wakes them, each with its priority."""
        ...

    async def hasten(self, task_id: int, priority: int, due: int = 0) -> bool:
        """Let a URL that waits go at `due`, by default now, unless it would go sooner, and before those of a larger
        priority; return False when it does not wait.
        """
        ...
