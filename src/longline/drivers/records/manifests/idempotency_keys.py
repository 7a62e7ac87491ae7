"""Idempotency keys, on either engine: reserved, answered or released."""

from collections.abc import Sequence
from typing import Any

from longline.drivers.records.database import Transaction
from longline.drivers.records.row_structs import Table, struct
from longline.model.manifests.idempotency_key import FORGOTTEN_AFTER_MS, IdempotencyRow, Reservation, ScopedKey


class IdempotencyRecords(Table):
    """Idempotency keys."""

    async def reserve(self, reservations: Sequence[Reservation], lease_ms: int) -> list[IdempotencyRow]:
        # One order in all transactions, so that no two of them wait for each other.
        wanted = sorted((r.key.tenant, r.key.kind, r.key.key, r.holder, r.digest) for r in reservations)

        async def work(tx: Transaction) -> list[IdempotencyRow]:
            await tx.batch("reserve_idempotency_key", wanted, lease=lease_ms)
            rows = await tx.batch("idempotency_key", [row[:3] for row in wanted])
            found = {(row["tenant"], row["kind"], row["key"]): struct(row, IdempotencyRow) for row in rows}
            return [found[r.key.tenant, r.key.kind, r.key.key] for r in reservations]

        return await self._database.transact(work)

    async def get(self, key: ScopedKey) -> IdempotencyRow | None:
        async def work(tx: Transaction) -> IdempotencyRow | None:
            rows = await tx.batch("idempotency_key", [(key.tenant, key.kind, key.key)])
            return struct(rows[0], IdempotencyRow) if rows else None

        return await self._database.read(work)

    async def release(self, reservation: Reservation) -> bool:
        return await self._database.transact(lambda tx: release(tx, reservation))

    async def forget(self, limit: int) -> int:
        async def work(tx: Transaction) -> int:
            return len(await tx.all("forget_idempotency_keys", limit=limit, forgotten_after=FORGOTTEN_AFTER_MS))

        return await self._database.transact(work)


async def fulfil(tx: Transaction, reservation: Reservation, run_uid: str, metadata_key: str, resources: int) -> bool:
    """Store the answer to a reserved key; return False when another request has taken the key over."""
    answer = {"run_uid": run_uid, "metadata_key": metadata_key, "resources": resources}
    values = _values(reservation) | answer | {"window": reservation.window_ms}
    return await tx.one("fulfil_idempotency_key", **values) is not None


async def release(tx: Transaction, reservation: Reservation) -> bool:
    """Delete a reservation without an answer."""
    return await tx.one("release_idempotency_key", **_values(reservation)) is not None


def _values(reservation: Reservation) -> dict[str, Any]:
    key = reservation.key
    return {"tenant": key.tenant, "kind": key.kind, "key": key.key, "holder": reservation.holder}
