"""Domains over HTTP, from the text of the contract (§2.1, §7.1)."""

import asyncio
from typing import Any

import pytest

from longline.model.sources.source import NewSource
from tests.surfaces.products.running import Door, Json, details, error


async def test_a_domain_is_registered_with_the_defaults(door: Door):
    made = await door.domain()
    assert made["domain_name"] == "shop.example"
    assert (made["crawl_delay_seconds"], made["max_concurrent_requests"]) == (1, 5)
    assert (made["default_crawl_frequency"], made["is_active"]) == ("1 day", True)
    assert made["user_agent"] == "ProductCrawler/1.0"
    assert (made["robots_txt_url"], made["robots_txt_content"], made["robots_txt_last_fetched"]) == (None, None, None)
    assert (made["maintenance_start"], made["maintenance_end"]) == (None, None)
    assert made["stats"] == {"total_tasks": 0, "active_proxies": 0, "success_rate": 0.0}
    assert await door.get(f"admin/domains/{made['id']}") == made


async def test_every_field_is_stored(door: Door):
    sent: Json = {
        "crawl_delay_seconds": 2,
        "max_concurrent_requests": 7,
        "default_crawl_frequency": "12 hours",
        "is_active": False,
        "user_agent": "Me/2.0",
        "maintenance_start": "23:00",
        "maintenance_end": "01:00:30",
        "proxy_strategy": "geo",
        "allow_direct": True,
        "store_images": True,
        "parse_retry": "reparse",
        "recur_after_failure": True,
    }
    made = await door.domain(**sent)
    shown = await door.get(f"admin/domains/{made['id']}")
    assert {name: shown[name] for name in sent} == sent | {"maintenance_start": "23:00:00"}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("domain_name", None),
        ("domain_name", ""),
        ("domain_name", "a b"),
        ("domain_name", "https://shop.example"),
        ("domain_name", "x" * 256),
        ("base_url", "shop.example"),
        ("base_url", "ftp://shop.example"),
        ("base_url", f"https://shop.example/{'x' * 512}"),
        ("parser_name", None),
        ("parser_name", "no such parser"),
        ("crawl_delay_seconds", -1),
        ("crawl_delay_seconds", 61),
        ("max_concurrent_requests", 0),
        ("max_concurrent_requests", 101),
        ("default_crawl_frequency", "often"),
        ("maintenance_start", "24:00"),
        ("maintenance_end", "01:00"),
        ("is_active", "perhaps"),
        ("proxy_strategy", "worst"),
    ],
)
async def test_a_wrong_field_is_a_validation_error(door: Door, field: str, value: Any):
    body = {"domain_name": "shop.example", "base_url": "https://shop.example", "parser_name": "product", field: value}
    status, code, message = error(await door.ask("POST", "admin/domains", body))
    assert (status, code) == (400, "VALIDATION_ERROR")
    assert message


@pytest.mark.parametrize(
    "name", [" ", "bad name", "shop.example:x", "https://shop.example", "-a.example", "a..b", "[::1]"]
)
async def test_a_name_that_is_none_is_a_problem_of_its_field(door: Door, name: str):
    body = {"domain_name": name, "base_url": "https://shop.example", "parser_name": "product"}
    answer = await door.ask("POST", "admin/domains", body)
    assert error(answer) == (400, "VALIDATION_ERROR", "Enter the name of a domain, such as shop.example")
    assert details(answer) == {"field": "domain_name"}


@pytest.mark.parametrize(("field", "value"), [("crawl_delay_seconds", 0), ("crawl_delay_seconds", 60)])
async def test_the_bounds_themselves_are_valid(door: Door, field: str, value: int):
    changes: Json = {field: value}
    assert (await door.domain(**changes))[field] == value


async def test_a_name_is_there_once_in_any_case(door: Door):
    made = await door.domain()
    body = {"domain_name": "SHOP.example", "base_url": "https://shop.example", "parser_name": "product"}
    answer = await door.ask("POST", "admin/domains", body)
    assert error(answer)[:2] == (409, "DUPLICATE_DOMAIN")
    assert details(answer) == {"existing_domain_id": made["id"]}


async def test_a_name_of_another_alphabet_is_one_with_its_ascii_form(door: Door):
    made = await door.domain("Bücher.example", base_url="https://www.bücher.example")
    assert made["domain_name"] == "xn--bcher-kva.example"
    for name in ("bücher.example", "xn--bcher-kva.example", "bücher。example"):
        body = {"domain_name": name, "base_url": "https://bücher.example", "parser_name": "product"}
        answer = await door.ask("POST", "admin/domains", body)
        assert error(answer)[:2] == (409, "DUPLICATE_DOMAIN"), name
        assert details(answer) == {"existing_domain_id": made["id"]}
    for host in ("bücher.example", "m.bücher.example", "xn--bcher-kva.example:8443"):
        body = {"domain_id": made["id"], "url": f"https://{host}/p/1"}
        assert (await door.write("POST", "admin/tasks", body, 201))["url"] == body["url"]
    body = {"domain_name": ".".join(["ü" * 20] * 12), "base_url": "https://a.example", "parser_name": "product"}
    assert error(await door.ask("POST", "admin/domains", body))[:2] == (400, "VALIDATION_ERROR")


