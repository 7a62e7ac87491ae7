"""Tasks: submitted one by one and in batches, shown, listed and counted, by the letter of the contract."""

import hashlib
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from longline.model.states import TaskState
from tests.surfaces.products.running import Door, data, details, error
from tests.surfaces.products.tasks.crawling import claim, domain, submit, switch, work

COLUMN_TEXT = """
id domain_id domain_name url url_hash status priority scheduled_at started_at completed_at retry_count max_retries
error_message crawl_frequency next_crawl_at recrawl_count is_recurring html_path http_status_code response_time_ms
proxy_id proxy_url created_by created_at updated_at run_token lease_owner lease_expires_at parent_task_id batch_id
webhook_url
"""
COLUMNS = set(COLUMN_TEXT.split())


async def test_a_task_is_created_with_the_defaults_of_the_contract(door: Door):
    domain_id = domain(door)
    answer = await door.ask("POST", "admin/tasks", {"domain_id": domain_id, "url": "HTTPS://Shop.Example/p?b=2&a=1#x"})
    assert answer.status_code == 201, answer.text
    assert answer.json()["message"] == "Task created successfully"
    made = answer.json()["data"]
    assert set(made) == {"task_id", "url", "url_hash", "status", "priority", "scheduled_at", "created_at"}
    assert made["url_hash"] == hashlib.sha256(b"https://shop.example/p?a=1&b=2").hexdigest()
    assert (made["url"], made["status"], made["priority"]) == ("HTTPS://Shop.Example/p?b=2&a=1#x", "queued", 5)
    task = await door.get(f"admin/tasks/{made['task_id']}")
    assert set(task) == COLUMNS
    assert (task["max_retries"], task["retry_count"], task["is_recurring"]) == (3, 0, True)
    assert (task["crawl_frequency"], task["created_by"], task["recrawl_count"]) == ("1 day", "admin", 0)
    assert (task["html_path"], task["error_message"], task["started_at"]) == (None, None, None)


async def test_the_path_with_a_slash_at_its_end_is_the_same(door: Door):
    domain_id = domain(door)
    body = {"domain_id": domain_id, "url": "https://shop.example/p"}
    assert (await door.ask("POST", "admin/tasks/", body)).status_code == 201
    assert (await door.ask("GET", "admin/tasks/")).json()["pagination"]["total"] == 1


@pytest.mark.parametrize("state", ["queued", "completed", "cancelled"])
async def test_a_url_has_one_task_in_every_state(door: Door, state: str):
    domain_id = domain(door)
    made = await submit(door, domain_id, "/p?a=1&b=2")
    if state == "completed":
        work(door)
    if state == "cancelled":
        await door.write("DELETE", f"admin/tasks/{made['task_id']}")
    body = {"domain_id": domain_id, "url": "https://SHOP.example/p?b=2&a=1"}
    answer = await door.ask("POST", "admin/tasks", body)
    assert error(answer)[:2] == (409, "DUPLICATE_URL")
    assert details(answer) == {"existing_task_id": made["task_id"], "existing_status": state}


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"url": "https://shop.example/"}, 400, "VALIDATION_ERROR"),
        ({"domain_id": 999_999, "url": "https://shop.example/"}, 404, "DOMAIN_NOT_FOUND"),
        ({"url": "ftp://shop.example/", "domain_id": 0}, 400, "INVALID_URL"),
        ({"url": "/p", "domain_id": 0}, 400, "INVALID_URL"),
        ({"url": "https://other.example/", "domain_id": 0}, 400, "INVALID_URL"),
        ({"url": "https://notshop.example/", "domain_id": 0}, 400, "INVALID_URL"),
        ({"url": "https://shop.example/", "domain_id": 0, "priority": 0}, 400, "INVALID_PRIORITY"),
        ({"url": "https://shop.example/", "domain_id": 0, "priority": 11}, 400, "INVALID_PRIORITY"),
        ({"url": "https://shop.example/", "domain_id": 0, "max_retries": 11}, 400, "VALIDATION_ERROR"),
        ({"url": "https://shop.example/", "domain_id": 0, "crawl_frequency": "0 days"}, 400, "VALIDATION_ERROR"),
        ({"url": "https://shop.example/", "domain_id": 0, "scheduled_at": "soon"}, 400, "VALIDATION_ERROR"),
        ({"url": "https://shop.example/", "domain_id": 0, "batch_id": 77}, 404, "BATCH_NOT_FOUND"),
        ({"url": "https://shop.example/", "domain_id": 0, "parent_task_id": 77}, 404, "TASK_NOT_FOUND"),
    ],
)
async def test_wrong_tasks_are_refused(door: Door, body: dict[str, Any], status: int, code: str):
    domain_id = domain(door)
    answer = await door.ask(
        "POST", "admin/tasks", body | ({"domain_id": domain_id} if body.get("domain_id") == 0 else {})
    )
    assert error(answer)[:2] == (status, code), answer.text
    if code == "INVALID_PRIORITY":
        assert error(answer)[2] == "Priority must be 1-10"


