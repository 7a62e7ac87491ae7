"""The audit on either engine: rows are inserted in the transaction of a change, and never changed or deleted."""

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import msgspec

from longline.drivers.records.database import Database, Row, Transaction
from longline.drivers.records.row_structs import Table, values_of
from longline.model.callers.audit import (
    NAMED_TOO,
    UNAUDITED,
    AuditContext,
    AuditFilter,
    AuditRow,
    State,
    audit_context,
    state_text,
)
from longline.model.ids import new_id, task_uuid

T = TypeVar("T")
Work = Callable[[Transaction], Awaitable[T]]
Key = int | str


class AuditRecords(Table):
    """The audit, for reading."""

    async def find(
        self, wanted: AuditFilter, *, limit: int = 50, before_id: int | None = None, offset: int = 0
    ) -> list[AuditRow]:
        page = {"before_id": before_id, "limit": limit, "offset": offset}
        return await self._all("find_audit", AuditRow, **_choice(wanted), **page)

    async def count(self, wanted: AuditFilter) -> int:
        async def work(tx: Transaction) -> int:
            row = await tx.one("count_audit", **_choice(wanted))
            return int(row["count"]) if row else 0

        return await self._database.read(work)

    async def get(self, uid: str) -> AuditRow | None:
        return await self._one("audit_by_uid", AuditRow, uid=uid)


def _choice(wanted: AuditFilter) -> dict[str, Any]:
    asked = msgspec.structs.asdict(wanted)
    action = asked.pop("action")
    is_prefix = action is not None and action.endswith(".")
    return asked | {"action": None if is_prefix else action, "begins": action if is_prefix else None}


def _has_result(done: Any) -> bool:
    return done is not None and done is not False


async def audited(
    database: Database,
    noun: str,
    key: Key | Callable[[T], Key | None],
    work: Work[T],
    *,
    piece: bool = False,
    changed: Callable[[T], bool] = _has_result,
) -> T:
    """Run a transaction that changes one thing; if a caller ordered the change, write its audit row with it.

    `key` is the key of the thing or, for a thing that is made, a function that returns the key from the result. A thing
    that did not change leaves no row. Each `piece` of an operation of several transactions writes a row. `changed`
    tells from the result whether this transaction was the one that changed the thing: another one may do so between
    the looks before and after.
    """
    context = audit_context(noun, piece=piece)
    if context is None:
        return await database.transact(work)
    wrote = False

    async def noted(tx: Transaction) -> T:
        nonlocal wrote
        before = None if callable(key) else await _state(tx, noun, key)
        done = await work(tx)
        found = key(done) if callable(key) else key
        after = await _state(tx, noun, found) if found is not None else None
        wrote = changed(done) and before != after
        if wrote:
            await write_audit(tx, context, _thing(noun, after or before or {}), before, after)
        return done

    done = await database.transact(noted)
    context.is_written |= wrote
    return done


async def audited_many(
    database: Database,
    noun: str,
    audited_state: Callable[[T], State | None],
    work: Work[T],
    *,
    piece: bool = False,
    only: Key | Callable[[T], Key | None] | None = None,
) -> T:
    """Run a transaction that changes many things, with its audit row as in `audited`.

    `audited_state` returns the audited state from the result, None where nothing changed. Each `piece` of an operation
    of several transactions writes a row. `only` is the key of the one thing of an operation on one, as in `audited`:
    the row names it, with its states before and after.
    """
    context = audit_context(noun, piece=piece)
    if context is None:
        return await database.transact(work)
    wrote = False

    async def noted(tx: Transaction) -> T:
        nonlocal wrote
        before = None if only is None or callable(only) else await _state(tx, noun, only)
        done = await work(tx)
        change = audited_state(done)
        wrote = change is not None
        if change is not None:
            key = only(done) if callable(only) else only
            found = {} if key is None else await _state(tx, noun, key) or {}
            await write_audit(tx, context, _thing(noun, found) if found else "", before, {**found, **change})
        return done

    done = await database.transact(noted)
    context.is_written |= wrote
    return done


async def write_audit(
    tx: Transaction, context: AuditContext, thing: str, before: State | None, after: State | None
) -> None:
    """Write the audit row of a change."""
    caller, state = context.caller, after or before or {}
    await tx.all(
        "write_audit",
        uid=new_id(),
        **{name: str(getattr(caller, name)) for name in ("subject", "name", "role", "kind", "tenant", "address")},
        **{name: getattr(context, name) for name in ("door", "action", "noun", "reason")},
        thing=thing,
        number=state.get("id") if context.noun == "source" else None,
        before=state_text(before),
        after=state_text(after),
    )


async def _state(tx: Transaction, noun: str, key: Key) -> dict[str, Any] | None:
    statement = noun.replace(" ", "_")
    by_name = noun in NAMED_TOO and isinstance(key, str)
    row: Row | None = await tx.one(f"audited_{statement}_by_name" if by_name else f"audited_{statement}", key=key)
    if row is None:
        return None
    return {name: value for name, value in values_of(row).items() if name not in UNAUDITED}


def _thing(noun: str, state: State) -> str:
    """Return the id by which callers know a thing."""
    if noun == "task":
        return task_uuid(state["id"], state["created_at"])
    return str(next(state[name] for name in ("ref", "uid", "name", "id") if state.get(name)))
