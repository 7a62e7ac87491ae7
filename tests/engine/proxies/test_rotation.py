import asyncio

import pytest

from longline.engine.proxies.rotation import NO_PROXY_CACHE_SECONDS, ProxyRotation
from longline.model.errors import BadInput, Unavailable
from longline.model.proxies.proxy import ProxyRequest
from longline.model.proxies.proxy_uri import Proxy
from longline.model.runs.crawl_plan import Proxying
from longline.ports.http import FetchFailed
from longline.ports.records.proxies import PickedProxy
from longline.testing.clock import FakeClock
from tests.engine.fakes import FakeWays
from tests.plans import changed, crawl_plan

PLAN = crawl_plan((), source_id=7)
NOBODY: frozenset[int] = frozenset()


def way(number: int) -> PickedProxy:
    return PickedProxy(number, Proxy("http", "192.0.2.1", 8000 + number), source_id=7)


@pytest.fixture
def ways() -> FakeWays:
    return FakeWays(way(1), way(2), way(3))


@pytest.fixture
def exits(ways: FakeWays, clock: FakeClock) -> ProxyRotation:
    return ProxyRotation(ways, clock)


async def test_simultaneous_requests_are_served_by_one_pick(exits: ProxyRotation, ways: FakeWays):
    got = await asyncio.gather(*(exits.next(PLAN, NOBODY) for _ in range(7)))
    assert [w.proxy_id for w in got if w] == [1, 2, 3, 1, 2, 3, 1]
    assert [ask.wanted for ask in ways.picks] == [7]
    assert ways.picks[0].source_id == 7


async def test_requests_during_a_pick_are_served_by_the_next(exits: ProxyRotation, ways: FakeWays):
    first = asyncio.create_task(exits.next(PLAN, NOBODY))
    for _ in range(3):
        await asyncio.sleep(0)
    rest = await asyncio.gather(*(exits.next(PLAN, NOBODY) for _ in range(3)))
    assert (await first, [ask.wanted for ask in ways.picks]) == (way(1), [1, 3])
    assert [w.proxy_id for w in rest if w] == [2, 3, 1]


async def test_proxies_that_failed_the_page_are_not_picked_again(exits: ProxyRotation, ways: FakeWays):
    got = await exits.next(PLAN, frozenset({1, 3}))
    assert got == way(2)
    with pytest.raises(FetchFailed, match="none of 3 proxies") as caught:
        await exits.next(PLAN, frozenset({1, 2, 3}))
    assert caught.value.kind == "proxy_exhausted"


async def test_all_waiting_requests_fail_if_no_proxy_is_available(exits: ProxyRotation, ways: FakeWays):
    ways.spent = {1, 2, 3}
    got = await asyncio.gather(*(exits.next(PLAN, NOBODY) for _ in range(3)), return_exceptions=True)
    assert [getattr(g, "kind", g) for g in got] == ["proxy_exhausted"] * 3
    ways.spent = set()
    assert await exits.next(PLAN, NOBODY), "a later request may succeed"


async def test_a_plan_may_send_directly_if_no_proxy_is_available(exits: ProxyRotation, ways: FakeWays):
    ways.spent = {1, 2, 3}
    assert await exits.next(crawl_plan((), proxying=Proxying(direct=True)), NOBODY) is None


async def test_a_plan_may_use_no_proxies(exits: ProxyRotation, ways: FakeWays):
    assert await exits.next(crawl_plan((), proxying=Proxying(use=False)), NOBODY) is None
    assert ways.picks == []


async def test_the_pick_has_the_options_of_the_plan(exits: ProxyRotation, ways: FakeWays):
    await exits.next(crawl_plan((), proxying=Proxying(pool="west", country="DE", strategy="health")), NOBODY)
    (ask,) = ways.picks
    assert (ask.source_id, ask.pool, ask.country, ask.strategy) == (None, "west", "DE", "health")


async def test_the_absence_of_proxies_is_cached(clock: FakeClock):
    ways = FakeWays()
    exits = ProxyRotation(ways, clock)
    for _ in range(5):
        assert await exits.next(PLAN, NOBODY) is None
    assert len(ways.picks) == 1
    clock.advance(NO_PROXY_CACHE_SECONDS)
    ways.ways = [way(1)]
    assert await exits.next(PLAN, NOBODY) == way(1), "a proxy that was registered meanwhile is found"


async def test_a_proxy_is_found_at_once_after_a_signal(clock: FakeClock):
    ways = FakeWays()
    exits = ProxyRotation(ways, clock)
    assert await exits.next(PLAN, NOBODY) is None
    ways.ways = [way(1)]
    exits.forget()
    assert await exits.next(PLAN, NOBODY) == way(1)


async def test_an_order_of_a_person_does_not_cache_the_absence_of_proxies(clock: FakeClock):
    ways = FakeWays()
    exits = ProxyRotation(ways, clock, caches_absence=False)
    assert await exits.next(PLAN, NOBODY) is None
    ways.ways = [way(1)]
    assert await exits.next(PLAN, NOBODY) == way(1)


