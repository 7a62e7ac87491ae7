"""The own pool of a domain over HTTP, from the text of the contract (§2.4, §7.3, §8)."""

from typing import Any

import pytest

from longline.model.proxies.proxy import ProxyRequest
from tests.surfaces.products.running import Door, details, error
from tests.surfaces.products.test_proxies import account


class Pool:
    """A domain with proxies of its own."""

    def __init__(self, door: Door, domain_id: int, proxies: list[int]) -> None:
        self.door, self.domain_id, self.proxies = door, domain_id, proxies
        self.path = f"admin/domains/{domain_id}/proxies"

    async def rows(self, **params: Any) -> list[dict[str, Any]]:
        return (await self.door.list(self.path, **params))[0]

    async def order(self, **params: Any) -> list[int]:
        """Return the places of the proxies in a list."""
        return [self.proxies.index(row["proxy_id"]) for row in await self.rows(**params)]

    async def account(self, place: int, *outcomes: bool, ms: int = 100) -> None:
        await account(self.door, self.proxies[place], *outcomes, source_id=self.domain_id, ms=ms)

    async def next(self, wanted: int = 1) -> list[int]:
        """Return the places of the proxies that requests would use next."""
        asked = ProxyRequest(source_id=self.domain_id, wanted=wanted)
        picked = self.door.call(self.door.platform.records.proxies.pick(asked))
        return [self.proxies.index(row.id) for row in picked.proxies]


async def pool(door: Door, size: int, name: str = "shop.example", **more: Any) -> Pool:
    domain = await door.domain(name)
    proxies = [(await door.proxy(f"10.1.0.{n}", **more))["id"] for n in range(size)]
    body = {"proxy_ids": proxies}
    made = await door.write("POST", f"admin/domains/{domain['id']}/proxies", body, 201)
    assert made == {"domain_id": domain["id"], "proxies_assigned": size, "total_proxies": size}
    return Pool(door, domain["id"], proxies)


async def test_known_pairs_are_ignored_and_not_updated(door: Door):
    found = await pool(door, 2)
    more = (await door.proxy("10.1.1.1"))["id"]
    body = {"proxy_ids": [*found.proxies, more], "priority": 1}
    made = await door.write("POST", found.path, body, 201)
    assert (made["proxies_assigned"], made["total_proxies"]) == (1, 3)
    assert {row["proxy_id"]: row["priority"] for row in await found.rows()} == {
        found.proxies[0]: 5,
        found.proxies[1]: 5,
        more: 1,
    }


async def test_unknown_ids_are_listed_and_nothing_is_assigned(door: Door):
    found = await pool(door, 1)
    more = (await door.proxy("10.1.1.1"))["id"]
    answer = await door.ask("POST", found.path, {"proxy_ids": [more, 999_998, 999_999]})
    assert error(answer)[:2] == (404, "PROXY_NOT_FOUND")
    assert details(answer) == {"proxy_ids": [999_998, 999_999]}
    assert len(await found.rows()) == 1


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"proxy_ids": []}, "VALIDATION_ERROR"),
        ({}, "VALIDATION_ERROR"),
        ({"proxy_ids": ["x"]}, "VALIDATION_ERROR"),
        ({"proxy_ids": [1], "priority": 0}, "INVALID_PRIORITY"),
        ({"proxy_ids": [1], "priority": 11}, "INVALID_PRIORITY"),
    ],
)
async def test_an_assignment_is_checked(door: Door, body: Any, code: str):
    domain = await door.domain()
    assert error(await door.ask("POST", f"admin/domains/{domain['id']}/proxies", body))[:2] == (400, code)


async def test_lists_are_by_priority_and_then_the_last_use(door: Door):
    found = await pool(door, 3)
    urgent = (await door.proxy("10.1.1.1"))["id"]
    await door.write("POST", found.path, {"proxy_ids": [urgent], "priority": 1}, 201)
    found.proxies.append(urgent)
    await found.next(2)
    assert await found.order() == [3, 1, 2, 0]


async def test_lists_are_sorted_and_filtered(door: Door):
    found = await pool(door, 3)
    await found.account(0, True, False)
    await found.account(1, True, ms=900)
    assert await found.order(sort_by="success_rate") == [1, 0, 2]
    assert await found.order(sort_by="success_rate", sort_order="asc") == [2, 0, 1]
    assert (await found.order(sort_by="avg_response_time_ms"))[-1] == 1
    assert [row["success_rate_percent"] for row in await found.rows(sort_by="success_rate")] == [100.0, 50.0, 0.0]
    await door.write("POST", f"{found.path}/{found.proxies[2]}/disable")
    assert await found.order(is_active="false") == [2]
    assert error(await door.ask("GET", found.path, sort_by="size"))[:2] == (400, "INVALID_SORT_FIELD")


