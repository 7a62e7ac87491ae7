"""Candidates for sources, on either engine."""

from collections.abc import Sequence
from typing import Any

import msgspec

from longline.drivers.records.callers.audit import audited
from longline.drivers.records.database import Transaction
from longline.drivers.records.row_structs import Table
from longline.model.discovery.candidate import (
    CandidateRow,
    Decision,
    DiscoveryRules,
    LinkSighting,
    PlaceFindings,
    ProbeResult,
)
from longline.model.discovery.candidate_refusals import CandidateBudget
from longline.model.duration import DAY_MS

BATCH_SIZE = 1000
"""Largest number of decisions deleted in one transaction."""


class CandidateRecords(Table):
    """Candidates and decisions."""

    async def add_sightings(self, found: Sequence[LinkSighting], rules: DiscoveryRules) -> int:
        return await self._database.transact(lambda tx: _sight(tx, found, rules)) if found else 0

    async def note(self, decisions: Sequence[Decision]) -> None:
        await self._database.transact(lambda tx: _log(tx, decisions))

    async def forget(self, before: int) -> int:
        async def work(tx: Transaction) -> int:
            return len(await tx.all("forget_decisions", before=before, limit=BATCH_SIZE))

        return await self._database.transact(work)

    async def fresh(self, limit: int) -> list[CandidateRow]:
        return await self._all("fresh_candidates", CandidateRow, limit=limit)

    async def probed(self, limit: int) -> list[CandidateRow]:
        return await self._all("seen_candidates", CandidateRow, limit=limit)

    async def look(self, candidate_id: int, run_id: int) -> None:
        await self._move("look_at_candidate", candidate_id, ("robots", "looked at"), run_id=run_id)

    async def judge(self, candidate_id: int, glimpse: ProbeResult, risk: int) -> bool:
        facts = {"risk": risk, "robots": glimpse.robots, "title": glimpse.title, "feed_url": glimpse.feed_url}
        reason = f"risk {risk}, the look ended with {glimpse.reason}"
        return await self._move("judge_candidate", candidate_id, ("judge", reason), **facts)

    async def decide(self, candidate_id: int, verdict: str, reason: str, source_id: int | None = None) -> bool:
        return await self._move(
            "decide_candidate", candidate_id, (verdict, reason), verdict=verdict, source_id=source_id
        )

    async def get(self, candidate_id: int) -> CandidateRow | None:
        return await self._one("candidate", CandidateRow, id=candidate_id)

    async def find(self, verdict: str | None, limit: int) -> list[CandidateRow]:
        return await self._all("find_candidates", CandidateRow, verdict=verdict, limit=limit)

    async def decisions(self, identity: str, limit: int) -> list[Decision]:
        return await self._all("find_decisions", Decision, identity=identity, limit=limit)

    async def _move(self, name: str, candidate_id: int, said: tuple[str, str], **facts: Any) -> bool:
        """Change a candidate, and log the reason."""

        async def work(tx: Transaction) -> bool:
            row = await tx.one(name, id=candidate_id, **facts)
            if row is not None:
                await _log(tx, [Decision(row["identity"], row["url"], *said)])
            return row is not None

        return await audited(self._database, "candidate", candidate_id, work)


async def note_findings(tx: Transaction, findings: PlaceFindings | None) -> None:
    """Write the places that the pages of a report link to."""
    if findings is not None:
        await _log(tx, findings.decisions)
        if findings.sightings:
            await _sight(tx, findings.sightings, findings.rules)


async def _sight(tx: Transaction, sightings: Sequence[LinkSighting], rules: DiscoveryRules) -> int:
    first: dict[str, LinkSighting] = {}
    for sighting in sightings:
        first.setdefault(sighting.identity, sighting)
    found = list(first.values())
    await tx.all("lock_candidates")
    identities = [(sighting.identity,) for sighting in found]
    stands = {row["identity"]: row["verdict"] for row in await tx.batch("candidates_like", identities)}
    await tx.batch("see_candidates", identities)
    left = await _left(tx, found, rules)
    new, decisions = [], []
    for sighting in found:
        reason = left.refusal(sighting.run_id, stands.get(sighting.identity))
        if reason is None:
            new.append(msgspec.structs.astuple(sighting))
        decisions.append(_decision(sighting, reason or "found"))
    await tx.batch("add_candidates", new)
    await _log(tx, decisions)
    return len(new)


def _decision(sighting: LinkSighting, reason: str) -> Decision:
    return Decision(sighting.identity, sighting.url, "find", reason, sighting.run_id)


async def _log(tx: Transaction, decisions: Sequence[Decision]) -> None:
    await tx.batch("add_decisions", [msgspec.structs.astuple(decision) for decision in decisions])


async def _left(tx: Transaction, found: Sequence[LinkSighting], rules: DiscoveryRules) -> CandidateBudget:
    today, in_run = None, {}
    if rules.per_day:
        row = await tx.one("candidates_of_day", since=tx.now - tx.now % DAY_MS)
        today = rules.per_day - (row["count"] if row else 0)
    for run_id in {sighting.run_id for sighting in found} if rules.per_run else ():
        row = await tx.one("candidates_of_run", run_id=run_id)
        in_run[run_id] = rules.per_run - (row["count"] if row else 0)
    return CandidateBudget(today, in_run)
