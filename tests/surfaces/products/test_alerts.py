"""Alerts and the health of proxies over HTTP, from the text of the contract (§9.3)."""

import asyncio
import logging

import pytest

from longline.wiring.doors.products import alerts
from tests.surfaces.products.running import Door, Json
from tests.surfaces.products.test_domain_proxies import Pool, pool


async def found(door: Door, kind: str) -> list[Json]:
    told = await door.get("admin/alerts")
    assert told["total"] == len(told["alerts"])
    return [alert for alert in told["alerts"] if alert["type"] == kind]


async def test_acceptance_13_the_alert_of_low_pools_lists_a_domain_without_any_proxy(door: Door):
    bare = await door.domain("bare.example")
    await door.domain("off.example", is_active=False)
    [alert] = await found(door, "low_pool")
    assert (alert["domain_id"], alert["value"], alert["threshold"]) == (bare["id"], 0, 3)


@pytest.mark.parametrize(("size", "is_low"), [(2, True), (3, False)])
async def test_fewer_than_three_active_mappings_are_few(door: Door, size: int, is_low: bool):
    await pool(door, size)
    assert bool(await found(door, "low_pool")) is is_low


async def test_a_mapping_that_is_off_does_not_count(door: Door):
    own = await pool(door, 3)
    await door.write("POST", f"{own.path}/{own.proxies[0]}/disable")
    assert [alert["value"] for alert in await found(door, "low_pool")] == [2]


async def test_more_than_ten_percent_failures_are_many(door: Door):
    own = await pool(door, 3)
    await own.account(0, *[True] * 9, False)
    assert await found(door, "failure_rate") == []
    await own.account(0, *[True] * 8, False)
    assert [alert["value"] for alert in await found(door, "failure_rate")] == [10.53]


async def test_a_mean_above_five_seconds_is_slow(door: Door):
    own = await pool(door, 3)
    await own.account(0, True, ms=5000)
    assert await found(door, "slow_proxy") == []
    await own.account(1, True, ms=5001)
    [alert] = await found(door, "slow_proxy")
    assert (alert["domain_id"], alert["proxy_id"], alert["value"]) == (own.domain_id, own.proxies[1], 5001)


async def test_a_pool_without_a_usable_proxy_is_exhausted(door: Door):
    own = await pool(door, 2)
    await own.account(0, *[False] * 5)
    assert await found(door, "pool_exhausted") == []
    await own.account(1, *[False] * 5)
    assert [alert["domain_id"] for alert in await found(door, "pool_exhausted")] == [own.domain_id]


async def test_an_alert_is_told_when_it_begins_and_when_it_ends_and_not_in_between(
    door: Door, caplog: pytest.LogCaptureFixture
):
    caplog.set_level(logging.INFO, "longline.services.proxies.source_alerts")
    own = await pool(door, 2)
    watch = alerts(door.platform)
    told = []
    for _ in range(3):
        change = door.call(watch.once())
        told.append((len(change.raised), len(change.cleared)))
    [alert] = await found(door, "low_pool")
    assert alert["since"] is not None
    more = (await door.proxy("10.1.1.1"))["id"]
    await door.write("POST", own.path, {"proxy_ids": [more]}, 201)
    for _ in range(2):
        change = door.call(watch.once())
        told.append((len(change.raised), len(change.cleared)))
    assert told == [(1, 0), (0, 0), (0, 0), (0, 1), (0, 0)]
    assert [record.message for record in caplog.records] == ["alert raised", "alert cleared"]


async def test_two_processes_tell_an_alert_once(door: Door):
    await door.domain()
    watches = [alerts(door.platform) for _ in range(4)]

    async def together() -> int:
        return sum(len(change.raised) for change in await asyncio.gather(*(watch.once() for watch in watches)))

    assert door.call(together()) == 1


async def test_the_health_of_proxies_is_by_domain_in_the_order_of_names(door: Door):
    own = await pool(door, 2, "shop.example")
    await own.account(0, True, True, ms=100)
    await own.account(1, *[False] * 5)
    await door.domain("another.example")
    domains = (await door.get("admin/proxies/health"))["domains"]
    assert [row["domain_name"] for row in domains] == ["another.example", "shop.example"]
    assert {name: domains[1][name] for name in domains[1] if name not in ("domain_id", "domain_name")} == {
        "total_proxies": 2,
        "active_proxies": 1,
        "failing_proxies": 1,
        "avg_response_time": 100,
        "total_success": 2,
        "total_failures": 5,
    }
    assert domains[0]["total_proxies"] == 0
    assert isinstance(own, Pool)
