"""The side rows of recrawls, kept in step with their tasks by the transactions that move them."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import msgspec
from msgspec.structs import astuple

from longline.drivers.records.database import Row, Transaction
from longline.drivers.records.runs.run_counters import RunCounters
from longline.model.ids import new_id
from longline.model.recrawls.side_row import CALLING_RESTS, ENDED_RESTS, REPORTED, Moved, MoveKind, side_row

NO_ATTEMPTS: Mapping[int, int] = MappingProxyType({})


async def follow(
    tx: Transaction,
    ledger: RunCounters,
    task_ids: Sequence[int],
    kind: MoveKind = REPORTED,
    attempts: Mapping[int, int] = NO_ATTEMPTS,
) -> None:
    """Update the side rows of recrawls that moved; `attempts` are those of tasks that are tried again.

    The lines of the tasks must be locked.
    """
    rows = await tx.batch("recrawls_of_tasks", [(task_id,) for task_id in sorted(task_ids)])
    listed, calling, ended = [], [], []
    for row in rows:
        made = msgspec.structs.replace(kind, attempts=attempts.get(row["id"]))
        side = side_row(_moved(row), made, tx.now)
        listed.append((row["id"], *astuple(side)))
        ledger.count_listed_move("count_recrawls", row["source_id"], row["was"], side.rest)
        if side.rest != row["was"] and side.rest in CALLING_RESTS:
            calling.append((row["id"],))
        if side.rest != row["was"] and side.rest in ENDED_RESTS and row["has_webhook"]:
            ended.append((row["id"], side.rest, new_id()))
    await tx.batch("list_recrawls", listed)
    await tx.batch("call_children", calling)
    await tx.batch("add_webhooks", ended)


def _moved(row: Row) -> Moved:
    values = {name: row[name] for name in Moved.__struct_fields__}
    return msgspec.convert(values, Moved, strict=False)
