"""Odd requests at every operation, from the text of the contract alone: none breaks the door or its envelope."""

import asyncio
import hashlib
import json
from typing import Any
from urllib.parse import urlparse, urlunparse

import httpx
import pytest

from tests.surfaces.products.running import Door, Json, details, error

SHOP = "https://shop.example"
LATER = "2099-01-01T00:00:00Z"
ODD_IDS = ("0", "-1", "9" * 23, "1.5", "1e3", "%00", "%D9%A1", "%201", "0x1", "abc", "null", "%ff")
LISTS = ("admin/tasks", "admin/domains", "admin/proxies", "admin/batches", "admin/webhooks", "products")
WRONG_METHODS = (
    *(("PUT", "admin/tasks"), ("DELETE", "admin/tasks"), ("PATCH", "admin/tasks/1"), ("POST", "admin/tasks/1")),
    *(("GET", "admin/tasks/1/restart"), ("GET", "admin/tasks/batch"), ("GET", "admin/tasks/restart-failed")),
    *(("POST", "admin/tasks/stats"), ("DELETE", "admin/tasks/stats"), ("DELETE", "admin/domains/1")),
    *(("POST", "products"), ("POST", "products/search"), ("DELETE", "products/1"), ("POST", "admin/queues")),
    *(("PATCH", "admin/proxies/health"), ("DELETE", "admin/domains/1/proxies/stats")),
)
WRONG_TASKS: tuple[tuple[str, tuple[Any, ...], set[str]], ...] = (
    ("priority", (True, "5", 0, -1, 11, 10**30, 2.5, [], {}), {"INVALID_PRIORITY"}),
    ("domain_id", (0, -1, 10**30, 1.5, True, "x", [], None, 2**63), {"VALIDATION_ERROR", "DOMAIN_NOT_FOUND"}),
    ("max_retries", (-1, 11, True, "3", 2.5, None, 10**20), {"VALIDATION_ERROR"}),
    ("is_recurring", ("true", 1, 0, []), {"VALIDATION_ERROR"}),
    ("webhook_url", ("ftp://x.example/", "x", "", 5, "https://h.example/\0"), {"VALIDATION_ERROR"}),
    ("batch_id", (0, -1, "x", 10**30, 999), {"VALIDATION_ERROR", "BATCH_NOT_FOUND"}),
    ("parent_task_id", (0, -1, "x", 10**30, 999), {"VALIDATION_ERROR", "TASK_NOT_FOUND"}),
    (
        "scheduled_at",
        ("", "tomorrow", 5, True, "2099-13-01T00:00:00Z", "9999-12-31T23:59:59-23:59", "99999-01-01T00:00:00Z"),
        {"VALIDATION_ERROR"},
    ),
    (
        "crawl_frequency",
        ("", "1day", "-1 day", "0 days", "1.5 days", "999999999 years", 86400, "1 day 2 hours", "1 \0day"),
        {"VALIDATION_ERROR"},
    ),
)
WRONG_DOMAINS: tuple[tuple[str, tuple[Any, ...]], ...] = (
    ("domain_name", ("", " ", SHOP, "a b.example", "x" * 256, "a\0b.example", None, 5, "x.example/p", "x.example:80")),
    ("domain_name", ("*.example", "..", "-", "-a.example", "a..example", "user@x.example")),
    ("base_url", ("", "x.example", "ftp://x.example", "/p", SHOP + "/" + "y" * 512, None, 5, "https://", SHOP + "/\0")),
    ("parser_name", ("", "nobody", "x" * 101, None, 5, "a\0b")),
    ("crawl_delay_seconds", (-1, 61, 1.5, "1", True, None)),
    ("max_concurrent_requests", (0, 101, "5", 2.5, True)),
    ("user_agent", ("", "a\nb", "x" * 256, 5, "a\r\nX: y")),
    ("robots_txt_url", ("/robots.txt", "ftp://x.example", SHOP + "/" + "y" * 512, 5)),
    ("proxy_country", ("DEU", "1A", "", 5)),
    ("maintenance_start", ("25:00", "23:60", "9:00", "noon", 5, "23:00")),
    ("maintenance_end", ("24:00", "01:00")),
)
WRONG_PROXIES: tuple[tuple[str, tuple[Any, ...]], ...] = (
    (
        "proxy_url",
        ("", " ", "http://p.example", "p.example/x", "p.example:80", "x" * 256, "a\0b", None, "u:p@p.example"),
    ),
    ("proxy_port", (0, 65536, -1, "8080", 80.5, None, True)),
    ("proxy_protocol", ("ftp", "HTTP", "", None, 5, "socks4")),
    ("country_code", ("DEU", "D", "1A", 5, "ÄÖ")),
    ("monthly_cost", (-1, 1.234, 1e10, "x", True, "NaN", 100_000_000)),
    ("max_requests_per_hour", (-1, "x", 2.5, True, 10**30)),
    ("is_active", ("yes", 1, None)),
    ("proxy_username", ("x" * 101, "a\0")),
)
ODD_WORDS = (
    '"',
    "*",
    "(",
    "AND",
    "NEAR(",
    "%",
    "'",
    'a"b',
    "-",
    "^",
    "a*b",
    "title:x",
    "😀",
    "a OR",
    "{",
    "\\",
    ":*",
    "<->",
)