async def test_an_inactive_domain_takes_no_tasks(door: Door):
    domain_id = domain(door, enabled=False)
    body = {"domain_id": domain_id, "url": "https://shop.example/p"}
    assert error(await door.ask("POST", "admin/tasks", body))[:2] == (400, "DOMAIN_INACTIVE")
    many = {"domain_id": domain_id, "urls": ["https://shop.example/p"]}
    assert error(await door.ask("POST", "admin/tasks/batch", many))[:2] == (400, "DOMAIN_INACTIVE")


async def test_subdomains_belong_to_the_domain(door: Door):
    domain_id = domain(door)
    await door.write("POST", "admin/tasks", {"domain_id": domain_id, "url": "https://www.shop.example/p"}, 201)


async def test_a_batch_counts_created_duplicate_and_failed_urls(door: Door):
    domain_id = domain(door)
    await submit(door, domain_id, "/0")
    urls = [f"https://shop.example/{n}" for n in range(5)] + [
        "https://shop.example/1",
        "no url",
        "https://else.example/",
    ]
    answer = await door.ask("POST", "admin/tasks/batch", {"domain_id": domain_id, "urls": urls, "priority": 2})
    assert answer.status_code == 201, answer.text
    made = answer.json()["data"]
    assert (made["total_submitted"], made["total_duplicates"], made["total_failed"]) == (4, 2, 2)
    assert len(set(made["task_ids"])) == 4
    assert [(await door.get(f"admin/tasks/{i}"))["url"] for i in made["task_ids"]] == urls[1:5]


async def test_check_14_a_batch_of_ten_thousand_is_exact_and_one_more_is_refused(door: Door):
    domain_id = domain(door)
    urls = [f"https://shop.example/{n % 9000}" for n in range(10_000)]
    made = await door.write("POST", "admin/tasks/batch", {"domain_id": domain_id, "urls": urls}, 201)
    assert (made["total_submitted"], made["total_duplicates"], made["total_failed"]) == (9000, 1000, 0)
    again = await door.write("POST", "admin/tasks/batch", {"domain_id": domain_id, "urls": urls}, 201)
    assert (again["total_submitted"], again["total_duplicates"], again["task_ids"]) == (0, 10_000, [])
    more = {"domain_id": domain_id, "urls": [*urls, "https://shop.example/x"]}
    assert error(await door.ask("POST", "admin/tasks/batch", more))[:2] == (400, "VALIDATION_ERROR")
    assert error(await door.ask("POST", "admin/tasks/batch", {"domain_id": domain_id, "urls": []}))[0] == 400


