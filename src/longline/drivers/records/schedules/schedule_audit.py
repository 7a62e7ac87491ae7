"""The audit of schedules that are made or moved in one transaction for several callers."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from longline.drivers.records.callers.audit import write_audit
from longline.drivers.records.database import Transaction
from longline.model.callers.audit import AuditContext
from longline.model.schedules.schedule import ScheduleRow


class ScheduleChange(NamedTuple):
    """A schedule before and after its moves, and the order of the caller, if one ordered them."""

    order: AuditContext | None
    moves: Sequence[str]
    before: ScheduleRow | None
    after: ScheduleRow


async def write_changes(tx: Transaction, changes: Iterable[ScheduleChange]) -> None:
    """Write one audit row for each order: the states of a single schedule, or a list of several schedules."""
    by_order: dict[AuditContext, list[ScheduleChange]] = {}
    for change in changes:
        if change.order is not None:
            by_order.setdefault(change.order, []).append(change)
    for order, ordered in by_order.items():
        if order.noun == "schedule" and len(ordered) == 1:
            [one] = ordered
            before = None if one.before is None else msgspec.to_builtins(one.before)
            await write_audit(tx, order, one.after.uid, before, msgspec.to_builtins(one.after))
        else:
            await write_audit(tx, order, "", None, {"schedules": [_listed(one) for one in ordered]})


def mark_written(orders: Iterable[AuditContext | None]) -> None:
    """Mark the orders whose audit rows were committed."""
    for order in orders:
        if order is not None:
            order.is_written = True


def _listed(change: ScheduleChange) -> dict[str, object]:
    return {"move": change.moves[0], "uid": change.after.uid, "source": change.after.source_ref}