async def submit(door: Door, domain_id: int, path: str, /, **more: Any) -> httpx.Response:
    body = {"domain_id": domain_id, "url": SHOP + path, "scheduled_at": LATER} | more
    return await door.ask("POST", "admin/tasks", body)


def by_the_seed(url: str) -> str:
    """Return the hash of a URL by the code of the seed."""
    parts = urlparse(url.strip())
    query = "&".join(sorted(parts.query.split("&"))) if parts.query else ""
    normal = urlunparse((parts.scheme.lower(), parts.netloc.lower(), parts.path, parts.params, query, ""))
    return hashlib.sha256(normal.encode()).hexdigest()


async def test_no_odd_text_is_a_url(door: Door):
    domain = await door.domain()
    odd: tuple[Any, ...] = (
        *("https://shop.example/a\0b", "http:///p", "https://", "//shop.example/p", "javascript:alert(1)", "", "   "),
        *("https:shop.example/p", "https:/shop.example/p", "shop.example/p", "https://shop.example.evil.example/"),
        *("https://shop.example@evil.example/", "https://[::1/p", f"{SHOP}:99999/p", "file:///etc/passwd"),
        *("http://shop .example/", f"{SHOP}/a\tb", None, 5, True, [], {}),
    )
    for url in odd:
        answer = await door.ask("POST", "admin/tasks", {"domain_id": domain["id"], "url": url})
        assert error(answer)[0] == 400, url
        assert error(answer)[1] in ("INVALID_URL", *(["VALIDATION_ERROR"] if url is None else [])), url
    lone = json.dumps({"domain_id": domain["id"], "url": f"{SHOP}/\ud800"})
    answer = await door.client.post("/api/admin/tasks", content=lone, headers={"content-type": "application/json"})
    assert error(answer)[0] == 400
    assert (await door.list("admin/tasks"))[1]["total"] == 0


async def test_urls_of_every_alphabet_are_kept_as_they_came(door: Door):
    domain = await door.domain()
    for path in (
        *("/büch/日本?b=ü&a=1#frag", "", ":8443/p", "/%zz", "/a b", "/p;x=1?q", "/?", "/q?&&a", "/emoji/😀"),
        *("/" + "x" * 2100, "/H?z&a&&m=%2F"),
    ):
        answer = await submit(door, domain["id"], path)
        assert answer.status_code == 201, (path[:40], answer.text)
        made = answer.json()["data"]
        assert (made["url"], made["url_hash"]) == (SHOP + path, by_the_seed(SHOP + path)), path[:40]
        assert (await door.get(f"admin/tasks/{made['task_id']}"))["url"] == SHOP + path
    spaced = await door.ask("POST", "admin/tasks", {"domain_id": domain["id"], "url": f"  {SHOP}/a b\n"})
    assert error(spaced)[:2] == (409, "DUPLICATE_URL")


@pytest.mark.parametrize(("field", "values", "codes"), WRONG_TASKS)
async def test_wrong_values_of_a_task(door: Door, field: str, values: tuple[Any, ...], codes: set[str]):
    domain = await door.domain()
    for value in values:
        answer = await submit(door, domain["id"], "/p", **{field: value})
        assert (error(answer)[0] in (400, 404), error(answer)[1] in codes) == (True, True), (value, answer.text)
    assert (await door.list("admin/tasks"))[1]["total"] == 0


