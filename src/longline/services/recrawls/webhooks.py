"""The log of webhooks of recrawls."""

from collections.abc import Sequence

from longline.model.recrawls.webhook import WebhookFilter, WebhookLog
from longline.ports.records.recrawls.webhooks import WebhookStore


class Webhooks:
    """The webhooks of recrawls, with all tries."""

    def __init__(self, records: WebhookStore) -> None:
        self._records = records

    async def find(self, wanted: WebhookFilter, *, limit: int, offset: int) -> tuple[Sequence[WebhookLog], int]:
        """Return webhooks with their tries, the newest first, and the number of all."""
        return await self._records.find(wanted, limit=limit, offset=offset)
