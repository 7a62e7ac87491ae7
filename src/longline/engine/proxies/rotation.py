"""Rotation of proxies: the choice of a proxy for each request, and the results of each proxy.

A pick is a transaction in which all workers wait for each other, so simultaneous requests share one pick. Results are
written before the next pick: no request goes to a proxy that already failed too often. A host that sticks to its proxy
picks none until its time is over or the proxy failed.
"""

import asyncio
from collections import defaultdict

import msgspec

from longline.engine.metrics import MetricCounters
from longline.model.bounded_dict import BoundedDict
from longline.model.errors import BadInput
from longline.model.metrics.metric import PROXY_FAILURES
from longline.model.proxies.proxy import UNREGISTERED, NoProxies, ProxyRequest, ProxyUse
from longline.model.proxies.proxy_health import FAILED_PROXY_REST_MS
from longline.model.runs.crawl_plan import CrawlPlan
from longline.ports.clock import Clock
from longline.ports.http import FetchFailed
from longline.ports.records.proxies import PickedProxy, ProxySource

BATCH_SIZE = 64
NO_PROXY_CACHE_SECONDS = 5.0
"""Seconds for which the absence of any proxy is cached."""

MAX_STICKY_PROXIES = 10_000

Waiting = asyncio.Future["PickedProxy | None"]


class ProxyRotation:
    """The proxies of one worker's requests; a host sticks to one for `sticky` seconds.

    The absence of any proxy is cached for some seconds, if `caches_absence` says so.
    """

    def __init__(
        self,
        ways: ProxySource,
        clock: Clock,
        sticky: float = 0.0,
        metrics: MetricCounters | None = None,
        *,
        caches_absence: bool = True,
    ) -> None:
        self._metrics, self._caches_absence = metrics or MetricCounters(), caches_absence
        self._ways, self._clock, self._sticky = ways, clock, sticky
        self._stuck: BoundedDict[tuple[str, ProxyRequest], tuple[float, PickedProxy]] = BoundedDict(MAX_STICKY_PROXIES)
        self._unlocked: BoundedDict[str, PickedProxy] = BoundedDict(MAX_STICKY_PROXIES)
        self._without: dict[ProxyRequest, float] = {}
        self._waiting: dict[ProxyRequest, list[Waiting]] = defaultdict(list)
        self._serving: dict[ProxyRequest, asyncio.Task[None]] = {}
        self._used: list[ProxyUse] = []
        self._telling = asyncio.Lock()

    async def next(self, plan: CrawlPlan, failed: frozenset[int], host: str = "") -> PickedProxy | None:
        """Return the next proxy for a host, except the `failed` ones; None means no proxy at all.

        Raise `FetchFailed` when there are proxies and none is usable, unless the plan allows direct requests, and when
        a pool of the plan does not exist.
        """
        wish = plan.fetch.proxying
        if not wish.use:
            return None
        if wish.own:
            return self._own(wish.own)
        ask = ProxyRequest(
            plan.source_id, wish.pool, wish.fallbacks, wish.country, failed, wish.strategy, shared=wish.shared
        )
        try:
            way = await self._at_host(host, ask) if self._sticky and host else await self._turn(ask)
            return msgspec.structs.replace(way, pool=wish.pool) if way is not None and wish.pool else way
        except NoProxies as error:
            if wish.direct:
                return None
            rest = FAILED_PROXY_REST_MS / 1000 if wish.pool and not failed else None
            raise FetchFailed("proxy_exhausted", str(error), retry_after=rest) from None
        except BadInput as error:
            raise FetchFailed("proxy_exhausted", str(error)) from None

    def _own(self, locked: str) -> PickedProxy:
        """Return the proxy that the plan has for itself alone."""
        if (found := self._unlocked.get(locked)) is None:
            found = self._unlocked[locked] = self._ways.unlock(locked)
        return found

    def note(self, way: PickedProxy, ms: int, *, ok: bool) -> None:
        """Remember the result of a request; results are written before the next pick, or by `write_results`."""
        if way.proxy_id == UNREGISTERED:
            return
        self._used.append(ProxyUse(way.proxy_id, way.source_id, ok, ms, self._clock.now()))
        if not ok:
            self._metrics.add(PROXY_FAILURES, way.pool)
            self._unstick(way.proxy_id)

    def forget(self, proxy_id: int | None = None) -> None:
        """Look for proxies again where there were none; no host sticks to the proxy of this id any more."""
        self._without.clear()
        if proxy_id is not None:
            self._unstick(proxy_id)

    def _unstick(self, proxy_id: int) -> None:
        for place in [place for place, (_, kept) in self._stuck.items() if kept.proxy_id == proxy_id]:
            del self._stuck[place]

    async def write_results(self) -> None:
        """Write the results of requests."""
        async with self._telling:
            used, self._used = self._used, []
            try:
                if used:
                    await self._ways.account(used)
            except BaseException:
                self._used = used + self._used
                raise

    async def _at_host(self, host: str, ask: ProxyRequest) -> PickedProxy | None:
        """Return the proxy that the host sticks to, or a new one."""
        place = host, msgspec.structs.replace(ask, exclude=frozenset())
        until, kept = self._stuck.get(place, (0.0, None))
        if kept is not None and self._clock.monotonic() < until and kept.proxy_id not in ask.exclude:
            return kept
        way = await self._turn(ask)
        if way is not None:
            self._stuck[place] = self._clock.monotonic() + self._sticky, way
        return way

    async def _turn(self, ask: ProxyRequest) -> PickedProxy | None:
        kind = msgspec.structs.replace(ask, exclude=frozenset())
        if self._clock.monotonic() < self._without.get(kind, float("-inf")):
            return None
        if ask.exclude:
            return next(iter(await self._pick(ask)), None)
        waiting: Waiting = asyncio.get_running_loop().create_future()
        self._waiting[ask].append(waiting)
        if ask not in self._serving:
            self._serving[ask] = asyncio.create_task(self._serve(ask), name="proxies")
        return await waiting

    async def _serve(self, ask: ProxyRequest) -> None:
        """Serve the requests that wait for the same kind of proxy, until none waits."""
        try:
            while waiting := [w for w in self._waiting.pop(ask, []) if not w.done()]:
                now, later = waiting[:BATCH_SIZE], waiting[BATCH_SIZE:]
                try:
                    ways = await self._pick(msgspec.structs.replace(ask, wanted=len(now)))
                except Exception as error:
                    for waiter in now:
                        if not waiter.done():
                            waiter.set_exception(error)
                    ways, now = [], []
                # Fewer proxies than wanted: the other requests pick again, and get the reason for the lack.
                unserved = _serve_some(now, ways) if ways else _serve_none(now)
                self._waiting[ask][:0] = unserved + later
        finally:
            del self._serving[ask]

    async def _pick(self, ask: ProxyRequest) -> list[PickedProxy]:
        await self.write_results()
        ways = await self._ways.pick(ask)
        if not ways and self._caches_absence:
            kind = msgspec.structs.replace(ask, exclude=frozenset(), wanted=1)
            self._without[kind] = self._clock.monotonic() + NO_PROXY_CACHE_SECONDS
        return ways


def _serve_some(waiting: list[Waiting], ways: list[PickedProxy]) -> list[Waiting]:
    asking = [w for w in waiting if not w.done()]
    for waiter, way in zip(asking, ways, strict=False):
        waiter.set_result(way)
    return asking[len(ways) :]


def _serve_none(waiting: list[Waiting]) -> list[Waiting]:
    for waiter in waiting:
        if not waiter.done():
            waiter.set_result(None)
    return []
