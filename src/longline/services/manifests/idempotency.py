"""Idempotency of submissions: a key is reserved before anything is stored, and a twin waits for the answer."""

import asyncio
from collections.abc import Sequence

import msgspec

from longline.model.errors import Unavailable
from longline.model.manifests.idempotency_key import LEASE_MS, MAX_WAIT_SECONDS, IdempotencyRow, Reservation, ScopedKey
from longline.model.manifests.manifest import ManifestReceipt
from longline.ports.records.manifests import IdempotencyStore
from longline.services.group_commit import GROUP_WAIT_SECONDS, GroupCommit

FIRST_PAUSE_SECONDS, MAX_PAUSE_SECONDS = 0.01, 0.25


class KeptAnswer(msgspec.Struct, frozen=True):
    """The answer that a key has already, and whether the body was the same."""

    receipt: ManifestReceipt
    is_same_body: bool


class IdempotencyKeys:
    """The keys of senders. Reservations that arrive together share a commit."""

    def __init__(self, store: IdempotencyStore, lease_ms: int = LEASE_MS) -> None:
        self._store, self._lease_ms = store, lease_ms
        self._reserving: GroupCommit[Reservation, IdempotencyRow] = GroupCommit(
            self._reserve, lambda one: one.key, pause=GROUP_WAIT_SECONDS
        )

    async def reserve(self, wanted: Reservation) -> KeptAnswer | None:
        """Reserve a key; return its answer if it has one. A reservation of another request is waited for.

        Raise `Unavailable` when the other request takes too long.
        """
        deadline = asyncio.get_running_loop().time() + MAX_WAIT_SECONDS
        pause = FIRST_PAUSE_SECONDS
        row = await self._reserving(wanted)
        while row.holder != wanted.holder:
            if row.run_uid is not None:
                return _answer(row, wanted)
            if asyncio.get_running_loop().time() > deadline:
                raise Unavailable("another request with the same idempotency key is not done yet")
            await asyncio.sleep(pause)
            pause = min(2 * pause, MAX_PAUSE_SECONDS)
            row = await self._reserving(wanted)
        return None if row.run_uid is None else _answer(row, wanted)

    async def release(self, reservation: Reservation) -> None:
        """Give up a key whose request failed, so that a retry is a fresh attempt."""
        await self._store.release(reservation)

    async def get(self, key: ScopedKey) -> IdempotencyRow | None:
        """Return a stored key."""
        return await self._store.get(key)

    async def _reserve(self, reservations: Sequence[Reservation]) -> list[IdempotencyRow]:
        return await self._store.reserve(reservations, self._lease_ms)


def _answer(row: IdempotencyRow, wanted: Reservation) -> KeptAnswer:
    receipt = ManifestReceipt(row.run_uid or "", row.metadata_key or "", row.resources or 0)
    return KeptAnswer(receipt, row.digest == wanted.digest)
