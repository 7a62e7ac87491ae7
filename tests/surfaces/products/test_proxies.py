"""Proxies over HTTP, from the text of the contract (§2.3, §7.2, §8.2)."""

import asyncio
import json
from decimal import Decimal
from typing import Any

import pytest

from longline.model.proxies.proxy import ProxyUse
from tests.drivers.records.peek import Peek
from tests.surfaces.products.running import Door, details, error

PASSWORD = "hunter2canary"


async def test_a_proxy_is_registered_with_its_defaults_and_never_shows_its_password(door: Door):
    made = await door.proxy(proxy_username="me", proxy_password=PASSWORD, country_code="de", monthly_cost=9.99)
    assert made["proxy_protocol"] == "http"
    assert (made["is_active"], made["disabled_reason"]) == (True, None)
    assert (made["failure_count"], made["success_count"], made["total_failures"]) == (0, 0, 0)
    assert (made["country_code"], made["max_requests_per_hour"], made["avg_response_time_ms"]) == ("DE", 1000, None)
    assert made["has_password"] is True
    answer = await door.ask("GET", f"admin/proxies/{made['id']}")
    assert json.loads(answer.text, parse_float=Decimal)["data"]["monthly_cost"] == Decimal("9.99")
    assert answer.json()["data"]["stats"] == {"success_rate": 0.0, "total_requests": 0, "domains_using": 0}


async def test_acceptance_12_a_password_is_in_no_answer_log_or_column(door: Door, caplog: pytest.LogCaptureFixture):
    made = await door.proxy(proxy_username="me", proxy_password=PASSWORD)
    path = f"admin/proxies/{made['id']}"
    answers = [
        await door.ask("GET", path),
        await door.ask("GET", "admin/proxies"),
        await door.ask("PATCH", path, {"proxy_password": PASSWORD + "2"}),
        await door.ask(
            "POST", "admin/proxies", {"proxy_url": "10.0.0.1", "proxy_port": 8080, "proxy_password": PASSWORD}
        ),
        await door.ask("POST", "admin/proxies", {"proxy_url": "a b", "proxy_port": 1, "proxy_password": PASSWORD}),
        await door.ask("POST", "admin/proxies", {"proxy_url": "x", "proxy_port": "y", "proxy_password": PASSWORD}),
    ]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 409, 400, 400]
    assert not [answer.text for answer in answers if PASSWORD in answer.text]
    assert PASSWORD not in caplog.text
    looking = Peek(door.stage.settings.database)
    rows = await looking.rows("SELECT * FROM proxies")
    told = await looking.rows("SELECT * FROM audit")
    await looking.close()
    assert rows
    assert PASSWORD not in str([tuple(row) for row in (*rows, *told)])


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("proxy_port", 0),
        ("proxy_port", 65536),
        ("proxy_port", None),
        ("proxy_protocol", "ftp"),
        ("proxy_url", "http://10.0.0.1"),
        ("proxy_url", ""),
        ("country_code", "DEU"),
        ("monthly_cost", 1.999),
        ("monthly_cost", -1),
        ("monthly_cost", "1e999999999"),
        ("monthly_cost", "9" * 5_000),
        ("monthly_cost", "sNaN"),
        ("max_requests_per_hour", -1),
        ("proxy_username", "x" * 101),
    ],
)
async def test_a_wrong_field_is_a_validation_error(door: Door, field: str, value: Any):
    body = {"proxy_url": "10.0.0.1", "proxy_port": 8080, field: value}
    assert error(await door.ask("POST", "admin/proxies", body))[:2] == (400, "VALIDATION_ERROR")


@pytest.mark.parametrize(
    ("host", "other"),
    [("2001:db8::1", "2001:DB8:0:0::1"), ("2001:0db8:0000::0001", "2001:db8::1"), ("Proxy.example", "proxy.EXAMPLE")],
)
async def test_a_host_is_one_in_every_spelling(door: Door, host: str, other: str):
    made = await door.proxy(host)
    answer = await door.ask("POST", "admin/proxies", {"proxy_url": other, "proxy_port": 8080})
    assert error(answer)[:2] == (409, "DUPLICATE_PROXY")
    assert details(answer) == {"existing_proxy_id": made["id"]}
    assert made["proxy_url"] in ("2001:db8::1", "proxy.example")


async def test_the_same_host_and_port_is_a_duplicate_also_with_another_protocol(door: Door):
    made = await door.proxy()
    other = {"proxy_url": "10.0.0.1", "proxy_port": 8080, "proxy_protocol": "socks5", "proxy_username": "other"}
    answer = await door.ask("POST", "admin/proxies", other)
    assert error(answer)[:2] == (409, "DUPLICATE_PROXY")
    assert details(answer) == {"existing_proxy_id": made["id"]}
    await door.proxy(port=8081)


async def test_of_simultaneous_duplicates_one_is_registered(door: Door):
    bodies = [{"proxy_url": "10.0.0.9", "proxy_port": 1, "proxy_username": f"u{n}"} for n in range(8)]
    answers = await asyncio.gather(*(door.ask("POST", "admin/proxies", body) for body in bodies))
    assert sorted(answer.status_code for answer in answers) == [201, *[409] * 7]


