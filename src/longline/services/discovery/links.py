"""Links that lead away from sources: reviewed by people, and made into schedules."""

from collections.abc import Awaitable, Callable, Sequence

from longline.model.discovery.link import DomainQuery, DomainRow, LinkQuery, LinkRow, clusters
from longline.model.errors import NotFound
from longline.model.schedules.schedule import ScheduleRow, ScheduleSpec
from longline.ports.records.discovery import LinkStore

MAX_CLUSTERED = 1000
"""Largest number of a domain's links that are clustered by path."""

MAX_CLUSTERS = 50

Make = Callable[[ScheduleSpec], Awaitable[ScheduleRow]]
"""Function that makes a schedule."""


class DiscoveredLinks:
    """Discovered links and their domains, with people's verdicts."""

    def __init__(self, links: LinkStore, make: Make) -> None:
        self._links, self._make = links, make

    async def links(self, query: LinkQuery, limit: int, offset: int) -> tuple[list[LinkRow], int]:
        """Return matching links, and their total number."""
        return await self._links.find(query, limit=limit, offset=offset)

    async def link(self, uid: str) -> LinkRow:
        """Return a link."""
        row = await self._links.get(uid)
        if row is None:
            raise NotFound("link", uid)
        return row

    async def forget(self, uid: str) -> None:
        """Delete a link."""
        if not await self._links.remove(uid):
            raise NotFound("link", uid)

    async def promote(
        self, uid: str, source: str | None, source_name: str | None, written_time: str | None = None
    ) -> ScheduleRow:
        """Make a schedule that crawls a link once, for the link's source unless another is given."""
        link = await self.link(uid)
        name = source_name or link.source_name or None
        schedule = await self._make(
            ScheduleSpec(url=link.url, source_ref=source or link.source, source_name=name, written_time=written_time)
        )
        await self._links.take(uid)
        return schedule

    async def domains(self, query: DomainQuery, limit: int, offset: int) -> tuple[list[DomainRow], int]:
        """Return matching domains, and their total number."""
        return await self._links.domains(query, limit=limit, offset=offset)

    async def domain(self, name: str) -> DomainRow:
        """Return a domain."""
        rows, _ = await self._links.domains(DomainQuery(domain=name), limit=1)
        if not rows:
            raise NotFound("domain", name)
        return rows[0]

    async def clusters(self, name: str) -> list[tuple[str, int]]:
        """Return the first path segments of a domain's newest links, with their counts."""
        query = LinkQuery(domain=name, sort="discovered_at")
        rows, _ = await self._links.find(query, limit=MAX_CLUSTERED)
        return clusters(row.url for row in rows)[:MAX_CLUSTERS]

    async def judge(self, domains: Sequence[str], status: str, notes: str | None) -> int:
        """Set the status and notes of domains; return the number of domains."""
        return await self._links.judge(domains, status, notes)
