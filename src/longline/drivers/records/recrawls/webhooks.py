"""Webhooks of recrawls on either engine: an outbox that the transaction of a recrawl's end fills."""

from collections.abc import Sequence

import msgspec

from longline.drivers.records.database import Transaction
from longline.drivers.records.row_structs import Table, struct
from longline.model.recrawls.webhook import (
    TryResult,
    Webhook,
    WebhookFilter,
    WebhookLog,
    WebhookTry,
    state_after,
)

PRUNE_SIZE = 1000


class WebhookRecords(Table):
    """Webhooks and their tries."""

    async def take(self, limit: int, lease_ms: int) -> list[Webhook]:
        async def work(tx: Transaction) -> list[Webhook]:
            taken = await tx.all("take_webhooks", limit=limit, lease_ms=lease_ms)
            rows = await tx.batch("webhooks_by_id", [(row["id"],) for row in taken])
            return sorted((struct(row, Webhook) for row in rows), key=lambda one: one.id)

        return await self._database.transact(work)

    async def settle(self, webhook: Webhook, made: TryResult, retry_ms: int) -> bool:
        tries = webhook.tries + 1
        state = state_after(made, tries)

        async def work(tx: Transaction) -> bool:
            facts = {"id": webhook.id, "token": webhook.token, "state": state, "tries": tries}
            if await tx.one("settle_webhook", retry_ms=retry_ms, **facts) is None:
                return False
            result_fields = {"status": made.status, "error": made.error, "ms": made.ms}
            await tx.all("add_webhook_try", webhook_id=webhook.id, number=tries, **result_fields)
            return True

        return await self._database.transact(work)

    async def find(self, wanted: WebhookFilter, *, limit: int, offset: int = 0) -> tuple[Sequence[WebhookLog], int]:
        asked = msgspec.structs.asdict(wanted)

        async def work(tx: Transaction) -> tuple[Sequence[WebhookLog], int]:
            rows = await tx.all("find_webhooks", limit=limit, offset=offset, **asked)
            count = await tx.one("count_webhooks", **asked)
            tries: dict[int, list[WebhookTry]] = {}
            for row in await tx.batch("tries_of_webhooks", [(row["id"],) for row in rows]):
                tries.setdefault(row["webhook_id"], []).append(struct(row, WebhookTry))
            found = [struct(row, Webhook) for row in rows]
            logs = [WebhookLog(one, tuple(sorted(tries.get(one.id, ()), key=lambda t: t.number))) for one in found]
            return logs, int(count["count"]) if count else 0

        return await self._database.read(work)

    async def prune(self, age_ms: int) -> int:
        async def work(tx: Transaction) -> int:
            gone = await tx.all("old_webhooks", age_ms=age_ms, limit=PRUNE_SIZE)
            rows = [(row["id"],) for row in gone]
            await tx.batch("delete_webhook_tries", rows)
            await tx.batch("delete_webhooks", rows)
            return len(rows)

        return await self._database.transact(work)