async def test_lists_filter_and_page(door: Door):
    for number in range(5):
        await door.proxy(f"10.0.1.{number}", country_code="DE" if number % 2 else "US", provider=f"p{number % 3}")
    rows, pages = await door.list("admin/proxies", per_page=2, page=3)
    assert [row["proxy_url"] for row in rows] == ["10.0.1.4"]
    assert pages == {"page": 3, "per_page": 2, "total": 5, "total_pages": 3}
    assert (await door.list("admin/proxies", country_code="de"))[1]["total"] == 2
    assert (await door.list("admin/proxies", provider="p1"))[1]["total"] == 2
    await door.write("POST", f"admin/proxies/{rows[0]['id']}/disable")
    assert (await door.list("admin/proxies", is_active="false"))[1]["total"] == 1
    assert (await door.list("admin/proxies", is_active="true"))[1]["total"] == 4


@pytest.mark.parametrize(("name", "value"), [("per_page", 101), ("per_page", 0), ("page", 0), ("page", "x")])
async def test_a_page_has_bounds(door: Door, name: str, value: Any):
    assert error(await door.ask("GET", "admin/proxies", **{name: value}))[:2] == (400, "VALIDATION_ERROR")


async def test_a_proxy_is_changed_in_part(door: Door):
    made = await door.proxy(proxy_username="me", proxy_password=PASSWORD, city="Berlin")
    path = f"admin/proxies/{made['id']}"
    changed = await door.write("PATCH", path, {"monthly_cost": 12.5, "max_requests_per_hour": 7})
    assert (changed["monthly_cost"], changed["max_requests_per_hour"], changed["city"]) == (12.5, 7, "Berlin")
    assert changed["has_password"]
    changed = await door.write("PATCH", path, {"proxy_password": None, "city": None, "is_active": False})
    assert (changed["has_password"], changed["city"], changed["is_active"]) == (False, None, False)
    assert changed["disabled_reason"] == "manual"


async def account(door: Door, proxy_id: int, *outcomes: bool, source_id: int | None = None, ms: int = 100) -> None:
    now = door.platform.clock.now()
    uses = [ProxyUse(proxy_id, source_id, ok, ms, now) for ok in outcomes]
    door.call(door.platform.records.proxies.account(uses))


async def test_enable_zeroes_the_failures_and_disable_is_manual(door: Door):
    made = await door.proxy()
    path = f"admin/proxies/{made['id']}"
    await account(door, made["id"], *[False] * 3)
    assert await door.write("POST", f"{path}/disable") == {
        "proxy_id": made["id"],
        "is_active": False,
        "failure_count": 3,
    }
    assert (await door.get(path))["disabled_reason"] == "manual"
    assert await door.write("POST", f"{path}/enable") == {"proxy_id": made["id"], "is_active": True, "failure_count": 0}
    assert (await door.get(path))["total_failures"] == 3


async def test_the_tenth_failure_in_a_row_switches_a_proxy_off_and_not_the_ninth(door: Door):
    made = await door.proxy()
    path = f"admin/proxies/{made['id']}"
    await account(door, made["id"], *[False] * 9)
    assert (await door.get(path))["is_active"] is True
    await account(door, made["id"], False)
    shown = await door.get(path)
    assert (shown["is_active"], shown["disabled_reason"], shown["failure_count"]) == (False, "auto", 10)


async def test_acceptance_11_a_success_undoes_an_automatic_switch_and_not_a_manual_one(door: Door):
    made = await door.proxy()
    path = f"admin/proxies/{made['id']}"
    await account(door, made["id"], *[False] * 10, True)
    shown = await door.get(path)
    assert (shown["is_active"], shown["disabled_reason"], shown["failure_count"]) == (True, None, 0)
    await door.write("POST", f"{path}/disable")
    await account(door, made["id"], True)
    shown = await door.get(path)
    assert (shown["is_active"], shown["disabled_reason"]) == (False, "manual")


async def test_the_average_is_the_first_sample_and_then_half_of_old_and_new(door: Door):
    made = await door.proxy()
    await account(door, made["id"], True, ms=450)
    assert (await door.get(f"admin/proxies/{made['id']}"))["avg_response_time_ms"] == 450
    await account(door, made["id"], True, ms=101)
    assert (await door.get(f"admin/proxies/{made['id']}"))["avg_response_time_ms"] == 275


async def test_the_rate_counts_all_failures_with_two_places(door: Door):
    made = await door.proxy()
    await account(door, made["id"], True, False, True)
    shown = await door.get(f"admin/proxies/{made['id']}")
    assert (shown["success_rate"], shown["failure_count"]) == (66.67, 0)
    assert shown["stats"] == {"success_rate": 66.67, "total_requests": 3, "domains_using": 0}


async def test_a_deleted_proxy_is_gone_with_its_mappings(door: Door):
    domain, proxy = await door.domain(), await door.proxy()
    await door.write("POST", f"admin/domains/{domain['id']}/proxies", {"proxy_ids": [proxy["id"]]}, 201)
    assert await door.write("DELETE", f"admin/proxies/{proxy['id']}") == {"proxy_id": proxy["id"]}
    assert (await door.list(f"admin/domains/{domain['id']}/proxies"))[0] == []
    for method, way in (("GET", ""), ("PATCH", ""), ("POST", "/enable"), ("POST", "/disable"), ("DELETE", "")):
        told = error(await door.ask(method, f"admin/proxies/{proxy['id']}{way}", {} if method == "PATCH" else None))
        assert told == (404, "PROXY_NOT_FOUND", f"Proxy with ID {proxy['id']} not found")
