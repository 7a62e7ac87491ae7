"""Candidates for sources: people approve or reject them."""

from longline.engine.frontier.seeding import Seeder
from longline.model.discovery.candidate import CandidateRow, Decision
from longline.model.errors import Conflict, NotFound
from longline.model.frontier.task import DEFAULT_PRIORITY
from longline.model.runs.run import RunKind
from longline.model.sources.source import NewSource, SourceRow
from longline.ports.records.discovery import CandidateStore as CandidateRecords
from longline.ports.records.sources import SourceStore

MAX_DECISIONS = 100


class Candidates:
    """Discovered candidates, and the decisions about them."""

    def __init__(self, records: CandidateRecords, sources: SourceStore, seeder: Seeder) -> None:
        self._records, self._sources, self._seeder = records, sources, seeder

    async def find(self, verdict: str | None, limit: int) -> list[CandidateRow]:
        """Return candidates, most often seen first."""
        return await self._records.find(verdict, limit)

    async def log(self, candidate_id: int) -> list[Decision]:
        """Return the decisions about a candidate, newest first."""
        return await self._records.decisions((await self._get(candidate_id)).identity, MAX_DECISIONS)

    async def approve(self, candidate_id: int) -> SourceRow:
        """Make a candidate a source, disabled until a person enables it, and submit its home page to the frontier."""
        candidate = await self._pending(candidate_id)
        # The source exists already after an interrupted approval, or when a person made it by hand.
        source = await self._sources.get_by_identity(candidate.identity) or await self._sources.make(
            _disabled(candidate)
        )
        await self._records.decide(candidate_id, "approved", f"source {source.id} was made", source.id)
        await self._seeder.feed(RunKind.STANDING_DISCOVERED, source.id, [candidate.home], DEFAULT_PRIORITY)
        return source

    async def reject(self, candidate_id: int, reason: str) -> CandidateRow:
        """Reject a candidate for good."""
        candidate = await self._pending(candidate_id)
        await self._records.decide(candidate_id, "rejected", reason)
        return candidate

    async def _get(self, candidate_id: int) -> CandidateRow:
        row = await self._records.get(candidate_id)
        if row is None:
            raise NotFound("candidate", candidate_id)
        return row

    async def _pending(self, candidate_id: int) -> CandidateRow:
        row = await self._get(candidate_id)
        if row.verdict != "pending":
            raise Conflict(f"candidate {candidate_id} is {row.verdict}, not pending")
        return row


def _disabled(candidate: CandidateRow) -> NewSource:
    name, home = candidate.identity, candidate.home
    return NewSource(name, home, enabled=False, feed_url=candidate.feed_url, identity_key=name)
