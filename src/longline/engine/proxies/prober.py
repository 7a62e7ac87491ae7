"""Probes of proxies that failed too often, to bring back proxies that work again."""

import asyncio
import logging

from longline.model.proxies.proxy import ProxyUse
from longline.model.proxies.proxy_health import BEFORE_PROXY, PROBE_TIMEOUT_SECONDS, blames_proxy
from longline.ports.clock import Clock
from longline.ports.http import FetchFailed, Http, Request
from longline.ports.records.proxies import PickedProxy, ProxySource

log = logging.getLogger(__name__)

LOOK_INTERVAL_SECONDS = 60.0
"""Time between two looks for failed proxies that are due for a trial."""


class Prober:
    """A prober that sends one request through each proxy that is due."""

    def __init__(self, ways: ProxySource, http: Http, clock: Clock, url: str) -> None:
        self._ways, self._http, self._clock, self._url = ways, http, clock, url

    async def once(self) -> int:
        """Probe the proxies that are due, all at once, and write the results; return the number of proxies."""
        ways = await self._ways.probes()
        probed = await asyncio.gather(*(self._probe(way) for way in ways))
        if used := [one for one in probed if one]:
            await self._ways.account(used)
            log.info("proxies probed", extra={"probed": len(used), "recovered": sum(one.ok for one in used)})
        return len(probed)

    async def _probe(self, way: PickedProxy) -> ProxyUse | None:
        """Return the result of a probe, or None when the request never reached the proxy."""
        start, ok = self._clock.monotonic(), True
        try:
            response = await self._http.fetch(Request(self._url, total_seconds=PROBE_TIMEOUT_SECONDS, proxy=way.proxy))
            ok = not blames_proxy(None, response.status)
        except FetchFailed as failure:
            if failure.kind in BEFORE_PROXY:
                log.warning("proxy probe not sent", extra={"url": self._url, "reason": failure.kind})
                return None
            # A failed fetch does not show that the proxy works.
            log.info("proxy probe failed", extra={"proxy": way.proxy.label, "reason": failure.kind})
            ok = False
        ms = round((self._clock.monotonic() - start) * 1000)
        return ProxyUse(way.proxy_id, way.source_id, ok, ms, self._clock.now())
