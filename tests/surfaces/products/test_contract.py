"""The contract of product tasks from its text alone, over HTTP: every operation, every code, every literal."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.surfaces.products.running import Door, Json, details, error

SHOP = "https://shop.example"
TASK_COLUMNS = {
    *("id", "domain_id", "url", "url_hash", "status", "priority", "scheduled_at", "started_at", "completed_at"),
    *("retry_count", "max_retries", "error_message", "crawl_frequency", "next_crawl_at", "recrawl_count"),
    *("is_recurring", "html_path", "http_status_code", "response_time_ms", "proxy_id", "created_by", "created_at"),
    *("updated_at", "run_token", "lease_owner", "lease_expires_at", "parent_task_id", "batch_id", "webhook_url"),
    *("domain_name", "proxy_url"),
}
DOMAIN_COLUMNS = {
    *("id", "domain_name", "base_url", "parser_name", "crawl_delay_seconds", "max_concurrent_requests"),
    *("default_crawl_frequency", "is_active", "robots_txt_url", "robots_txt_content", "robots_txt_last_fetched"),
    *("user_agent", "maintenance_start", "maintenance_end", "created_at", "updated_at", "stats"),
}
PROXY_COLUMNS = {
    *("id", "proxy_url", "proxy_port", "proxy_protocol", "proxy_username", "is_active", "failure_count"),
    *("success_count", "last_used_at", "last_success_at", "last_failure_at", "avg_response_time_ms", "country_code"),
    *("city", "provider", "monthly_cost", "max_requests_per_hour", "total_failures", "disabled_reason", "stats"),
}


async def task(door: Door, domain_id: int, path: str = "/p", **more: Any) -> Json:
    body = {"domain_id": domain_id, "url": SHOP + path} | more
    found: Json = await door.write("POST", "admin/tasks", body, 201)
    return found


async def message(door: Door, method: str, path: str, body: Any = None) -> str:
    answer = await door.ask(method, path, body)
    assert answer.status_code < 300, answer.text
    return str(answer.json()["message"])


def at(text: str) -> datetime:
    found = datetime.fromisoformat(text)
    assert found.utcoffset() == timedelta(0), "times are in UTC, with their zone"
    return found


async def test_submission_answers_seven_fields_and_the_task_has_every_column(door: Door):
    domain = await door.domain()
    made = await task(door, domain["id"], "/p?b=2&a=1#x")
    assert set(made) == {"task_id", "url", "url_hash", "status", "priority", "scheduled_at", "created_at"}
    assert (made["priority"], made["url"], len(made["url_hash"])) == (5, f"{SHOP}/p?b=2&a=1#x", 64)
    assert abs(at(made["scheduled_at"]) - datetime.now(UTC)) < timedelta(minutes=5)
    shown = await door.get(f"admin/tasks/{made['task_id']}")
    assert set(shown) >= TASK_COLUMNS, TASK_COLUMNS - set(shown)
    facts = ("retry_count", "max_retries", "crawl_frequency", "recrawl_count", "is_recurring", "run_token")
    assert [shown[name] for name in facts] == [0, 3, "1 day", 0, True, 0]
    assert (shown["domain_name"], shown["created_by"]) == ("shop.example", "admin")
    again = await door.ask("POST", "admin/tasks", {"domain_id": domain["id"], "url": "HTTPS://Shop.Example/p?a=1&b=2"})
    assert error(again)[:2] == (409, "DUPLICATE_URL")
    assert details(again) == {"existing_task_id": made["task_id"], "existing_status": shown["status"]}
    for other in ("/p/?a=1&b=2", "/P?a=1&b=2", "/p?a=1&b=2&", "/p?a=%31&b=2"):
        await task(door, domain["id"], other)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"url": "/p"}, "INVALID_URL"),
        ({"url": "ftp://shop.example/p"}, "INVALID_URL"),
        ({"url": "https://other.example/p"}, "INVALID_URL"),
        ({"url": "https://notshop.example/p"}, "INVALID_URL"),
        ({"url": ""}, "INVALID_URL"),
        ({"priority": 0}, "INVALID_PRIORITY"),
        ({"priority": 11}, "INVALID_PRIORITY"),
        ({"priority": "high"}, "INVALID_PRIORITY"),
        ({"priority": 2.5}, "INVALID_PRIORITY"),
        ({"max_retries": 11}, "VALIDATION_ERROR"),
        ({"max_retries": -1}, "VALIDATION_ERROR"),
        ({"crawl_frequency": "0 days"}, "VALIDATION_ERROR"),
        ({"crawl_frequency": "daily"}, "VALIDATION_ERROR"),
        ({"crawl_frequency": "2 fortnights"}, "VALIDATION_ERROR"),
        ({"scheduled_at": "tomorrow"}, "VALIDATION_ERROR"),
        ({"is_recurring": "maybe"}, "VALIDATION_ERROR"),
        ({"webhook_url": "nowhere"}, "VALIDATION_ERROR"),
        ({"webhook_url": f"{SHOP}/{'x' * 512}"}, "VALIDATION_ERROR"),
        ({"batch_id": 77}, "BATCH_NOT_FOUND"),
        ({"parent_task_id": 77}, "TASK_NOT_FOUND"),
        ({"domain_id": 77}, "DOMAIN_NOT_FOUND"),
        ({"domain_id": "shop"}, "VALIDATION_ERROR"),
    ],
)
async def test_a_wrong_task_has_the_code_of_its_fault(door: Door, body: Json, code: str):
    domain = await door.domain()
    answer = await door.ask("POST", "admin/tasks", {"domain_id": domain["id"], "url": f"{SHOP}/p"} | body)
    status = 404 if code.endswith("NOT_FOUND") else 400
    assert error(answer)[:2] == (status, code)
    assert (await door.list("admin/tasks"))[1]["total"] == 0


@pytest.mark.parametrize("unit", ["second", "minutes", "hour", "days", "week", "months", "year"])
async def test_every_unit_of_a_frequency_is_valid_in_both_numbers(door: Door, unit: str):
    domain = await door.domain()
    made = await task(door, domain["id"], crawl_frequency=f"3 {unit}")
    assert (await door.get(f"admin/tasks/{made['task_id']}"))["crawl_frequency"].startswith("3 ")


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", ""),
        ("POST", "/restart"),
        ("POST", "/restart-parsing"),
        ("POST", "/pause"),
        ("POST", "/resume"),
        ("PATCH", "/priority"),
        ("DELETE", ""),
    ],
)
async def test_an_unknown_task_is_named_in_every_operation(door: Door, method: str, path: str):
    body = {"priority": 1} if method == "PATCH" else None
    answer = await door.ask(method, f"admin/tasks/12345{path}", body)
    assert error(answer) == (404, "TASK_NOT_FOUND", "Task with ID 12345 not found")
    wrong = await door.ask(method, f"admin/tasks/abc{path}", body)
    assert (wrong.status_code, error(wrong)[1]) == (400, "VALIDATION_ERROR")


async def test_moves_answer_their_fields_and_messages(door: Door):
    domain = await door.domain()
    task_id = (await task(door, domain["id"]))["task_id"]
    path = f"admin/tasks/{task_id}"
    paused = await door.write("POST", f"{path}/pause")
    assert paused == {"task_id": task_id, "status": "paused", "previous_status": "queued"}
    assert error(await door.ask("POST", f"{path}/pause"))[:2] == (400, "INVALID_STATUS")
    resumed = await door.write("POST", f"{path}/resume")
    assert set(resumed) == {"task_id", "status", "scheduled_at"}
    assert error(await door.ask("POST", f"{path}/resume"))[:2] == (400, "INVALID_STATUS")
    assert await message(door, "POST", f"{path}/pause") == "Task paused successfully"
    assert await message(door, "POST", f"{path}/resume") == "Task resumed successfully"
    assert await message(door, "PATCH", f"{path}/priority", {"priority": 9}) == "Task priority updated successfully"
    for _ in range(2):
        cancelled = await door.ask("DELETE", path)
        assert cancelled.json() == {
            "success": True,
            "data": {"task_id": task_id, "status": "cancelled"},
            "message": "Task cancelled successfully",
        }
    later = "2099-01-01T00:00:00Z"
    restarted = await door.write("POST", f"{path}/restart", {"scheduled_at": later, "priority": 1})
    assert (restarted["status"], restarted["priority"], restarted["retry_count"]) == ("pending", 1, 0)
    assert at(restarted["scheduled_at"]) == at(later)
    assert set(restarted) == {"task_id", "status", "scheduled_at", "retry_count", "priority"}
    assert await message(door, "POST", f"{path}/restart") == "Task restarted successfully"
    assert error(await door.ask("POST", f"{path}/restart-parsing"))[:2] == (400, "HTML_NOT_AVAILABLE")
    assert await message(door, "POST", "admin/tasks/restart-failed", {}) == "0 failed tasks restarted successfully"


async def test_pages_have_their_bounds_and_an_end(door: Door):
    domain = await door.domain()
    for number in range(3):
        await task(door, domain["id"], f"/{number}")
    rows, place = await door.list("admin/tasks", page=2, per_page=2)
    assert (len(rows), place) == (1, {"page": 2, "per_page": 2, "total": 3, "total_pages": 2})
    assert await door.list("admin/tasks", page=9) == ([], {"page": 9, "per_page": 20, "total": 3, "total_pages": 1})
    for path in ("admin/tasks", "admin/domains", "admin/proxies", "admin/batches", "products"):
        for name, value in (("page", 0), ("per_page", 0), ("per_page", 101), ("page", "x")):
            assert error(await door.ask("GET", path, **{name: value}))[:2] == (400, "VALIDATION_ERROR"), path
    for name, value, code in (
        ("sort_by", "size", "INVALID_SORT_FIELD"),
        ("status", "done", "INVALID_STATUS"),
        ("priority_min", 0, "INVALID_PRIORITY"),
        ("priority_max", 11, "INVALID_PRIORITY"),
        ("sort_order", "up", "VALIDATION_ERROR"),
        ("created_after", "then", "VALIDATION_ERROR"),
        ("is_recurring", "perhaps", "VALIDATION_ERROR"),
    ):
        assert error(await door.ask("GET", "admin/tasks", **{name: value}))[:2] == (400, code), name


@pytest.mark.parametrize(("asked", "told"), [("1h", "last_1_hour"), ("24h", "last_24_hours"), (None, "last_24_hours")])
async def test_statistics_of_a_time(door: Door, asked: str | None, told: str):
    domain = await door.domain()
    await task(door, domain["id"])
    found = await door.get("admin/tasks/stats", **({"time_range": asked} if asked else {}))
    assert set(found) >= {"total_tasks", "by_status", "success_rate", "avg_response_time_ms", "total_recrawls"}
    assert (found["total_tasks"], found["by_status"], found["time_range"]) == (1, {"queued": 1}, told)
    assert error(await door.ask("GET", "admin/tasks/stats", time_range="2h"))[:2] == (400, "VALIDATION_ERROR")
    assert error(await door.ask("GET", "admin/tasks/stats", domain_id=77))[:2] == (404, "DOMAIN_NOT_FOUND")


async def test_domains_have_every_column_and_their_switches_two(door: Door):
    domain = await door.domain()
    shown = await door.get(f"admin/domains/{domain['id']}")
    assert set(shown) >= DOMAIN_COLUMNS, DOMAIN_COLUMNS - set(shown)
    assert set(shown["stats"]) == {"total_tasks", "active_proxies", "success_rate"}
    off = await door.write("POST", f"admin/domains/{domain['id']}/disable")
    assert off == {"domain_id": domain["id"], "is_active": False}
    refused = await door.ask("POST", "admin/tasks", {"domain_id": domain["id"], "url": f"{SHOP}/p"})
    assert error(refused)[:2] == (400, "DOMAIN_INACTIVE")
    batch = await door.ask("POST", "admin/tasks/batch", {"domain_id": domain["id"], "urls": [f"{SHOP}/p"]})
    assert error(batch)[:2] == (400, "DOMAIN_INACTIVE")
    on = await door.write("POST", f"admin/domains/{domain['id']}/enable")
    assert on == {"domain_id": domain["id"], "is_active": True}
    twice = await door.ask(
        "POST", "admin/domains", {"domain_name": "shop.example", "base_url": SHOP, "parser_name": "product"}
    )
    assert error(twice)[:2] == (409, "DUPLICATE_DOMAIN")
    assert domain["id"] in details(twice).values()
    unknown = {"domain_name": "x.example", "base_url": "https://x.example", "parser_name": "nobody"}
    assert (await door.ask("POST", "admin/domains", unknown)).status_code == 400


async def test_proxies_have_every_column_and_mappings_their_figures(door: Door):
    domain = await door.domain()
    proxy = await door.proxy(proxy_password="secret", country_code="DE")
    shown = await door.get(f"admin/proxies/{proxy['id']}")
    assert set(shown) >= PROXY_COLUMNS, PROXY_COLUMNS - set(shown)
    assert "proxy_password" not in shown
    assert set(shown["stats"]) == {"success_rate", "total_requests", "domains_using"}
    path = f"admin/domains/{domain['id']}/proxies"
    assigned = await door.write("POST", path, {"proxy_ids": [proxy["id"]]}, 201)
    assert (assigned["proxies_assigned"], assigned["total_proxies"]) == (1, 1)
    stats = await door.get(f"{path}/stats")
    assert set(stats) >= {
        *("failing_proxies", "overall_success_rate", "avg_response_time_ms", "total_requests", "total_success"),
        *("total_failures", "proxy_distribution"),
    }
    assert error(await door.ask("DELETE", f"{path}/77")) == (
        404,
        "MAPPING_NOT_FOUND",
        f"Proxy 77 is not assigned to domain {domain['id']}",
    )
    taken = await door.write("DELETE", f"{path}/{proxy['id']}")
    assert taken["remaining_proxies"] == 0
    for method, way in (("GET", ""), ("PATCH", ""), ("DELETE", ""), ("POST", "/enable"), ("POST", "/disable")):
        answer = await door.ask(method, f"admin/proxies/12345{way}", {} if method == "PATCH" else None)
        assert error(answer) == (404, "PROXY_NOT_FOUND", "Proxy with ID 12345 not found")
    assert (await door.ask("DELETE", f"admin/proxies/{proxy['id']}")).status_code == 200


async def test_check_16_maintenance_over_midnight_has_its_first_minute_and_not_its_last(door: Door):
    domain = await door.domain()
    now = datetime.now(UTC)
    edge = timedelta(minutes=30)

    async def status(start: datetime, end: datetime) -> str:
        window = {"maintenance_start": f"{start:%H:%M:%S}", "maintenance_end": f"{end:%H:%M:%S}"}
        await door.write("PATCH", f"admin/domains/{domain['id']}", window)
        return str((await door.get(f"admin/tasks/{made['task_id']}"))["status"])

    made = await task(door, domain["id"])
    assert await status(now - edge, now + edge) == "pending"
    assert await status(now + edge, now + 2 * edge) == "queued"
    assert await status(now + edge, now - edge) == "queued", "all day but the hour around now"
    assert await status(now - 2 * edge, now - edge) == "queued", "the end is over"
    cleared = {"maintenance_start": None, "maintenance_end": None}
    await door.write("PATCH", f"admin/domains/{domain['id']}", cleared)
    assert (await door.get(f"admin/tasks/{made['task_id']}"))["status"] == "queued"


@pytest.mark.parametrize("path", ["tasks", "tasks/batch", "domains", "proxies", "batches"])
@pytest.mark.parametrize("body", [b"{", b"[]", b'"x"', b"null", b""])
async def test_a_body_that_is_no_object_is_a_validation_error(door: Door, path: str, body: bytes):
    headers = {"content-type": "application/json"}
    answer = await door.client.post(f"/api/admin/{path}", content=body, headers=headers)
    assert error(answer)[:2] == (400, "VALIDATION_ERROR")
