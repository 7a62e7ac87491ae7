"""Export of metrics to an OTLP collector: by HTTP, at an interval."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from longline.engine.loop_supervisor import chore
from longline.ports.http import FetchFailed, Http, Request

log = logging.getLogger(__name__)

EXPORT_INTERVAL_SECONDS = 60.0
"""Seconds between two exports, as the OpenTelemetry specification has them by default."""

TIMEOUT_SECONDS = 10.0

_PATH = "/v1/metrics"
_HEADERS = (("content-type", "application/json"),)


class OtlpExport:
    """The exporter of one process. A collector that fails gets the sums with the next export, so nothing is kept."""

    def __init__(self, http: Http, endpoint: str, document: Callable[[], Awaitable[bytes]]) -> None:
        base = endpoint.rstrip("/")
        self._url = base if base.endswith(_PATH) else base + _PATH
        self._http, self._document, self._fails = http, document, False

    async def run(self, stop: asyncio.Event) -> None:
        """Send the metrics at an interval until the stop, and once more then."""
        await chore(self.once, EXPORT_INTERVAL_SECONDS)(stop)
        await self.once()

    async def once(self) -> None:
        """Send all metrics; the first failure in a row is logged."""
        body = await self._document()
        request = Request(self._url, _HEADERS, total_seconds=TIMEOUT_SECONDS, method="POST", body=body)
        try:
            answer = await self._http.fetch(request)
            problem = f"HTTP {answer.status}" if answer.status >= 300 else ""
        except FetchFailed as failed:
            problem = failed.kind
        if problem and not self._fails:
            log.warning("metrics not taken by the OTLP collector", extra={"reason": problem})
        self._fails = bool(problem)

    async def close(self) -> None:
        """Close the client: not at the end of `run`, which is called again after an error."""
        await self._http.close()
