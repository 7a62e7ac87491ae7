"""The standing frontier: URLs that were submitted one by one, outside any crawl."""

from typing import NamedTuple, Protocol

from longline.model.frontier.standing_frontier import StandingUrl, UrlQuery


class KnownUrl(NamedTuple):
    """A submitted URL: its id, the task at the end of its redirects, and whether the URL was removed since."""

    id: int
    task_id: int
    removed: bool


class StandingFrontierStore(Protocol):
    """The standing frontier, without removed URLs. `engine/lifecycle/` makes the moves."""

    async def find(self, query: UrlQuery, *, limit: int = 50, offset: int = 0) -> tuple[list[StandingUrl], int]:
        """Return matching URLs, and their total number."""
        ...

    async def get(self, url_id: int) -> StandingUrl | None:
        """Return one URL."""
        ...

    async def known(self, host: str, key: bytes) -> KnownUrl | None:
        """Return a submitted URL, also by a URL that its redirects led to."""
        ...

    async def counts(self) -> dict[str, int]:
        """Return the number of URLs at each rest."""
        ...

    async def asleep(self, limit: int) -> list[tuple[int, int]]:
        """Return URLs that wait for a wake-up, each with its priority."""
        ...

    async def advance(self, task_id: int, priority: int, due: int = 0) -> bool:
        """Advance a waiting URL to `due`, by default now, and to `priority`; return False if not waiting.

        An earlier due time and a smaller priority stay.
        """
        ...
