"""Links that lead away, and what people think of the domains they lead to."""

from collections.abc import Sequence
from typing import Protocol

from longline.model.link import DomainQuery, DomainRow, LearntLink, LinkQuery, LinkRow, NewLink


class Links(Protocol):
    """Remembers links, one of each URL for each source."""

    async def save(self, links: Sequence[NewLink]) -> int:
        """Remember links; one that was seen before has its parent and depth renewed. How many there were."""
        ...

    async def learn(self, pages: Sequence[LearntLink]) -> int:
        """Note how pages answered that links lead to, and of links what is known of their pages; how many links."""
        ...

    async def find(self, query: LinkQuery, *, limit: int = 50, offset: int = 0) -> tuple[list[LinkRow], int]:
        """Links that fit, and how many there are in all."""
        ...

    async def get(self, uid: str) -> LinkRow | None:
        """One link."""
        ...

    async def take(self, uid: str) -> bool:
        """Say that something was made of a link; False when there is none."""
        ...

    async def remove(self, uid: str) -> bool:
        """Forget a link; False when there is none."""
        ...

    async def domains(self, query: DomainQuery, *, limit: int = 25, offset: int = 0) -> tuple[list[DomainRow], int]:
        """Domains that fit, and how many there are in all."""
        ...

    async def judge(self, domains: Sequence[str], status: str, notes: str | None) -> int:
        """Say what somebody thinks of domains; without notes, those that are there stay. How many there were."""
        ...