async def test_check_15_stats_are_not_a_task(door: Door):
    domain_id = domain(door)
    await submit(door, domain_id, "/1")
    work(door)
    await submit(door, domain_id, "/2")
    work(door, TaskState.FAILED, "http_4xx", is_paged=False)
    await submit(door, domain_id, "/3")
    found = await door.get("admin/tasks/stats")
    assert found["by_status"] == {"queued": 1, "completed": 1, "failed": 1}
    assert (found["total_tasks"], found["success_rate"], found["time_range"]) == (3, 50.0, "last_24_hours")
    assert (found["avg_response_time_ms"], found["total_recrawls"]) == (450, 0)
    seconds = found["avg_duration_seconds"]
    assert seconds.keys() == {"completed", "failed"}
    assert all(0.25 <= one < 60 for one in seconds.values()), "from the start of the work to its report"
    assert (await door.get("admin/tasks/stats", time_range="1h", domain_id=domain_id))["time_range"] == "last_1_hour"
    assert error(await door.ask("GET", "admin/tasks/stats", time_range="2h"))[0] == 400
    assert error(await door.ask("GET", "admin/tasks/stats", domain_id=999_999))[:2] == (404, "DOMAIN_NOT_FOUND")


async def test_lists_have_nine_filters(door: Door):
    domain_id, other = domain(door), domain(door, "other.example")
    batch = await door.write("POST", "admin/batches", {"name": "autumn"}, 201)
    later = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    await submit(door, domain_id, "/1", priority=1, batch_id=batch["id"])
    await submit(door, domain_id, "/2", is_recurring=False)
    await submit(door, domain_id, "/3", scheduled_at=later, priority=9)
    await door.write("POST", "admin/tasks", {"domain_id": other, "url": "https://other.example/"}, 201)
    wanted: list[tuple[dict[str, Any], int]] = [
        ({}, 4),
        ({"domain_id": other}, 1),
        ({"status": "pending"}, 1),
        ({"status": "queued"}, 3),
        ({"status": "crawling"}, 0),
        ({"priority_min": 2}, 3),
        ({"priority_max": 5}, 3),
        ({"priority_min": 2, "priority_max": 5}, 2),
        ({"created_after": later}, 0),
        ({"created_before": later}, 4),
        ({"is_recurring": "false"}, 1),
        ({"batch_id": batch["id"]}, 1),
        ({"created_by": "admin"}, 4),
        ({"created_by": "scheduler"}, 0),
    ]
    for params, total in wanted:
        found, pagination = await door.list("admin/tasks", **params)
        assert (len(found), pagination["total"]) == (total, total), params
        assert all(set(one) == COLUMNS for one in found)


@pytest.mark.parametrize(
    "field", ["id", "created_at", "updated_at", "scheduled_at", "completed_at", "priority", "status", "retry_count"]
)
async def test_lists_are_sorted_by_eight_fields(door: Door, field: str):
    domain_id = domain(door)
    for number in range(4):
        await submit(door, domain_id, f"/{number}", priority=1 + number % 2)
    work(door, is_paged=False)
    await submit(door, domain_id, "/late", scheduled_at="2999-01-01T00:00:00Z")
    await submit(door, domain_id, "/now")
    for order in ("asc", "desc"):
        found, _ = await door.list("admin/tasks", sort_by=field, sort_order=order)
        keys = [(one[field] or "", one["id"]) for one in found]
        assert keys == sorted(keys, reverse=order == "desc"), order
    first, pagination = await door.list("admin/tasks", sort_by=field, per_page=4)
    second, _ = await door.list("admin/tasks", sort_by=field, per_page=4, page=2)
    assert [one["id"] for one in first + second] == [one["id"] for one in found]
    assert pagination == {"page": 1, "per_page": 4, "total": 6, "total_pages": 2}


@pytest.mark.parametrize(
    ("params", "code"),
    [
        ({"sort_by": "size"}, "INVALID_SORT_FIELD"),
        ({"status": "lost"}, "INVALID_STATUS"),
        ({"priority_min": 0}, "INVALID_PRIORITY"),
        ({"per_page": 101}, "VALIDATION_ERROR"),
        ({"page": 0}, "VALIDATION_ERROR"),
    ],
)
async def test_wrong_lists_are_refused(door: Door, params: dict[str, Any], code: str):
    assert error(await door.ask("GET", "admin/tasks", **params))[:2] == (400, code)


