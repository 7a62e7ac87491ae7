"""Webhooks of recrawls, stored with the end of the recrawl and sent by a loop."""

from collections.abc import Sequence
from typing import Protocol

from longline.model.recrawls.webhook import TryResult, Webhook, WebhookFilter, WebhookLog


class WebhookStore(Protocol):
    """Webhooks and their tries."""

    async def take(self, limit: int, lease_ms: int) -> list[Webhook]:
        """Claim webhooks that are due; no other process gets them while the lease lasts."""
        ...

    async def settle(self, webhook: Webhook, made: TryResult, retry_ms: int) -> bool:
        """Store a try and its effect; return False when another process has claimed the webhook since."""
        ...

    async def find(self, wanted: WebhookFilter, *, limit: int, offset: int = 0) -> tuple[Sequence[WebhookLog], int]:
        """Return webhooks with their tries, the newest first, and the number of all."""
        ...

    async def prune(self, age_ms: int) -> int:
        """Delete ended webhooks of that age with their tries; return how many."""
        ...