async def test_tasks_of_a_source_of_another_api_name_its_host_as_their_domain(door: Door):
    source = NewSource("News of the world", "https://news.example/start")
    source_id = door.call(door.platform.records.sources.make(source)).id
    made = await door.write("POST", "admin/tasks", {"domain_id": source_id, "url": "https://news.example/p"}, 201)
    assert (await door.get(f"admin/domains/{source_id}"))["domain_name"] == "news.example"
    assert (await door.get(f"admin/tasks/{made['task_id']}"))["domain_name"] == "news.example"
    assert [task["domain_name"] for task in (await door.list("admin/tasks"))[0]] == ["news.example"]
    await door.write("POST", f"admin/domains/{source_id}/disable")
    refused = await door.ask("POST", "admin/tasks", {"domain_id": source_id, "url": "https://news.example/q"})
    assert error(refused) == (400, "DOMAIN_INACTIVE", "Domain news.example is inactive")


async def test_lists_filter_and_page(door: Door):
    for number in range(3):
        await door.domain(f"s{number}.example", is_active=number != 1)
    rows, pages = await door.list("admin/domains", per_page=2)
    assert [row["domain_name"] for row in rows] == ["s0.example", "s1.example"]
    assert pages == {"page": 1, "per_page": 2, "total": 3, "total_pages": 2}
    assert {"total_tasks", "active_proxies"} < set(rows[0])
    assert [row["domain_name"] for row in (await door.list("admin/domains", is_active="false"))[0]] == ["s1.example"]


async def test_a_domain_is_changed_in_part(door: Door):
    made = await door.domain(crawl_delay_seconds=3)
    path = f"admin/domains/{made['id']}"
    changed = await door.write("PATCH", path, {"max_concurrent_requests": 9, "default_crawl_frequency": "2 Weeks"})
    assert (changed["max_concurrent_requests"], changed["default_crawl_frequency"]) == (9, "2 weeks")
    assert changed["crawl_delay_seconds"] == 3
    changed = await door.write("PATCH", path, {"maintenance_start": "23:00", "maintenance_end": "01:00"})
    changed = await door.write("PATCH", path, {"maintenance_end": "02:00"})
    assert (changed["maintenance_start"], changed["maintenance_end"]) == ("23:00:00", "02:00:00")
    assert error(await door.ask("PATCH", path, {"maintenance_end": None}))[:2] == (400, "VALIDATION_ERROR")
    changed = await door.write("PATCH", path, {"maintenance_start": None, "maintenance_end": None})
    assert changed["maintenance_start"] is None
    assert error(await door.ask("PATCH", path, {"parser_name": "none"}))[:2] == (400, "VALIDATION_ERROR")
    assert (await door.write("PATCH", path, {"is_active": False}))["is_active"] is False


async def test_a_domain_is_switched_off_and_on(door: Door):
    made = await door.domain()
    for switch, active in (("disable", False), ("disable", False), ("enable", True)):
        answer = await door.write("POST", f"admin/domains/{made['id']}/{switch}")
        assert answer == {"domain_id": made["id"], "is_active": active}
        assert (await door.get(f"admin/domains/{made['id']}"))["is_active"] is active


async def test_a_source_of_another_door_is_a_domain_under_its_host(door: Door):
    headers = door.stage.bearer("admin")
    body = {"name": "Daily News", "url": "https://www.news.example/start"}
    answer = await door.client.post("/api/v1/sources", json=body, headers=headers)
    assert answer.status_code == 201, answer.text
    rows, _ = await door.list("admin/domains")
    assert [row["domain_name"] for row in rows] == ["www.news.example"]
    mine = await door.domain("shop.example")
    listed = (await door.client.get("/api/v1/sources", headers=headers)).json()["sources"]
    assert {source["name"] for source in listed} == {"Daily News", "shop.example"}
    assert mine["id"] != rows[0]["id"]


async def test_an_unknown_domain_is_told(door: Door):
    for method, way in (("GET", ""), ("PATCH", ""), ("POST", "/enable"), ("POST", "/disable")):
        told = error(await door.ask(method, f"admin/domains/77{way}", {} if method == "PATCH" else None))
        assert told == (404, "DOMAIN_NOT_FOUND", "Domain with ID 77 not found")
    assert error(await door.ask("GET", "admin/domains/shop"))[:2] == (400, "VALIDATION_ERROR")


async def test_a_body_that_is_no_object_is_told(door: Door):
    for content in (b"{", b"[]", b""):
        answer = await door.client.post("/api/admin/domains", content=content)
        assert error(answer)[:2] == (400, "VALIDATION_ERROR")


