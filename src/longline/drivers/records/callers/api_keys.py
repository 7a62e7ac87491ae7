"""API keys on either engine."""

from collections.abc import Sequence

import msgspec

from longline.drivers.records.callers.audit import audited
from longline.drivers.records.database import Row, Transaction
from longline.drivers.records.paging import AFTER_EVERY_ROW
from longline.drivers.records.row_structs import Table, struct
from longline.model.callers.api_key import LAST_USED_INTERVAL_MS, ApiKeyRow, NewApiKey
from longline.model.errors import Unavailable


class ApiKeyRecords(Table):
    """API keys."""

    async def add(self, key: NewApiKey, uid: str, secret: str) -> ApiKeyRow:
        facts = msgspec.structs.asdict(key) | {"role": key.role.value}

        async def work(tx: Transaction) -> Row | None:
            return await tx.one("add_api_key", uid=uid, secret=secret, **facts)

        row = await audited(self._database, "key", uid, work)
        if row is None:
            raise Unavailable(f"the key {key.name} was not stored")
        return struct(row, ApiKeyRow)

    async def get(self, uids: Sequence[str]) -> dict[str, ApiKeyRow]:
        async def work(tx: Transaction) -> dict[str, ApiKeyRow]:
            rows = await tx.batch("api_keys_by_uid", [(uid,) for uid in uids])
            return {row["uid"]: struct(row, ApiKeyRow) for row in rows}

        return await self._database.read(work)

    async def find(self, *, limit: int = 100, before_id: int | None = None) -> list[ApiKeyRow]:
        before = AFTER_EVERY_ROW if before_id is None else before_id
        return await self._all("find_api_keys", ApiKeyRow, limit=limit, before=before)

    async def revoke(self, uid: str) -> ApiKeyRow | None:
        async def work(tx: Transaction) -> ApiKeyRow | None:
            row = await tx.one("revoke_api_key", uid=uid)
            return struct(row, ApiKeyRow) if row else None

        return await audited(self._database, "key", uid, work)

    async def touch(self, ids: Sequence[int]) -> None:
        async def work(tx: Transaction) -> None:
            rows = [(key_id,) for key_id in sorted(set(ids))]
            await tx.batch("touch_api_keys", rows, since=tx.now - LAST_USED_INTERVAL_MS)

        await self._database.transact(work)