async def test_a_proxy_is_taken_from_a_domain(door: Door):
    found = await pool(door, 2)
    gone = found.proxies[0]
    answer = await door.write("DELETE", f"{found.path}/{gone}")
    assert answer == {"domain_id": found.domain_id, "proxy_id": gone, "remaining_proxies": 1}
    for method, way in (("DELETE", ""), ("POST", "/enable"), ("POST", "/disable")):
        told = error(await door.ask(method, f"{found.path}/{gone}{way}"))
        assert told == (404, "MAPPING_NOT_FOUND", f"Proxy {gone} is not assigned to domain {found.domain_id}")


async def test_the_fifth_failure_in_a_row_drops_a_mapping_and_not_the_fourth(door: Door):
    found = await pool(door, 1)
    await found.account(0, *[False] * 4)
    assert (await found.rows())[0]["is_active"] is True
    assert await found.next() == [0]
    await found.account(0, False)
    assert (await found.rows())[0]["is_active"] is False
    assert await found.next() == []


@pytest.mark.parametrize("switch", ["enable", "disable"])
async def test_both_switches_zero_the_failures(door: Door, switch: str):
    found = await pool(door, 1)
    await found.account(0, *[False] * 4)
    answer = await door.write("POST", f"{found.path}/{found.proxies[0]}/{switch}")
    assert (answer["is_active"], answer["failure_count"]) == (switch == "enable", 0)
    assert (await found.rows())[0]["total_failures"] == 4


async def test_acceptance_10_five_proxies_rotate_and_failures_are_kept_by_domain(door: Door):
    found = await pool(door, 5)
    assert [(await found.next())[0] for _ in range(6)] == [0, 1, 2, 3, 4, 0]
    other = await door.domain("other.example")
    path = f"admin/domains/{other['id']}/proxies"
    await door.write("POST", path, {"proxy_ids": [found.proxies[0]]}, 201)
    await found.account(0, *[False] * 5)
    assert [(await found.next())[0] for _ in range(5)] == [1, 2, 3, 4, 1]
    elsewhere = Pool(door, other["id"], found.proxies)
    assert await elsewhere.next() == [0]
    await elsewhere.account(0, *[False] * 4)
    assert await elsewhere.next() == [0]
    assert (await door.get(f"admin/proxies/{found.proxies[0]}"))["is_active"] is True
    # The tenth failure in a row, over all domains, switches the proxy off everywhere.
    await elsewhere.account(0, False)
    assert (await door.get(f"admin/proxies/{found.proxies[0]}"))["is_active"] is False
    assert await elsewhere.next() == []


async def test_priority_decides_between_proxies_that_were_never_used_only(door: Door):
    found = await pool(door, 2)
    urgent = (await door.proxy("10.1.1.1"))["id"]
    await door.write("POST", found.path, {"proxy_ids": [urgent], "priority": 1}, 201)
    found.proxies.append(urgent)
    assert [(await found.next())[0] for _ in range(5)] == [2, 0, 1, 2, 0]


async def test_the_figures_of_a_pool(door: Door):
    found = await pool(door, 2, country_code="DE")
    more = (await door.proxy("10.1.1.1"))["id"]
    await door.write("POST", found.path, {"proxy_ids": [more]}, 201)
    found.proxies.append(more)
    await found.account(0, True, True, ms=100)
    await found.account(1, *[False] * 5)
    await found.account(2, True, ms=300)
    assert await door.get(f"{found.path}/stats") == {
        "domain_id": found.domain_id,
        "total_proxies": 3,
        "active_proxies": 2,
        "failing_proxies": 1,
        "overall_success_rate": 37.5,
        "avg_response_time_ms": 200,
        "total_requests": 8,
        "total_success": 3,
        "total_failures": 5,
        "proxy_distribution": {"DE": 2, "unknown": 1},
    }


@pytest.mark.parametrize(
    ("urls", "per_proxy", "least", "wanted"), [(100, 20, 5, 6), (10, 20, 1, 1), (1000, 20, 50, 60), (101, 20, 6, 7)]
)
async def test_the_size_of_a_pool(door: Door, urls: int, per_proxy: int, least: int, wanted: int):
    found = await pool(door, 1)
    told = await door.get(f"{found.path}/sizing", urls_per_hour=urls, per_proxy=per_proxy)
    assert (told["minimum_proxies"], told["recommended_proxies"]) == (least, wanted)
    assert told["missing_proxies"] == wanted - 1
    assert error(await door.ask("GET", f"{found.path}/sizing"))[:2] == (400, "VALIDATION_ERROR")


@pytest.mark.parametrize(
    ("method", "way"),
    [
        ("GET", ""),
        ("POST", ""),
        ("GET", "/stats"),
        ("GET", "/sizing?urls_per_hour=1"),
        ("DELETE", "/1"),
        ("POST", "/1/enable"),
    ],
)
async def test_an_unknown_domain_is_told(door: Door, method: str, way: str):
    body = {"proxy_ids": [1]} if (method, way) == ("POST", "") else None
    answer = await door.client.request(method, f"/api/admin/domains/77/proxies{way}", json=body)
    assert error(answer) == (404, "DOMAIN_NOT_FOUND", "Domain with ID 77 not found")
