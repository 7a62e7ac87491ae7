"""Links that lead away from our sources: looked over by people, and made into schedules."""

from collections.abc import Awaitable, Callable, Sequence

from longline.model.discovery.link import DomainQuery, DomainRow, LinkQuery, LinkRow, clusters
from longline.model.errors import NotFound
from longline.model.schedules.schedule import ScheduleRow, ScheduleSpec
from longline.ports.records.discovery import LinkStore

MOST_CLUSTERED = 1000
"""Links of a domain that are looked at to see where on it they lead."""

MOST_CLUSTERS = 50

Make = Callable[[ScheduleSpec], Awaitable[ScheduleRow]]
"""Makes a schedule."""


class DiscoveredLinks:
    """What was found, and what is thought of it."""

    def __init__(self, links: LinkStore, make: Make) -> None:
        self._links, self._make = links, make

    async def links(self, query: LinkQuery, limit: int, offset: int) -> tuple[list[LinkRow], int]:
        """Links that fit, and how many there are in all."""
        return await self._links.find(query, limit=limit, offset=offset)

    async def link(self, uid: str) -> LinkRow:
        """One link."""
        row = await self._links.get(uid)
        if row is None:
            raise NotFound("Discovered link not found")
        return row

    async def forget(self, uid: str) -> None:
        """Forget a link."""
        if not await self._links.remove(uid):
            raise NotFound("Discovered link not found")

    async def promote(
        self, uid: str, source: str | None, source_name: str | None, written_time: str | None = None
    ) -> ScheduleRow:
        """Make a schedule of a link that runs once, for the link's source unless another is named."""
        link = await self.link(uid)
        name = source_name or link.source_name or None
        schedule = await self._make(
            ScheduleSpec(url=link.url, source_ref=source or link.source, source_name=name, written_time=written_time)
        )
        await self._links.take(uid)
        return schedule

    async def domains(self, query: DomainQuery, limit: int, offset: int) -> tuple[list[DomainRow], int]:
        """Domains that fit, and how many there are in all."""
        return await self._links.domains(query, limit=limit, offset=offset)

    async def domain(self, name: str) -> DomainRow:
        """One domain."""
        rows, _ = await self._links.domains(DomainQuery(domain=name), limit=1)
        if not rows:
            raise NotFound("Discovered domain not found")
        return rows[0]

    async def clusters(self, name: str) -> list[tuple[str, int]]:
        """Where on a domain links lead to, by the newest of them."""
        query = LinkQuery(domain=name, sort="discovered_at")
        rows, _ = await self._links.find(query, limit=MOST_CLUSTERED)
        return clusters(row.url for row in rows)[:MOST_CLUSTERS]

    async def judge(self, domains: Sequence[str], status: str, notes: str | None) -> int:
        """Say what somebody thinks of domains; how many there were."""
        return await self._links.judge(domains, status, notes)
