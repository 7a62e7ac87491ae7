"""The outbox of run ends: effects are added with the end of their run, taken under a lease and deleted when done."""

from collections.abc import Iterable, Sequence

from longline.drivers.records.database import Transaction
from longline.drivers.records.row_structs import Table, struct
from longline.drivers.records.runs.series_end import note_series_end
from longline.model.runs.end_effect import AT_ONCE, RunEffect, RunEffectKind
from longline.model.runs.end_judgement import EndRules, stored_end_rules
from longline.model.states import RunState


async def add_effects(tx: Transaction, run_id: int, rules: EndRules) -> None:
    """Add the effects of a run that this transaction has ended; those inside the database that cannot wait are done."""
    rows = [(run_id, n, e.kind.value, e.detail) for n, e in enumerate(rules.effects) if e.kind not in AT_ONCE]
    await tx.batch("add_run_effects", rows)
    if any(effect.kind in AT_ONCE for effect in rules.effects):
        await note_series_end(tx, run_id)


async def add_effects_of_runs(tx: Transaction, run_ids: Iterable[int]) -> None:
    """Add the effects of runs that this transaction has ended, by their plans."""
    for row in await tx.batch("run_plans", [(run_id,) for run_id in sorted(run_ids)]):
        await add_effects(tx, row["id"], stored_end_rules(row["plan"]))


class RunEffectRecords(Table):
    """Effects of run ends."""

    async def take(self, kinds: Sequence[RunEffectKind], limit: int, ttl_ms: int) -> list[RunEffect]:
        async def work(tx: Transaction) -> list[RunEffect]:
            taken: list[RunEffect] = []
            for kind in sorted(kinds):
                left = limit - len(taken)
                leased = await tx.all("take_run_effects", kind=kind.value, limit=left, ttl=ttl_ms) if left else ()
                rows = await tx.batch("taken_run_effects", [(row["id"],) for row in leased])
                taken += [struct(row, RunEffect) for row in rows]
            return sorted(taken, key=lambda effect: effect.id)

        return await self._database.transact(work)

    async def finish(self, effect: RunEffect) -> bool:
        return await self._database.transact(lambda tx: _close(tx, effect))

    async def put_back(self, effect: RunEffect, wait_ms: int, error: str) -> bool:
        async def work(tx: Transaction) -> bool:
            held = await tx.one("put_back_run_effect", id=effect.id, token=effect.token, wait=wait_ms, error=error)
            return held is not None

        return await self._database.transact(work)

    async def note_health(self, effect: RunEffect) -> bool:
        async def work(tx: Transaction) -> bool:
            closed = await _close(tx, effect)
            if closed and effect.source_id is not None and effect.state in _HEALTH:
                await tx.one(_HEALTH[effect.state], id=effect.source_id, ended_at=effect.ended_at)
            return closed

        return await self._database.transact(work)

    async def waiting(self) -> dict[str, int]:
        async def work(tx: Transaction) -> dict[str, int]:
            return {row["kind"]: row["count"] for row in await tx.all("waiting_run_effects")}

        return await self._database.read(work)


_HEALTH = {RunState.COMPLETED.value: "note_success_of_source", RunState.FAILED.value: "note_failure_of_source"}
"""Statements by the state in which a run ended; a cancelled run says nothing about its source."""


async def _close(tx: Transaction, effect: RunEffect) -> bool:
    """Delete an effect under its lease; return False when the lease was lost."""
    return await tx.one("close_run_effect", id=effect.id, token=effect.token) is not None