async def test_spellings_of_times_and_frequencies(door: Door):
    domain = await door.domain()
    spelled: tuple[Json, ...] = (
        *({"crawl_frequency": text} for text in ("1 DAY", "2 day", "1 days", "3 Weeks", " 12 hours ", "1  hour")),
        *({"scheduled_at": f"2099-01-01{rest}"} for rest in ("", "T00:00:00+02:00", "T00:00:00", " 00:00:00")),
        *({"scheduled_at": text} for text in ("2099-01-01T00:00:00.123456Z", "9999-12-31T23:59:59Z")),
    )
    for number, more in enumerate(spelled):
        assert (await submit(door, domain["id"], f"/{number}", **more)).status_code == 201, more


@pytest.mark.parametrize("odd", ODD_IDS)
async def test_an_odd_id_is_nothing_that_exists(door: Door, odd: str):
    await submit(door, (await door.domain())["id"], "/p")
    for method, path in (
        *(("GET", f"admin/tasks/{odd}"), ("DELETE", f"admin/tasks/{odd}"), ("POST", f"admin/tasks/{odd}/pause")),
        *(("GET", f"admin/domains/{odd}"), ("GET", f"admin/proxies/{odd}"), ("GET", f"admin/batches/{odd}")),
        *(("GET", f"products/{odd}"), ("GET", f"admin/domains/{odd}/proxies")),
    ):
        assert error(await door.ask(method, path))[0] in (400, 404), path


@pytest.mark.parametrize("path", LISTS)
async def test_odd_pages_of_lists(door: Door, path: str):
    for name, value in (("page", "-1"), ("page", "1.5"), ("page", "9" * 30), ("page", "1%00"), ("per_page", "%ff")):
        answer = await door.client.get(f"/api/{path}?{name}={value}")
        assert error(answer)[:2] == (400, "VALIDATION_ERROR"), (name, value)
    rows, place = await door.list(path, page=1_000_000_000, per_page=100)
    assert (rows, place["page"]) == ([], 1_000_000_000)
    for query in ("page=1&page=2&per_page=1", "zz=1&page=&per_page=", "unknown=%zz"):
        for slash in ("", "/"):
            assert (await door.client.get(f"/api/{path}{slash}?{query}")).status_code == 200, query
    twice = await door.client.get(f"/api/{path}?page=1&page=2")
    assert twice.json()["pagination"]["page"] == 2, "of repeated keys the last counts"


@pytest.mark.parametrize(("method", "path"), WRONG_METHODS)
async def test_a_wrong_method_names_the_right_ones(door: Door, method: str, path: str):
    answer = await door.ask(method, path)
    assert error(answer)[:2] == (405, "METHOD_NOT_ALLOWED")
    assert answer.headers["allow"]
    assert method not in answer.headers["allow"].split(", ")


@pytest.mark.parametrize(
    ("body", "status"),
    [
        *((b"", 200), (b'{"priority": 3, "priority": 4}', 200), (b'{"priority": 3, "colour": "red"}', 200)),
        *((b"[]", 400), (b"{", 400), (b'"x"', 400), (b"a=1", 400), (b"\xff\xfe", 400), (b"[" * 100_000, 400)),
        *((b'{"priority": 1e400}', 400), (b'{"priority": NaN}', 400), (b'{"priority":' + b"9" * 5000 + b"}", 400)),
    ],
)
async def test_odd_bodies_of_a_restart(door: Door, body: bytes, status: int):
    task_id = (await submit(door, (await door.domain())["id"], "/p")).json()["data"]["task_id"]
    answer = await door.client.post(f"/api/admin/tasks/{task_id}/restart", content=body)
    assert answer.status_code == status, answer.text
    assert (await door.get(f"admin/tasks/{task_id}"))["priority"] in (5, 3, 4)


async def test_a_batch_counts_every_kind_of_bad_url(door: Door):
    domain = await door.domain()
    urls = [f"{SHOP}/1", f"{SHOP}/1#f", "x", f"{SHOP}/\0", "", "ftp://shop.example/", "https://o.example/", f"{SHOP}/2"]
    made = await door.write("POST", "admin/tasks/batch", {"domain_id": domain["id"], "urls": urls}, 201)
    assert (made["total_submitted"], made["total_duplicates"], made["total_failed"]) == (2, 1, 5)
    no_texts: list[Any] = [5, None, True, 2.5, {"url": SHOP}, [SHOP], f"{SHOP}/3"]
    made = await door.write("POST", "admin/tasks/batch", {"domain_id": domain["id"], "urls": no_texts}, 201)
    assert (made["total_submitted"], made["total_duplicates"], made["total_failed"]) == (1, 0, 6)
    no_lists: tuple[Any, ...] = (None, f"{SHOP}/", {}, 5, [])
    for wrong in no_lists:
        answer = await door.ask("POST", "admin/tasks/batch", {"domain_id": domain["id"], "urls": wrong})
        assert error(answer)[:2] == (400, "VALIDATION_ERROR"), wrong