async def test_check_1_order_inside_a_domain_is_priority_then_time(door: Door):
    domain_id = domain(door)
    made = {}
    for path, priority in (("/five", 5), ("/two", 2), ("/five-again", 5), ("/one", 1)):
        made[path] = (await submit(door, domain_id, path, priority=priority))["task_id"]
    await submit(door, domain_id, "/three", priority=3, scheduled_at="2999-01-01T00:00:00Z")
    ready = {queue["name"]: queue["messages_ready"] for queue in (await door.get("admin/queues"))["queues"]}
    assert ready == {"priority_queue": 2, "crawl_queue": 2, "parse_queue": 0}
    assert [task.id for task in claim(door)] == [made[p] for p in ("/one", "/two", "/five", "/five-again")]
    ready = {queue["name"]: queue["messages_ready"] for queue in (await door.get("admin/queues"))["queues"]}
    assert ready == {"priority_queue": 0, "crawl_queue": 0, "parse_queue": 0}


async def test_check_2_an_inactive_domain_is_left_alone_until_it_is_switched_on(door: Door):
    domain_id = domain(door)
    made = await submit(door, domain_id)
    switch(door, domain_id, on=False)
    assert (await door.get(f"admin/tasks/{made['task_id']}"))["status"] == "pending"
    assert work(door) == []
    switch(door, domain_id, on=True)
    assert (await door.get(f"admin/tasks/{made['task_id']}"))["status"] == "queued"
    assert work(door) == [made["task_id"]]


async def test_check_3_failures_are_counted_and_the_last_message_is_shown(door: Door):
    domain_id = domain(door)
    made = await submit(door, domain_id, max_retries=1)
    work(door, TaskState.PENDING, "http_5xx", due_ms=60_000, error="the site failed with 503")
    task = await door.get(f"admin/tasks/{made['task_id']}")
    assert (task["status"], task["retry_count"], task["max_retries"]) == ("pending", 1, 1)
    assert task["error_message"] == "the site failed with 503"


async def test_a_page_that_robots_txt_forbids_has_failed(door: Door):
    domain_id = domain(door)
    made = await submit(door, domain_id)
    work(door, TaskState.SKIPPED, "robots", is_paged=False)
    task = await door.get(f"admin/tasks/{made['task_id']}")
    assert (task["status"], task["error_message"]) == ("failed", "Disallowed by robots.txt")
    assert task["completed_at"] is not None


async def test_a_completed_task_shows_its_page_and_its_next_time(door: Door):
    domain_id = domain(door)
    made = await submit(door, domain_id, crawl_frequency="12 HOURS")
    work(door)
    task = await door.get(f"admin/tasks/{made['task_id']}")
    assert (task["status"], task["html_path"]) == ("completed", f"{task['id']}/page.html")
    assert (task["http_status_code"], task["response_time_ms"], task["crawl_frequency"]) == (200, 450, "12 hours")
    ended, following = (datetime.fromisoformat(task[name]) for name in ("completed_at", "next_crawl_at"))
    assert following - ended == timedelta(hours=12)


async def test_an_unknown_task_is_not_found(door: Door):
    answer = await door.ask("GET", "admin/tasks/12345")
    assert error(answer) == (404, "TASK_NOT_FOUND", "Task with ID 12345 not found")
    assert error(await door.ask("GET", "admin/tasks/none"))[0] == 400


async def test_a_child_waits_for_its_parent(door: Door):
    domain_id = domain(door)
    parent = await submit(door, domain_id, "/parent")
    child = await submit(door, domain_id, "/child", parent_task_id=parent["task_id"])
    assert child["status"] == "pending"
    ids = [parent["task_id"], child["task_id"]]
    for path in ("/grandchild", "/great-grandchild"):
        ids.append((await submit(door, domain_id, path, parent_task_id=ids[-1]))["task_id"])
    body = {"domain_id": domain_id, "url": "https://shop.example/too-deep", "parent_task_id": ids[-1]}
    assert error(await door.ask("POST", "admin/tasks", body))[:2] == (400, "VALIDATION_ERROR")
    assert data(await door.ask("GET", f"admin/tasks/{ids[-1]}"))["parent_task_id"] == ids[-2]
