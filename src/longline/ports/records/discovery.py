"""Candidates for sources, the log of decisions about them, and links."""

from collections.abc import Sequence
from typing import Protocol

from longline.model.discovery.candidate import CandidateRow, Decision, DiscoveryRules, LinkSighting, ProbeResult
from longline.model.discovery.link import DomainQuery, DomainRow, LinkDetails, LinkQuery, LinkRow, NewLink


class CandidateStore(Protocol):
    """Candidates, at most one open for each identity; each change is logged in the same transaction."""

    async def add_sightings(self, found: Sequence[LinkSighting], rules: DiscoveryRules) -> int:
        """Make candidates of new sightings, up to the caps of a day and of a run; return how many."""
        ...

    async def note(self, decisions: Sequence[Decision]) -> None:
        """Log decisions."""
        ...

    async def fresh(self, limit: int) -> list[CandidateRow]:
        """Return new candidates without a first look."""
        ...

    async def probed(self, limit: int) -> list[CandidateRow]:
        """Return new candidates with a finished first look."""
        ...

    async def look(self, candidate_id: int, run_id: int) -> None:
        """Record the run that takes a first look at a candidate."""
        ...

    async def judge(self, candidate_id: int, glimpse: ProbeResult, risk: int) -> bool:
        """Make a candidate pending for a person; return False when the candidate was not new."""
        ...

    async def decide(self, candidate_id: int, verdict: str, reason: str, source_id: int | None = None) -> bool:
        """Record a person's decision; return False when the candidate was not pending."""
        ...

    async def get(self, candidate_id: int) -> CandidateRow | None:
        """Return one candidate."""
        ...

    async def find(self, verdict: str | None, limit: int) -> list[CandidateRow]:
        """Return candidates, most often seen first."""
        ...

    async def forget(self, before: int) -> int:
        """Delete a batch of the decisions made before that time; return how many, 0 when none is left."""
        ...

    async def decisions(self, identity: str, limit: int) -> list[Decision]:
        """Return the decisions about one identity, latest first."""
        ...


class LinkStore(Protocol):
    """Links, one of each URL for each source."""

    async def save(self, links: Sequence[NewLink]) -> int:
        """Save links; a known link gets the new parent and depth. Return the number of links."""
        ...

    async def update_from_pages(self, pages: Sequence[LinkDetails]) -> int:
        """Write status and content type of pages to the links that lead to them; return the number of links."""
        ...

    async def find(self, query: LinkQuery, *, limit: int = 50, offset: int = 0) -> tuple[list[LinkRow], int]:
        """Return matching links, and their total number."""
        ...

    async def get(self, uid: str) -> LinkRow | None:
        """Return one link."""
        ...

    async def take(self, uid: str) -> bool:
        """Mark a link as used for a schedule; return False for an unknown link."""
        ...

    async def remove(self, uid: str) -> bool:
        """Delete a link; return False for an unknown link."""
        ...

    async def domains(self, query: DomainQuery, *, limit: int = 25, offset: int = 0) -> tuple[list[DomainRow], int]:
        """Return matching domains, and their total number."""
        ...

    async def judge(self, domains: Sequence[str], status: str, notes: str | None) -> int:
        """Set the status of domains; without `notes`, existing notes stay. Return the number of domains."""
        ...