@pytest.mark.parametrize(("field", "values"), WRONG_DOMAINS)
async def test_wrong_values_of_a_domain(door: Door, field: str, values: tuple[Any, ...]):
    for value in values:
        body = {"domain_name": "x.example", "base_url": "https://x.example", "parser_name": "product", field: value}
        answer = await door.ask("POST", "admin/domains", body)
        assert error(answer)[:2] == (400, "VALIDATION_ERROR"), (value, answer.text)
    assert (await door.list("admin/domains"))[1]["total"] == 0


@pytest.mark.parametrize(("field", "values"), WRONG_PROXIES)
async def test_wrong_values_of_a_proxy(door: Door, field: str, values: tuple[Any, ...]):
    for value in values:
        answer = await door.ask("POST", "admin/proxies", {"proxy_url": "p.example", "proxy_port": 8080, field: value})
        assert error(answer)[:2] == (400, "VALIDATION_ERROR"), (value, answer.text)
    assert (await door.list("admin/proxies"))[1]["total"] == 0


async def test_a_proxy_may_be_registered_as_inactive(door: Door):
    proxy = await door.proxy(is_active=False)
    assert (proxy["is_active"], proxy["disabled_reason"]) == (False, "manual")
    assert (await door.proxy(port=8081))["is_active"] is True
    enabled = await door.write("POST", f"admin/proxies/{proxy['id']}/enable")
    assert enabled["is_active"] is True


async def test_a_domain_names_the_country_of_its_proxies(door: Door):
    domain = await door.domain(proxy_country="de")
    assert domain["proxy_country"] == "DE"
    path = f"admin/domains/{domain['id']}"
    assert (await door.write("PATCH", path, {"crawl_delay_seconds": 3}))["proxy_country"] == "DE"
    assert (await door.write("PATCH", path, {"proxy_country": None}))["proxy_country"] is None


async def test_odd_words_are_searched_like_all_others(door: Door):
    for words in ODD_WORDS:
        assert (await door.list("products/search", q=words))[0] == [], words
    for query in ("", "q=", "q=%00", f"q={'x' * 1001}", "q=a&price_min=nan", "q=a&price_max=inf", "q=a&price_min=-1"):
        assert error(await door.client.get(f"/api/products/search?{query}"))[:2] == (400, "VALIDATION_ERROR"), query


async def test_of_simultaneous_submissions_one_is_new(door: Door):
    domain = await door.domain()
    answers = await asyncio.gather(*(submit(door, domain["id"], "/same") for _ in range(20)))
    assert sorted(answer.status_code for answer in answers) == [201, *[409] * 19]
    [made] = [answer.json()["data"]["task_id"] for answer in answers if answer.status_code == 201]
    assert {details(answer)["existing_task_id"] for answer in answers if answer.status_code == 409} == {made}

    async def batch(first: int) -> int:
        body = {"domain_id": domain["id"], "urls": [f"{SHOP}/{number}" for number in range(first, first + 50)]}
        return int((await door.write("POST", "admin/tasks/batch", body, 201))["total_submitted"])

    assert sum(await asyncio.gather(*map(batch, (0, 25, 50, 10)))) == 100


async def test_of_simultaneous_moves_those_that_are_legal_succeed(door: Door):
    task_id = (await submit(door, (await door.domain())["id"], "/p")).json()["data"]["task_id"]
    for verb in ("pause", "resume"):
        answers = await asyncio.gather(*(door.ask("POST", f"admin/tasks/{task_id}/{verb}") for _ in range(8)))
        assert sorted(answer.status_code for answer in answers) == [200, *[400] * 7], verb
    restarts = [door.ask("POST", f"admin/tasks/{task_id}/restart", {"scheduled_at": LATER}) for _ in range(8)]
    answers = await asyncio.gather(*restarts, *(door.ask("DELETE", f"admin/tasks/{task_id}") for _ in range(8)))
    assert [answer.status_code for answer in answers] == [200] * 16
    assert {answer.json()["data"]["status"] for answer in answers[8:]} == {"cancelled"}