async def test_results_are_written_before_the_next_pick(exits: ProxyRotation, ways: FakeWays):
    got = await exits.next(PLAN, NOBODY)
    assert got
    exits.note(got, 5, ok=False)
    await exits.next(PLAN, NOBODY)
    assert ways.journal == ["pick", "account", "pick"]
    assert [(u.proxy_id, u.source_id, u.ok, u.ms) for u in ways.used] == [(1, 7, False, 5)]


async def test_results_of_a_failed_write_are_written_later_and_once(exits: ProxyRotation, ways: FakeWays):
    exits.note(way(1), 5, ok=True)
    ways.away = True
    with pytest.raises(Unavailable):
        await exits.write_results()
    exits.note(way(2), 6, ok=True)
    ways.away = False
    await exits.write_results()
    await exits.write_results()
    assert [u.proxy_id for u in ways.used] == [1, 2]


async def test_an_unavailable_engine_is_raised(exits: ProxyRotation, ways: FakeWays):
    ways.away = True
    with pytest.raises(Unavailable):
        await exits.next(PLAN, NOBODY)


async def test_a_cancelled_request_takes_no_proxy_from_the_others(exits: ProxyRotation, ways: FakeWays):
    asked = [asyncio.create_task(exits.next(PLAN, NOBODY)) for _ in range(3)]
    await asyncio.sleep(0)
    asked[0].cancel()
    got = await asyncio.gather(*asked, return_exceptions=True)
    assert isinstance(got[0], asyncio.CancelledError)
    assert all(isinstance(g, PickedProxy) for g in got[1:])


# -- sticky hosts -----------------------------------------------------------------------------------------------


@pytest.fixture
def sticky(ways: FakeWays, clock: FakeClock) -> ProxyRotation:
    return ProxyRotation(ways, clock, sticky=60.0)


async def of_hosts(exits: ProxyRotation, *hosts: str, failed: frozenset[int] = NOBODY) -> list[int]:
    return [found.proxy_id for host in hosts if (found := await exits.next(PLAN, failed, host))]


async def test_a_host_keeps_its_proxy_for_a_while(sticky: ProxyRotation, ways: FakeWays, clock: FakeClock):
    assert await of_hosts(sticky, "a", "b", "a", "b", "b") == [1, 2, 1, 2, 2]
    assert len(ways.picks) == 2
    clock.advance(59)
    assert await of_hosts(sticky, "a") == [1]
    clock.advance(1)
    assert await of_hosts(sticky, "a", "a") == [3, 3]


async def test_a_host_leaves_a_proxy_that_failed_and_keeps_the_next(sticky: ProxyRotation):
    assert await of_hosts(sticky, "a", "a") == [1, 1]
    assert await of_hosts(sticky, "a", failed=frozenset({1})) == [3]
    assert await of_hosts(sticky, "a") == [3]


async def test_a_failed_proxy_is_left_by_all_its_hosts(sticky: ProxyRotation):
    assert await of_hosts(sticky, "a", "b", "c", "d") == [1, 2, 3, 1]
    sticky.note(way(1), 5, ok=False)
    sticky.note(way(2), 5, ok=True)
    assert await of_hosts(sticky, "b", "c", "a", "d") == [2, 3, 2, 3]


async def test_a_changed_proxy_is_left_by_its_hosts_and_no_other(sticky: ProxyRotation):
    assert await of_hosts(sticky, "a", "b") == [1, 2]
    sticky.forget(1)
    assert await of_hosts(sticky, "b", "a") == [2, 3]
    sticky.forget()
    assert await of_hosts(sticky, "b", "a") == [2, 3]


async def test_requests_without_a_host_rotate(sticky: ProxyRotation):
    assert await of_hosts(sticky, "", "", "") == [1, 2, 3]


async def test_a_missing_pool_fails_the_page_and_sends_nothing_directly(clock: FakeClock):
    class Gone(FakeWays):
        async def pick(self, ask: ProxyRequest) -> list[PickedProxy]:
            raise BadInput(f"there is no proxy pool named {ask.pool!r}")

    plan = changed(PLAN, proxying=Proxying.by_pools(["homes", "cheap"]))
    with pytest.raises(FetchFailed, match="no proxy pool named 'homes'") as failed:
        await ProxyRotation(Gone(), clock).next(plan, NOBODY)
    assert failed.value.kind == "proxy_exhausted"


async def test_a_plan_with_a_proxy_of_its_own_uses_no_other_and_writes_no_results(clock: FakeClock):
    ways = FakeWays(way(1))
    rotation = ProxyRotation(ways, clock)
    plan = changed(PLAN, proxying=Proxying(own="http://10.9.9.9:3128", max_proxies=1))
    found = [await rotation.next(plan, NOBODY) for _ in range(3)]
    assert {each and each.proxy.label for each in found} == {"http://10.9.9.9:3128"}
    assert found[0] is not None
    rotation.note(found[0], 5, ok=False)
    await rotation.write_results()
    assert (ways.journal, ways.used) == (["unlock"], [])
