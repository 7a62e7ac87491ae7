"""Proxies and pools on both engines: rotation, counts and storage."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from typing import TypeVar

import msgspec
import pytest

from longline.drivers.records import open_database, open_records
from longline.drivers.records.database import Database, Transaction
from longline.drivers.records.proxies.proxies import PoolRecords, ProxyRecords
from longline.model.duration import HOUR_MS
from longline.model.errors import BadInput, Conflict, NotFound
from longline.model.proxies.proxy import (
    SKIP_AFTER_FAILURES,
    NewProxy,
    Picked,
    Pool,
    ProxyChange,
    ProxyFilter,
    ProxyRequest,
    ProxyRow,
    ProxyUse,
)
from longline.model.proxies.proxy_health import DISABLE_AFTER_FAILURES, PROBE_INTERVAL_MS
from longline.model.proxies.proxy_selection import SLOT_MS
from longline.model.sources.source import NewSource
from longline.ports.records import Records
from longline.services.proxies.pools import Pools
from longline.testing.clock import FakeClock
from tests.drivers.records.gates import Gate, GatedDatabase, interleave
from tests.drivers.records.peek import Peek

T = TypeVar("T")


@pytest.fixture(autouse=True)
async def nothing_left_over(peek: Peek) -> None:
    """Tables without proxies and pools; all tests share one PostgreSQL database."""
    await peek.rows("DELETE FROM pools")
    await peek.rows("DELETE FROM proxies")


async def add(records: Records, amount: int = 1, **facts: object) -> list[int]:
    """Add proxies on hosts of their own; return their ids."""
    made = []
    for _ in range(amount):
        number = len(await records.proxies.find(limit=1000))
        row = await records.proxies.add(NewProxy(f"p{number}.example", 3128, **facts))  # type: ignore[arg-type]
        assert row is not None
        made.append(row.id)
    return made


async def source_with(records: Records, proxies: list[int], name: str = "news") -> int:
    source = await records.sources.add(NewSource(name, f"https://{name}.example/"))
    await records.proxies.assign(source.id, proxies)
    return source.id


async def picked(records: Records, **asked: object) -> list[int]:
    found: Picked = await records.proxies.pick(ProxyRequest(**asked))  # type: ignore[arg-type]
    return [row.id for row in found.proxies]


async def proxy(records: Records, proxy_id: int) -> ProxyRow:
    row = await records.proxies.get(proxy_id)
    assert row is not None
    return row


async def account(records: Records, proxy_id: int, source_id: int | None = None, *oks: bool, ms: int = 100) -> None:
    now = await records.schema.now()
    await records.proxies.account([ProxyUse(proxy_id, source_id, ok, ms, now) for ok in oks])


# Storage


async def test_a_proxy_is_stored_unchanged(records: Records, clock: FakeClock):
    new = NewProxy("p.example", 1080, "socks5", "ann", "locked", "DE", "Bonn", "acme", 1250, 60, 2)
    row = await records.proxies.add(new)
    assert row is not None
    assert [getattr(row, name) for name in NewProxy.__struct_fields__] == [
        getattr(new, name) for name in NewProxy.__struct_fields__
    ]
    assert row.active is True
    assert row.disabled_reason is None
    assert row.failure_count == 0
    assert row.last_used_at is None
    assert row.turn == 0
    assert (row.created_at, row.updated_at) == (clock.now(), clock.now())
    assert await records.proxies.get(row.id) == row
    assert await records.proxies.get(row.id + 1) is None


async def test_a_proxy_is_known_by_scheme_host_port_and_username(records: Records):
    first = await records.proxies.add(NewProxy("p.example", 80))
    assert first is not None
    assert await records.proxies.add(NewProxy("p.example", 80, secret="other")) is None
    others = [("p.example", 81, "http", ""), ("p.example", 80, "socks5", ""), ("p.example", 80, "http", "ann")]
    made = [await records.proxies.add(NewProxy(host, port, scheme, name)) for host, port, scheme, name in others]  # type: ignore[arg-type]
    assert all(made)
    with pytest.raises(Conflict, match=r"there is already such a proxy at p\.example:80"):
        await records.proxies.update(first.id, ProxyChange(username="ann"))
    assert await records.proxies.update(first.id, ProxyChange(username="bob"))


async def test_proxies_are_found_by_their_attributes(records: Records):
    a, b = await add(records, 2, country="DE", provider="acme")
    (c,) = await add(records, country="FR", provider="acme")
    (d,) = await add(records)
    await records.proxies.update(b, ProxyChange(active=False))

    async def found(**wanted: object) -> list[int]:
        return [row.id for row in await records.proxies.find(ProxyFilter(**wanted))]  # type: ignore[arg-type]

    assert await found() == [a, b, c, d]
    assert [row.id for row in await records.proxies.find(limit=2, offset=1)] == [b, c]
    assert await found(active=True) == [a, c, d]
    assert await found(active=False) == [b]
    assert await found(country="DE") == [a, b]
    assert await found(provider="acme", country="FR") == [c]


async def test_a_change_touches_the_named_fields_alone(records: Records, clock: FakeClock):
    (a,) = await add(records, country="DE", username="ann")
    clock.advance(5)
    row = await records.proxies.update(a, ProxyChange(secret="locked", country=None, max_per_hour=7))
    assert row is not None
    assert (row.secret, row.country, row.max_per_hour, row.username) == ("locked", None, 7, "ann")
    assert (row.updated_at, row.created_at) == (clock.now(), clock.now() - 5_000)
    assert await records.proxies.get(a) == row
    assert await records.proxies.update(a + 1, ProxyChange()) is None


async def test_a_removed_proxy_leaves_no_row(records: Records, peek: Peek):
    a, b = await add(records, 2)
    source = await source_with(records, [a, b])
    await records.pools.put([Pool("one", (a, b))])
    assert await picked(records, source_id=source, wanted=2) == [a, b]
    assert await records.proxies.remove(a)
    assert not await records.proxies.remove(a)
    assert [m.proxy_id for m in await records.proxies.mappings(source)] == [b]
    assert await records.pools.find() == [Pool("one", (b,))]
    assert await peek.rows("SELECT DISTINCT proxy_id FROM proxy_uses") == [(b,)]
    await account(records, a, source, True)


# Sources


async def test_a_removed_source_keeps_its_proxies(records: Records, records_url: str, clock: FakeClock):
    (a,) = await add(records)
    source = await source_with(records, [a])
    database = await open_database(records_url, clock)

    async def remove(tx: Transaction) -> None:
        await tx.script(f"DELETE FROM sources WHERE id = {source};")

    await database.transact(remove)
    await database.close()
    assert await records.proxies.mappings(source) == []
    assert await proxy(records, a)


async def test_proxies_are_assigned_to_a_source_once(records: Records):
    a, b, c = await add(records, 3)
    source = await records.sources.add(NewSource("news", "https://news.example/"))
    assert await records.proxies.assign(source.id, [a, b, a], priority=3) == 2
    assert await records.proxies.assign(source.id, [b, c], priority=1) == 1
    rows = await records.proxies.mappings(source.id)
    assert [(m.proxy_id, m.priority, m.active) for m in rows] == [(c, 1, True), (a, 3, True), (b, 3, True)]
    assert await records.proxies.unassign(source.id, a)
    assert not await records.proxies.unassign(source.id, a)
    assert [m.proxy_id for m in await records.proxies.mappings(source.id)] == [c, b]


async def test_an_unknown_proxy_is_named_and_none_is_assigned(records: Records):
    (a,) = await add(records)
    source = await records.sources.add(NewSource("news", "https://news.example/"))
    with pytest.raises(NotFound, match=f"{a + 7}, {a + 9}"):
        await records.proxies.assign(source.id, [a, a + 7, a + 9])
    assert await records.proxies.mappings(source.id) == []
    with pytest.raises(NotFound, match="no such source"):
        await records.proxies.assign(source.id + 1, [a])


@pytest.mark.parametrize("active", [True, False])
async def test_switching_a_mapping_resets_its_failures(records: Records, active: bool):
    (a,) = await add(records)
    source = await source_with(records, [a])
    await account(records, a, source, *[False] * SKIP_AFTER_FAILURES)
    row = await records.proxies.switch(source, a, active)
    assert row is not None
    assert (row.active, row.failure_count, row.total_failures) == (active, 0, SKIP_AFTER_FAILURES)
    assert await picked(records, source_id=source) == ([a] if active else [])
    assert await records.proxies.switch(source, a + 1, active) is None


# Rotation


async def test_five_proxies_rotate_and_begin_again(records: Records, clock: FakeClock):
    five = await add(records, 5)
    source = await source_with(records, five)
    for turn in range(12):
        assert await picked(records, source_id=source) == [five[turn % 5]], turn
        if turn > 5:
            clock.advance(1)
    assert [m.last_used_at for m in await records.proxies.mappings(source)].count(None) == 0
    row = await proxy(records, five[1])
    assert row.last_used_at == clock.now() - 1000


async def test_rotation_does_not_depend_on_the_order_of_answers(records: Records, clock: FakeClock):
    five = await add(records, 5)
    source = await source_with(records, five)
    assert await picked(records, source_id=source, wanted=5) == five
    clock.advance(1)
    for proxy_id in reversed(five):
        await account(records, proxy_id, source, True)
    assert await picked(records, source_id=source, wanted=6) == [*five, five[0]]


async def test_a_picked_proxy_is_stamped_and_returned(records: Records, clock: FakeClock):
    a, b = await add(records, 2)
    source = await source_with(records, [a])
    found = await records.proxies.pick(ProxyRequest(source_id=source))
    assert (found.size, found.mapped, found.exhausted) == (1, True, False)
    assert found.proxies == (await proxy(records, a),)
    assert found.proxies[0].last_used_at == clock.now()
    assert (await proxy(records, b)).last_used_at is None
    assert [m.last_used_at for m in await records.proxies.mappings(source)] == [clock.now()]


async def test_a_source_with_proxies_of_its_own_uses_no_others(records: Records):
    a, b = await add(records, 2)
    source = await source_with(records, [a])
    await records.proxies.switch(source, a, False)
    found = await records.proxies.pick(ProxyRequest(source_id=source))
    assert (found.proxies, found.size, found.exhausted) == ((), 1, True)
    other = await records.sources.add(NewSource("other", "https://other.example/"))
    found = await records.proxies.pick(ProxyRequest(source_id=other.id, wanted=2))
    assert ([row.id for row in found.proxies], found.size, found.mapped) == ([b, b], 1, False)


async def test_a_proxy_of_a_pool_or_a_source_is_not_in_the_shared_pool(records: Records):
    free, pooled, given = await add(records, 3)
    assert sorted(await picked(records, wanted=3)) == [free, pooled, given]
    await records.pools.put([Pool("homes", (pooled,))])
    source = await source_with(records, [given])
    assert await picked(records, wanted=3) == [free, free, free]
    await records.proxies.unassign(source, given)
    await records.pools.drop("homes")
    assert sorted(await picked(records, wanted=3)) == [free, pooled, given]


async def test_sources_that_share_use_the_proxies_of_other_sources_but_not_of_pools(records: Records):
    free, pooled, given = await add(records, 3)
    await records.pools.put([Pool("homes", (pooled,))])
    source = await source_with(records, [given])
    other = await records.sources.add(NewSource("other", "https://other.example/"))
    assert sorted(await picked(records, source_id=other.id, shared=True, wanted=2)) == [free, given]
    assert await picked(records, source_id=source, shared=True, wanted=2) == [given, given]
    await records.proxies.update(free, ProxyChange(active=False))
    await account(records, given, None, *[False] * SKIP_AFTER_FAILURES)
    found = await records.proxies.pick(ProxyRequest(source_id=other.id, shared=True))
    assert (found.size, found.exhausted, found.mapped) == (2, True, False)


async def test_figures_for_lists_come_in_one_query_each(records: Records):
    a, b, c = await add(records, 3, country="DE")
    await add(records, 1, country="FR")
    source, other = await source_with(records, [a, b]), await source_with(records, [a], "other")
    assert (await records.proxy_figures.count(), await records.proxy_figures.count(ProxyFilter(country="DE"))) == (4, 3)
    await account(records, a, source, True, True, ms=100)
    await account(records, b, source, *[False] * 5, ms=300)
    mapped = await records.proxy_figures.mapped(source)
    assert [(row.proxy_id, row.host, row.active, row.success_count, row.total_failures) for row in mapped] == [
        (a, "p0.example", True, 2, 0),
        (b, "p1.example", False, 0, 5),
    ]
    assert [row.proxy_id for row in await records.proxy_figures.mapped(source, active=False)] == [b]
    sums = await records.proxy_figures.sums([source, other, 0])
    assert set(sums) == {source, other}
    one = sums[source]
    assert (one.proxies, one.active, one.failing, one.successes, one.failures) == (2, 1, 1, 2, 5)
    assert (sums[other].proxies, sums[other].avg_ms) == (1, None)
    assert await records.proxy_figures.sources_of([a, b, c]) == {a: [source, other], b: [source]}


async def test_an_empty_pool_is_not_exhausted(records: Records):
    found = await records.proxies.pick(ProxyRequest())
    assert (found.proxies, found.size, found.exhausted) == ((), 0, False)


async def test_the_shared_pool_rotates_by_turn_then_speed(records: Records):
    a, b, c = await add(records, 3)
    await account(records, b, None, True, ms=900)
    await account(records, c, None, True, ms=80)
    assert await picked(records, wanted=4) == [c, b, a, c]
    assert await picked(records, exclude=frozenset({b})) == [a]


async def test_only_proxies_of_the_requested_country_are_picked(records: Records):
    a, b = (await add(records, country="DE")) + (await add(records, country="FR"))
    source = await source_with(records, [a])
    assert await picked(records, country="FR", wanted=2) == [b, b]
    assert await picked(records, country="US") == []
    assert (await records.proxies.pick(ProxyRequest(source_id=source, country="FR"))).exhausted


async def test_a_strategy_may_be_selected(records: Records):
    a, b, c = await add(records, 3, provider="acme")
    (d,) = await add(records, provider="other")
    assert await picked(records, wanted=1) == [a]
    assert await picked(records, strategy="geo") == [d]
    await account(records, c, None, True, ms=10)
    assert await picked(records, strategy="health") == [c]
    assert {(await picked(records, strategy="random3"))[0] for _ in range(30)} == {a, b, c, d}


async def test_a_proxy_at_five_failures_is_skipped_and_at_ten_is_disabled(records: Records):
    a, b = await add(records, 2)
    one, two, three = [await source_with(records, [a, b], name) for name in ("one", "two", "three")]
    await account(records, a, one, *[False] * (SKIP_AFTER_FAILURES - 1))
    assert a in await picked(records, source_id=one, wanted=2)
    await account(records, a, one, False)
    assert await picked(records, source_id=one, wanted=3) == [b, b, b]
    free, failing = await add(records, 2)
    await account(records, failing, None, *[False] * SKIP_AFTER_FAILURES)
    assert await picked(records, wanted=2) == [free, free], "the shared pool uses none either"
    assert a in await picked(records, source_id=two, wanted=2), "other sources still may"
    await account(records, a, two, *[False] * (DISABLE_AFTER_FAILURES - SKIP_AFTER_FAILURES - 1))
    row = await proxy(records, a)
    assert (row.failure_count, row.active, row.disabled_reason) == (DISABLE_AFTER_FAILURES - 1, True, None)
    await account(records, a, two, False)
    row = await proxy(records, a)
    assert (row.failure_count, row.active, row.disabled_reason) == (DISABLE_AFTER_FAILURES, False, "auto")
    assert await picked(records, source_id=three, wanted=2) == [b, b], "a disabled proxy is disabled for all"


# Hourly limits


async def test_the_hourly_limit_is_used_up_exactly(records: Records, clock: FakeClock, peek: Peek):
    a, b = (await add(records, max_per_hour=3)) + (await add(records, max_per_hour=5))
    one, two = await source_with(records, [a, b], "one"), await source_with(records, [a], "two")
    assert Counter(await picked(records, source_id=one, wanted=7)) == {a: 3, b: 4}
    assert await picked(records, source_id=two) == [], "the limit is the proxy's, for all sources together"
    assert Counter(await picked(records, source_id=one, wanted=9)) == {b: 1}
    assert (await records.proxies.pick(ProxyRequest(source_id=one))).exhausted
    clock.advance((HOUR_MS - SLOT_MS) / 1000)
    assert await picked(records, source_id=one) == []
    clock.advance(2 * SLOT_MS / 1000)
    assert Counter(await picked(records, source_id=one, wanted=9)) == {a: 3, b: 5}
    assert await peek.rows("SELECT COUNT(*) FROM proxy_uses") == [(2,)], "uses of past hours are deleted"


async def test_no_hour_exceeds_the_limit_from_any_beginning(records: Records, clock: FakeClock):
    (a,) = await add(records, max_per_hour=6)
    gone: list[int] = []
    for _ in range(150):
        gone += [clock.now()] * len(await picked(records))
        clock.advance(97)
    assert max(sum(at - HOUR_MS < other <= at for other in gone) for at in gone) == 6
    assert len(gone) > 20, "the limit is used"
    assert (await proxy(records, a)).last_used_at == gone[-1]


# Accounting


async def test_figures_of_proxies_and_mappings_are_exact(records: Records, clock: FakeClock):
    a, b = await add(records, 2)
    source = await source_with(records, [a])
    at = clock.now()
    await records.proxies.account(
        [
            ProxyUse(a, source, True, 301, at + 1),
            ProxyUse(b, source, False, 5, at + 2),
            ProxyUse(a, source, False, 9, at + 3),
            ProxyUse(a, None, True, 100, at + 4),
            ProxyUse(a, source, False, 9, at + 5),
            ProxyUse(b, None, True, 70, at + 6),
        ]
    )
    row, other = await proxy(records, a), await proxy(records, b)
    assert (row.success_count, row.failure_count, row.total_failures, row.avg_ms) == (2, 1, 2, 200)
    assert (row.last_success_at, row.last_failure_at, row.last_used_at) == (at + 4, at + 5, None)
    assert (other.success_count, other.failure_count, other.total_failures, other.avg_ms) == (1, 0, 1, 70)
    (own,) = await records.proxies.mappings(source)
    assert (own.success_count, own.failure_count, own.total_failures, own.avg_ms) == (1, 2, 2, 301)
    await records.proxies.account([])
    assert await proxy(records, a) == row
    clock.advance(7)
    await account(records, a, source, False)
    (failed,), switched = await records.proxies.mappings(source), await proxy(records, a)
    assert switched.updated_at == failed.updated_at == row.updated_at + 7000 == clock.now()


async def test_a_late_success_enables_an_automatically_disabled_proxy_alone(records: Records):
    a, b = await add(records, 2)
    await account(records, a, None, *[False] * DISABLE_AFTER_FAILURES)
    await records.proxies.update(b, ProxyChange(active=False))
    for proxy_id in (a, b):
        await account(records, proxy_id, None, True)
    auto, manual = await proxy(records, a), await proxy(records, b)
    assert (auto.active, auto.disabled_reason, auto.failure_count, auto.probe_at) == (True, None, 0, None)
    assert (manual.active, manual.disabled_reason, manual.success_count) == (False, "manual", 1)
    assert await picked(records, wanted=2) == [a, a]
    on = await records.proxies.update(b, ProxyChange(active=True))
    assert on is not None
    assert (on.active, on.disabled_reason) == (True, None)


async def test_a_person_enables_a_failed_proxy(records: Records):
    (a,) = await add(records)
    await account(records, a, None, *[False] * (DISABLE_AFTER_FAILURES + 2))
    row = await records.proxies.update(a, ProxyChange(active=True))
    assert row is not None
    assert (row.active, row.failure_count, row.total_failures, row.probe_at) == (
        True,
        0,
        DISABLE_AFTER_FAILURES + 2,
        None,
    )
    assert await picked(records) == [a]


# Probes


async def test_a_failed_proxy_is_probed_once_in_a_quarter_of_an_hour(records: Records, clock: FakeClock):
    off, skipped, failing, manual = await add(records, 4)
    for proxy_id, failures in (
        (off, DISABLE_AFTER_FAILURES),
        (skipped, SKIP_AFTER_FAILURES),
        (failing, SKIP_AFTER_FAILURES - 1),
        (manual, DISABLE_AFTER_FAILURES),
    ):
        await records.proxies.account([ProxyUse(proxy_id, None, False, 1, clock.now())] * failures)
    await records.proxies.update(manual, ProxyChange(active=False))
    clock.advance(PROBE_INTERVAL_MS / 1000 - 1)
    assert await records.proxies.due_probes() == []
    clock.advance(1)
    assert [row.id for row in await records.proxies.due_probes()] == [off, skipped]
    assert await records.proxies.due_probes() == [], "each proxy is handed out once"
    await records.proxies.account(
        [ProxyUse(off, None, False, 1, clock.now()), ProxyUse(skipped, None, True, 1, clock.now())]
    )
    clock.advance(PROBE_INTERVAL_MS / 1000)
    assert [row.id for row in await records.proxies.due_probes()] == [off]
    await records.proxies.account([ProxyUse(off, None, True, 1, clock.now())])
    assert sorted(await picked(records, wanted=3)) == [off, skipped, failing]
    clock.advance(2 * PROBE_INTERVAL_MS / 1000)
    assert await records.proxies.due_probes() == []


async def test_probes_are_handed_out_a_few_at_a_time(records: Records, clock: FakeClock):
    three = await add(records, 3)
    for proxy_id in three:
        await records.proxies.account([ProxyUse(proxy_id, None, False, 1, clock.now())] * SKIP_AFTER_FAILURES)
    clock.advance(PROBE_INTERVAL_MS / 1000)
    found = [[row.id for row in await records.proxies.due_probes(2)] for _ in range(3)]
    assert [len(some) for some in found] == [2, 1, 0]
    assert sorted(proxy_id for some in found for proxy_id in some) == three


# Pools


async def test_a_plan_may_name_fallback_pools(records: Records):
    a, b, c = await add(records, 3)
    await records.pools.put([Pool("first", (a,), ("second",)), Pool("second", (b,)), Pool("other", (c, b))])
    ask = ProxyRequest(pool="first", fallbacks=("other",))
    found = []
    for failed in (frozenset[int](), frozenset({a}), frozenset({a, b}), frozenset({a, b, c})):
        one = await records.proxies.pick(msgspec.structs.replace(ask, exclude=failed))
        found.append(([row.id for row in one.proxies], one.size))
    assert found == [([a], 3), ([b], 3), ([c], 3), ([], 3)], "a page may try as many proxies as there are in all"


async def test_pools_keep_their_order(records: Records):
    a, b, c = await add(records, 3)
    one, two = Pool("one", (c, a, b), ("two",)), Pool("two/x", (), ())
    await records.pools.put([one, Pool("two", (a,)), two])
    assert await records.pools.find() == [one, Pool("two", (a,)), two]
    await records.pools.put([Pool("one", (b, b))])
    assert (await records.pools.find())[0] == Pool("one", (b,))
    assert await records.pools.drop("two")
    assert not await records.pools.drop("two")
    assert [pool.name for pool in await records.pools.find()] == ["one", "two/x"]


async def test_pools_without_working_proxies_are_failing(records: Records):
    a, b, c = await add(records, 3)
    await records.pools.put([Pool("one", (a, b)), Pool("two", (c,)), Pool("none", (), ("one",))])
    assert await records.pools.working() == {"one": 2, "two": 1}
    await account(records, a, None, *[False] * SKIP_AFTER_FAILURES)
    await account(records, c, None, *[False] * SKIP_AFTER_FAILURES)
    assert await records.pools.working() == {"one": 1}
    assert await Pools(records.pools).failing() == ["two"]
    await account(records, b, None, *[False] * DISABLE_AFTER_FAILURES)
    assert await Pools(records.pools).failing() == ["none", "one", "two"]


async def test_a_pool_with_unknown_or_cyclic_references_is_refused(records: Records):
    (a,) = await add(records)
    good = [Pool("one", (a,), ("two",)), Pool("two")]
    await records.pools.put(good)
    for bad in (Pool("two", (), ("one",)), Pool("three", (), ("four",))):
        with pytest.raises(BadInput, match="pool"):
            await records.pools.put([Pool("five"), bad])
    with pytest.raises(NotFound, match=f"{a + 1}"):
        await records.pools.put([Pool("six"), Pool("seven", (a + 1,))])
    with pytest.raises(BadInput, match="two"):
        await records.pools.drop("two")
    assert await records.pools.find() == good
    with pytest.raises(BadInput, match="no proxy pool named 'nine'"):
        await records.proxies.pick(ProxyRequest(pool="nine"))


async def test_a_pool_is_used_up_before_its_fallback(records: Records):
    a, b, c, d = await add(records, 4)
    await records.pools.put([Pool("first", (b, a), ("second",)), Pool("second", (c,), ("third",)), Pool("third", (d,))])
    assert await picked(records, pool="first", wanted=4) == [b, a, b, a]
    tried: list[int] = []
    while some := await picked(records, pool="first", exclude=frozenset(tried)):
        tried += some
    assert tried == [b, a, c, d]
    found = await records.proxies.pick(ProxyRequest(pool="first", exclude=frozenset(tried)))
    assert (found.size, found.exhausted) == (4, True)
    source = await source_with(records, [d])
    assert await picked(records, pool="first", source_id=source) == [d], "a source's own proxies precede a pool"


# Concurrency


@pytest.fixture
async def platforms(records_url: str, clock: FakeClock) -> AsyncIterator[list[Records]]:
    """Connections of several processes to one database."""
    opened = [await open_records(records_url, clock) for _ in range(4)]
    yield opened
    for records in opened:
        await records.schema.close()


async def test_rotation_is_strict_for_concurrent_requests(records: Records, platforms: list[Records]):
    five = await add(records, 5)
    source = await source_with(records, five)

    async def ask(platform: Records) -> tuple[int, int]:
        (row,) = (await platform.proxies.pick(ProxyRequest(source_id=source))).proxies
        return row.turn, row.id

    for round in range(5):
        turns = sorted(await asyncio.gather(*(ask(platforms[i % 4]) for i in range(20))))
        assert [proxy_id for _, proxy_id in turns] == five * 4, round
        assert len({turn for turn, _ in turns}) == 20
    assert Counter(await picked(records, source_id=source, wanted=20)) == dict.fromkeys(five, 4)


async def test_the_hourly_limit_is_kept_by_concurrent_requests(records: Records, platforms: list[Records], peek: Peek):
    few = await add(records, 3, max_per_hour=7)
    sources = [await source_with(records, few, name) for name in ("one", "two")]
    asks = [ProxyRequest(source_id=sources[0], wanted=2), ProxyRequest(source_id=sources[1]), ProxyRequest()]
    found = await asyncio.gather(*(platforms[i % 4].proxies.pick(asks[i % 3]) for i in range(36)))
    gone = Counter(row.id for some in found for row in some.proxies)
    assert gone == dict.fromkeys(few, 7)
    assert sorted(await peek.rows("SELECT proxy_id, SUM(count) FROM proxy_uses GROUP BY proxy_id")) == [
        (proxy_id, 7) for proxy_id in few
    ]


async def test_no_use_is_lost_when_all_report_and_pick_at_once(records: Records, platforms: list[Records]):
    five = await add(records, 5, max_per_hour=100_000)
    source = await source_with(records, five)

    async def crawl(platform: Records, number: int) -> None:
        for _ in range(5):
            found = await platform.proxies.pick(ProxyRequest(source_id=source, wanted=4))
            used = [ProxyUse(row.id, source, True, 50, number) for row in found.proxies]
            await platform.proxies.account(used if number % 2 else used[::-1])

    await asyncio.gather(*(crawl(platforms[i % 4], i) for i in range(10)))
    rows = await records.proxies.find()
    assert [row.success_count for row in rows] == [40] * 5
    assert [m.success_count for m in await records.proxies.mappings(source)] == [40] * 5
    assert {row.avg_ms for row in rows} == {50}


class Lingering(GatedDatabase):
    """A database with transactions that wait at a gate before their commit."""

    def __init__(self, database: Database, gate: Gate) -> None:
        super().__init__(database, gate)
        self.under, self.gate = database, gate

    async def transact(self, work: Callable[[Transaction], Awaitable[T]]) -> T:
        async def lingers(tx: Transaction) -> T:
            done = await work(tx)
            await self.gate.pass_through(self.gate.before)
            return done

        return await self.under.transact(lingers)


@pytest.fixture
async def lingering(records_url: str, clock: FakeClock) -> AsyncIterator[Lingering]:
    database = await open_database(records_url, clock)
    yield Lingering(database, Gate("commit"))
    await database.close()


@pytest.mark.parametrize("records_url", ["postgres"], indirect=True)
async def test_concurrent_writes_of_pools_make_no_cycle(records: Records, lingering: Lingering, peek: Peek):
    await records.pools.put([Pool("one"), Pool("two")])
    first = partial(PoolRecords(lingering).put, [Pool("one", (), ("two",))])
    second = partial(records.pools.put, [Pool("two", (), ("one",))])
    kept, refused = await interleave(first, lingering.gate, second, peek)
    assert kept is None
    assert isinstance(refused, BadInput)


@pytest.mark.parametrize("records_url", ["postgres"], indirect=True)
async def test_a_pick_waits_for_the_pick_before(records: Records, lingering: Lingering, peek: Peek):
    a, b = await add(records, 2)
    source = await source_with(records, [a, b])
    first = partial(ProxyRecords(lingering).pick, ProxyRequest(source_id=source))
    one, two = await interleave(
        first, lingering.gate, partial(records.proxies.pick, ProxyRequest(source_id=source)), peek
    )
    assert [row.id for found in (one, two) for row in found.proxies] == [a, b]
