"""Candidates for sources, and the log of what was decided about them."""

from collections.abc import Sequence
from typing import Protocol

from longline.model.discovery.candidate import CandidateRow, Decision, DiscoveryRules, LinkSighting, ProbeResult
from longline.model.discovery.link import DomainQuery, DomainRow, LinkDetails, LinkQuery, LinkRow, NewLink


class CandidateStore(Protocol):
    """Remembers candidates, of which one at most is open for each identity; what changes one is logged with it."""

    async def sight(self, found: Sequence[LinkSighting], rules: DiscoveryRules) -> int:
        """Make candidates of what is new, as far as the caps of a day and of a run allow; how many."""
        ...

    async def note(self, decisions: Sequence[Decision]) -> None:
        """Log what was decided."""
        ...

    async def fresh(self, limit: int) -> list[CandidateRow]:
        """Those that nobody looks at yet."""
        ...

    async def seen(self, limit: int) -> list[CandidateRow]:
        """Those whose first look has ended."""
        ...

    async def look(self, candidate_id: int, run_id: int) -> None:
        """A run looks at one."""
        ...

    async def judge(self, candidate_id: int, glimpse: ProbeResult, risk: int) -> bool:
        """Put one before a person; False when it was not new."""
        ...

    async def decide(self, candidate_id: int, verdict: str, reason: str, source_id: int | None = None) -> bool:
        """Note what a person decided; False when it was not pending."""
        ...

    async def get(self, candidate_id: int) -> CandidateRow | None:
        """One of them."""
        ...

    async def find(self, verdict: str | None, limit: int) -> list[CandidateRow]:
        """Candidates, those that are seen most often first."""
        ...

    async def forget(self, before: int) -> int:
        """Forget some of the decisions that were made before that time; how many, which is none when none is left."""
        ...

    async def decisions(self, identity: str, limit: int) -> list[Decision]:
        """What was decided about one place, the latest first."""
        ...


class LinkStore(Protocol):
    """Remembers links, one of each URL for each source."""

    async def save(self, links: Sequence[NewLink]) -> int:
        """Remember links; one that was seen before has its parent and depth renewed. How many there were."""
        ...

    async def learn(self, pages: Sequence[LinkDetails]) -> int:
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
