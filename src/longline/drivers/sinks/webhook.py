"""Sinks that get each item as a POST request, signed as Standard Webhooks describe (standardwebhooks.com)."""

from collections.abc import Sequence
from urllib.parse import urldefrag

import msgspec
import orjson

from longline.model.errors import BadInput
from longline.model.sinks.sink import SinkAddress, SinkItem
from longline.model.sinks.webhook_signature import read_secret, signed_headers
from longline.model.timestamps import written
from longline.ports.clock import Clock
from longline.ports.http import FetchFailed, Http, Request, Response
from longline.ports.sinks import SinkFailed

BATCH_SIZE = 20
"""Items between two stored positions: so many may be sent twice after a kill."""

REQUEST_TIMEOUT_SECONDS = 20.0
MAX_RESPONSE_BYTES = 64 * 1024
REFUSED_STATUSES = frozenset({400, 413, 415, 422})
"""Answers about one item; any other failure is one of the receiver."""

EVENT_TYPE = "item.found"


def webhook_key(address: SinkAddress) -> bytes:
    """Return the key that signs messages to an address; raise `BadInput` for an address without a secret."""
    return read_secret(urldefrag(address.url).fragment)


class WebhookSink:
    """A sink that gets one signed POST request for each item; `webhook-id` is the id of the item."""

    batch_size = BATCH_SIZE

    def __init__(self, address: SinkAddress, http: Http, clock: Clock) -> None:
        self._url = urldefrag(address.url).url
        self._key, self._http, self._clock = webhook_key(address), http, clock

    async def deliver(self, items: Sequence[SinkItem]) -> None:
        for delivered, item in enumerate(items):
            try:
                response = await self._http.fetch(self._request(item))
            except FetchFailed as error:
                raise SinkFailed(f"{error.kind}: {error}", delivered, error.retry_after) from error
            except BadInput as error:
                raise SinkFailed(f"item {item.id} cannot be sent: {error}", delivered, refused=True) from error
            if not 200 <= response.status < 300:
                raise SinkFailed(
                    f"answered with status {response.status}",
                    delivered,
                    _retry_after(response),
                    refused=response.status in REFUSED_STATUSES,
                )

    async def close(self) -> None:
        await self._http.close()

    def _request(self, item: SinkItem) -> Request:
        timestamp = self._clock.wall() // 1000
        body = orjson.dumps(
            {"type": EVENT_TYPE, "timestamp": written(item.found_at), "data": msgspec.structs.asdict(item)}
        )
        return Request(
            self._url,
            signed_headers(self._key, item.id, timestamp, body),
            total_seconds=REQUEST_TIMEOUT_SECONDS,
            max_bytes=MAX_RESPONSE_BYTES,
            cut=True,
            method="POST",
            body=body,
        )


def _retry_after(response: Response) -> float | None:
    text = (response.header("retry-after") or "").strip()
    return float(text) if text.isascii() and text.isdigit() else None