async def robots_site(body: str) -> tuple[asyncio.Server, str]:
    """Start a site with a robots.txt, and return its URL too."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        head = (
            f"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        )
        writer.write((head + body).encode())
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    return server, f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


async def test_robots_are_fetched_and_raise_the_delay_but_lower_it_by_force_only(door: Door):
    site, url = await robots_site("User-agent: *\nCrawl-delay: 4\n")
    async with site:
        domain = await door.domain("localhost", base_url=url, crawl_delay_seconds=2)
        path = f"admin/domains/{domain['id']}"
        told = await door.write("POST", f"{path}/refresh-robots")
        assert (told["crawl_delay_found"], told["updated_settings"]) == (4.0, {"crawl_delay_seconds": 4})
        assert told["robots_txt_url"] == f"{url}/robots.txt"
        shown = await door.get(path)
        assert shown["crawl_delay_seconds"] == 4
        assert shown["robots_txt_content"].startswith("User-agent: *")
        assert shown["robots_txt_last_fetched"] == told["robots_txt_last_fetched"]
        await door.write("PATCH", path, {"crawl_delay_seconds": 9})
        assert (await door.write("POST", f"{path}/refresh-robots", {}))["updated_settings"] == {}
        forced = await door.write("POST", f"{path}/refresh-robots", {"force": True})
        assert forced["updated_settings"] == {"crawl_delay_seconds": 4}


async def test_a_crawl_delay_with_a_fraction_becomes_whole_seconds(door: Door):
    site, url = await robots_site("User-agent: *\nCrawl-delay: 2.5\n")
    async with site:
        domain = await door.domain("localhost", base_url=url, crawl_delay_seconds=2)
        path = f"admin/domains/{domain['id']}"
        told = await door.write("POST", f"{path}/refresh-robots")
        assert (told["crawl_delay_found"], told["updated_settings"]) == (2.5, {"crawl_delay_seconds": 3})
        shown = (await door.get(path))["crawl_delay_seconds"]
        assert (shown, type(shown)) == (3, int)
        row = door.call(door.platform.records.sources.get(domain["id"]))
        assert row is not None
        assert row.delay_ms == 3000, "the delay in force is the delay shown"
        assert (await door.write("POST", f"{path}/refresh-robots"))["updated_settings"] == {}
        changed = await door.write("PATCH", path, {"crawl_delay_seconds": shown})
        assert changed["crawl_delay_seconds"] == 3


async def test_robots_that_cannot_be_fetched_are_told(door: Door):
    site, url = await robots_site("")
    site.close()
    await site.wait_closed()
    domain = await door.domain("localhost", base_url=url)
    answer = await door.ask("POST", f"admin/domains/{domain['id']}/refresh-robots")
    assert error(answer)[:2] == (502, "ROBOTS_NOT_FETCHED")
    assert error(await door.ask("POST", "admin/domains/77/refresh-robots"))[:2] == (404, "DOMAIN_NOT_FOUND")


async def test_robots_go_by_the_proxies_of_the_domain_and_without_a_usable_one_not_at_all(door: Door):
    site, url = await robots_site("User-agent: *\nCrawl-delay: 4\n")
    async with site:
        domain = await door.domain("localhost", base_url=url)
        proxy = await door.proxy("127.0.0.1", 9)
        path = f"admin/domains/{domain['id']}"
        await door.write("POST", f"{path}/proxies", {"proxy_ids": [proxy["id"]]}, 201)
        await door.write("POST", f"{path}/proxies/{proxy['id']}/disable")
        answer = await door.ask("POST", f"{path}/refresh-robots")
        assert error(answer) == (400, "NO_PROXIES_AVAILABLE", "No usable proxy is available")
        assert (await door.get(path))["robots_txt_last_fetched"] is None
        await door.write("PATCH", path, {"allow_direct": True})
        assert (await door.write("POST", f"{path}/refresh-robots"))["crawl_delay_found"] == 4.0


async def test_a_domain_may_have_its_robots_at_another_url(door: Door):
    site, url = await robots_site("User-agent: *\nCrawl-delay: 4\n")
    async with site:
        domain = await door.domain("localhost", base_url="http://127.0.0.1:9", robots_txt_url=f"{url}/rules.txt")
        assert domain["robots_txt_url"] == f"{url}/rules.txt"
        path = f"admin/domains/{domain['id']}"
        assert (await door.write("POST", f"{path}/refresh-robots"))["robots_txt_url"] == f"{url}/rules.txt"
        changed = await door.write("PATCH", path, {"robots_txt_url": None})
        assert changed["robots_txt_url"] is None
        assert error(await door.ask("POST", f"{path}/refresh-robots"))[:2] == (502, "ROBOTS_NOT_FETCHED")
    wrong = await door.ask("PATCH", path, {"robots_txt_url": "robots.txt"})
    assert error(wrong)[:2] == (400, "VALIDATION_ERROR")
