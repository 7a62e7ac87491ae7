"""Schedules, and the slots they are placed in, on either engine."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec

from longline.drivers.records.advisory_locks import SLOT_LOCK_ID
from longline.drivers.records.callers.audit import audited
from longline.drivers.records.database import Transaction
from longline.drivers.records.like_patterns import contains
from longline.drivers.records.row_structs import Table, struct
from longline.drivers.records.runs.run_counters import RunCounters
from longline.drivers.records.schedules.run_history import unschedule
from longline.drivers.records.schedules.schedule_audit import ScheduleChange, mark_written, write_changes
from longline.model.errors import Conflict
from longline.model.schedules.schedule import NewSchedule, ScheduleFilter, ScheduleKind, ScheduleRow, ScheduleSpec
from longline.model.schedules.slots import SLOT_MS, Places
from longline.model.states import Actor, first_state

_SAID = tuple(name for name in ScheduleSpec.__struct_fields__ if name != "url")
"""Fields of a schedule that a person sets, in the order in which they are written."""


class _Runs(Exception):
    """A schedule that runs and cannot be removed; raised to leave its history unchanged."""


class ScheduleRecords(Table):
    """Schedules."""

    async def add(self, schedule: NewSchedule, actor: Actor = "person") -> ScheduleRow:
        [row] = await self.add_all([schedule], actor)
        return _made(row, schedule)

    async def add_all(self, schedules: Sequence[NewSchedule], actor: Actor = "person") -> list[ScheduleRow | None]:
        async def work(tx: Transaction) -> list[ScheduleRow | None]:
            rows = await insert_all(tx, [(schedule, schedule.steps) for schedule in schedules], actor)
            await write_changes(tx, creations(schedules, rows))
            return rows

        rows = await self._database.transact(work)
        mark_written(change.order for change in creations(schedules, rows))
        return rows

    async def get(self, schedule_id: int) -> ScheduleRow | None:
        return await self._one("schedule", ScheduleRow, id=schedule_id)

    async def get_by_uid(self, uid: str) -> ScheduleRow | None:
        return await self._one("schedule_by_uid", ScheduleRow, uid=uid)

    async def find(
        self, wanted: ScheduleFilter | None = None, *, limit: int = 50, offset: int = 0
    ) -> list[ScheduleRow]:
        wanted = wanted or ScheduleFilter()
        if wanted.ids:
            return await self._among(wanted.ids)
        asked = _filters(wanted) | {"limit": limit, "offset": offset}
        if wanted.sort == "created_at" and not wanted.ascending:
            return await self._all("latest_schedules", ScheduleRow, **asked)
        if wanted.sort == "next_run_at" and wanted.ascending and not offset:
            return await self._soonest(wanted, limit)
        order = {"sort": wanted.sort, "falling": not wanted.ascending}
        return await self._all("find_schedules", ScheduleRow, **asked, **order)

    async def _among(self, schedule_ids: Sequence[int]) -> list[ScheduleRow]:
        async def work(tx: Transaction) -> list[ScheduleRow]:
            rows = await tx.batch("schedules_among", [(schedule_id,) for schedule_id in sorted(set(schedule_ids))])
            return [struct(row, ScheduleRow) for row in rows]

        return await self._database.read(work)

    async def _soonest(self, wanted: ScheduleFilter, limit: int) -> list[ScheduleRow]:
        """Return schedules by their next start, and behind them those without one."""
        due, schedule_id = wanted.after or (0, 0)
        asked = _filters(wanted)

        async def work(tx: Transaction) -> list[ScheduleRow]:
            rows: list[Any] = []
            if due is not None:
                rows += await tx.all("soonest_schedules", **asked, due=due, id=schedule_id, limit=limit)
            if len(rows) < limit:
                rest = {"id": schedule_id if due is None else 0, "limit": limit - len(rows)}
                rows += await tx.all("schedules_without_start", **asked, **rest)
            return [struct(row, ScheduleRow) for row in rows]

        return await self._database.read(work)

    async def count(self, wanted: ScheduleFilter) -> int:
        async def work(tx: Transaction) -> int:
            row = await tx.one("count_schedules", **_filters(wanted))
            return int(row["count"]) if row else 0

        return await self._database.read(work)

    async def states(self, kind: ScheduleKind) -> dict[str, int]:
        async def work(tx: Transaction) -> dict[str, int]:
            return {row["state"]: row["count"] for row in await tx.all("schedule_states", kind=kind)}

        return await self._database.read(work)

    async def recurring(self, *source_refs: str) -> dict[str, ScheduleRow]:
        async def work(tx: Transaction) -> dict[str, ScheduleRow]:
            rows = await _recurring(tx, source_refs)
            return {row.source_ref: row for row in rows}

        return await self._database.read(work)

    async def change(
        self, schedule_id: int, change: Callable[[ScheduleSpec], ScheduleSpec], *, placed: bool = False
    ) -> ScheduleRow | None:
        async def work(tx: Transaction) -> ScheduleRow | None:
            _, changed = await amend(tx, schedule_id, change, placed=placed) or (None, None)
            return changed

        return await audited(self._database, "schedule", schedule_id, work)

    async def remove(self, schedule_id: int) -> bool:
        async def work(tx: Transaction) -> bool:
            await unschedule(tx, [row["id"] for row in await tx.all("all_runs_of_schedule", id=schedule_id)])
            if await tx.one("remove_schedule", id=schedule_id) is None:
                raise _Runs
            return True

        try:
            return await audited(self._database, "schedule", schedule_id, work)
        except _Runs:
            return False


async def amend(
    tx: Transaction, schedule_id: int, change: Callable[[ScheduleSpec], ScheduleSpec], *, placed: bool
) -> tuple[ScheduleRow, ScheduleRow] | None:
    """Change the terms of a schedule; return it as it was and as it is, or None for one that is gone."""
    # Before the row: all transactions that place schedules take the two locks in this order.
    await lock_slots(tx)
    found = await tx.one("hold_schedule", id=schedule_id)
    if found is None:
        return None
    before = struct(found, ScheduleRow)
    changed = await _amended(tx, before, change, placed=placed)
    return None if changed is None else (before, changed)


async def _amended(
    tx: Transaction, row: ScheduleRow, change: Callable[[ScheduleSpec], ScheduleSpec], *, placed: bool
) -> ScheduleRow | None:
    terms, due = change(row.terms), None
    if terms == row.terms:
        return row
    if terms.interval_ms is not None:
        if terms.source_ref and await tx.one("rivals_of_schedule", source_ref=terms.source_ref, id=row.id):
            raise Conflict(f"the source {terms.source_ref} has a recurring schedule already")
        if placed and (terms.interval_ms, terms.enabled) != (row.interval_ms, row.enabled):
            due = (await places(tx, [terms.interval_ms])).take(terms.interval_ms)
    values = msgspec.structs.asdict(terms) | {"id": row.id, "interval_ms": terms.interval_ms}
    changed = await tx.one("amend_schedule", **values, due=due)
    return struct(changed, ScheduleRow) if changed else None


async def insert(tx: Transaction, schedule: NewSchedule, steps: Sequence[str], actor: Actor) -> ScheduleRow:
    """Insert a schedule that these moves create; raise `Conflict` where its source has a recurring one."""
    [row] = await insert_all(tx, [(schedule, steps)], actor)
    return _made(row, schedule)


async def insert_all(
    tx: Transaction, schedules: Sequence[tuple[NewSchedule, Sequence[str]]], actor: Actor
) -> list[ScheduleRow | None]:
    """Insert schedules, each in its first state and, if it has a window, in a slot; write the events of their moves.

    Return None for a recurring schedule if its source has one; of several for one source the first is inserted.
    """
    windows = [schedule.window_ms for schedule, _ in schedules if schedule.window_ms is not None]
    room = await places(tx, windows) if windows else None
    taken = await _recurring_refs(tx, [schedule for schedule, _ in schedules])
    rows = []
    for schedule, steps in schedules:
        terms = schedule.terms or ScheduleSpec(url=schedule.url)
        if schedule.interval_ms is not None and terms.source_ref:
            if terms.source_ref in taken:
                continue
            taken.add(terms.source_ref)
        due, placed = schedule.next_due, None
        if room is not None and schedule.window_ms is not None:
            due, placed = room.take(schedule.window_ms), tx.now
        rows.append(_values(schedule, terms, first_state("schedule", steps), (due, placed)))
    found = {row["uid"]: struct(row, ScheduleRow) for row in await tx.batch("add_schedules", rows)}
    ledger = RunCounters()
    for schedule, steps in schedules:
        if schedule.uid in found:
            ledger.created("schedule", found[schedule.uid].id, steps, (actor, None))
    await ledger.write(tx, actor)
    return [found.get(schedule.uid) for schedule, _ in schedules]


def creations(schedules: Sequence[NewSchedule], rows: Sequence[ScheduleRow | None]) -> list[ScheduleChange]:
    """Return the changes that the insertion of schedules made."""
    pairs = zip(schedules, rows, strict=True)
    return [ScheduleChange(new.audit, new.steps, None, row) for new, row in pairs if row is not None]


def _values(
    schedule: NewSchedule, terms: ScheduleSpec, born: str, placed: tuple[int | None, int | None]
) -> tuple[Any, ...]:
    due, placed_at = placed
    said = tuple(getattr(terms, name) for name in _SAID)
    own = (schedule.uid, schedule.source_id, schedule.url, born, schedule.interval_ms, due)
    return (*own, *said, due if schedule.interval_ms else None, placed_at)


async def _recurring_refs(tx: Transaction, schedules: Sequence[NewSchedule]) -> set[str]:
    """Return the sources of new recurring schedules that have a recurring schedule already."""
    refs = {s.terms.source_ref for s in schedules if s.interval_ms is not None and s.terms and s.terms.source_ref}
    return {row.source_ref for row in await _recurring(tx, refs)}


async def _recurring(tx: Transaction, refs: Iterable[str]) -> list[ScheduleRow]:
    keys = [(ref,) for ref in sorted(set(refs))]
    return [struct(row, ScheduleRow) for row in await tx.batch("recurring_schedules", keys)] if keys else []


def _made(row: ScheduleRow | None, schedule: NewSchedule) -> ScheduleRow:
    if row is None:
        ref = schedule.terms.source_ref if schedule.terms else ""
        raise Conflict(f"the source {ref} has a recurring schedule already")
    return row


async def places(tx: Transaction, windows_ms: Sequence[int]) -> Places:
    """Return the slots from which places in these windows are taken.

    The slots are read once for all windows, under a lock that is held until the transaction ends.
    """
    await lock_slots(tx)
    since = tx.now // SLOT_MS * SLOT_MS
    rows = await tx.all("slot_loads", slot=SLOT_MS, since=since, until=tx.now + max(windows_ms) + SLOT_MS)
    return Places({row["slot"]: row["count"] for row in rows}, tx.now, len(windows_ms))


async def lock_slots(tx: Transaction) -> None:
    """Lock the slots of all schedules until the transaction ends."""
    if tx.engine == "pg":
        await tx.all("lock_slots", lock=SLOT_LOCK_ID)


def _filters(wanted: ScheduleFilter) -> dict[str, Any]:
    return {
        "kind": wanted.kind,
        "states": f",{','.join(wanted.states)}," if wanted.states else None,
        "source_ref": wanted.source_ref,
        "search": contains(wanted.search),
    }
