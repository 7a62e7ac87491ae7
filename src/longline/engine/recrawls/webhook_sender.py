"""The sender of webhooks: takes those that are due under a lease and sends each signed, with up to three tries.

A webhook is settled after its request. A kill in between repeats the request under the same id, by which the receiver
knows the repeat.
"""

import asyncio
import logging
from collections.abc import Callable

from longline.engine.metrics import MetricCounters
from longline.model.metrics.metric import WEBHOOKS
from longline.model.recrawls.webhook import (
    KEEP_MS,
    LEASE_MS,
    MAX_ERROR_CHARS,
    MAX_RESPONSE_BYTES,
    REQUEST_TIMEOUT_SECONDS,
    TryResult,
    Webhook,
    retry_ms,
    state_after,
)
from longline.model.sinks.webhook_signature import signed_headers
from longline.ports.clock import Clock
from longline.ports.http import FetchFailed, Http, Request
from longline.ports.records.recrawls.webhooks import WebhookStore

log = logging.getLogger(__name__)

BATCH_SIZE = 20

Render = Callable[[Webhook], bytes]
"""Returns the body of a webhook in the words of its contract."""


class WebhookSender:
    """The sender of webhooks. `key` returns the key of signatures, `retry_ms` is the delay before the second try."""

    def __init__(
        self,
        webhooks: WebhookStore,
        http: Http,
        clock: Clock,
        render: Render,
        *,
        key: Callable[[], bytes],
        retry_ms: int,
        metrics: MetricCounters,
    ) -> None:
        self._webhooks, self._http, self._clock, self._render = webhooks, http, clock, render
        self._key, self._retry_ms, self._metrics = key, retry_ms, metrics

    async def once(self) -> int:
        """Try every webhook that is due; return how many."""
        sent = 0
        while batch := await self._webhooks.take(BATCH_SIZE, LEASE_MS):
            await asyncio.gather(*map(self._try, batch))
            sent += len(batch)
        return sent

    async def prune(self) -> int:
        """Delete old webhooks; return how many."""
        return await self._webhooks.prune(KEEP_MS)

    async def _try(self, webhook: Webhook) -> None:
        begun = self._clock.monotonic()
        status, error, is_refused = None, None, False
        try:
            status = (await self._http.fetch(self._request(webhook))).status
        except FetchFailed as failed:
            error, is_refused = f"{failed.kind}: {failed}"[:MAX_ERROR_CHARS], failed.kind in ("egress", "bad_url")
        made = TryResult(round((self._clock.monotonic() - begun) * 1000), status, error, is_refused)
        tries = webhook.tries + 1
        if not await self._webhooks.settle(webhook, made, retry_ms(self._retry_ms, tries)):
            return
        state = state_after(made, tries)
        self._metrics.add(WEBHOOKS, state)
        level = logging.DEBUG if state == "delivered" else logging.WARNING
        facts = {"task_id": webhook.task_id, "number": tries, "status": status, "error": error, "state": state}
        log.log(level, "webhook tried", extra=facts)

    def _request(self, webhook: Webhook) -> Request:
        body = self._render(webhook)
        return Request(
            webhook.url,
            signed_headers(self._key(), webhook.uid, self._clock.wall() // 1000, body),
            total_seconds=REQUEST_TIMEOUT_SECONDS,
            max_bytes=MAX_RESPONSE_BYTES,
            cut=True,
            method="POST",
            body=body,
        )
