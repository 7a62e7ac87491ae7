"""Figures and queues over HTTP, from the text of the contract (§9.2)."""

from typing import Any

from tests.surfaces.products.running import Door
from tests.surfaces.products.tasks.crawling import claim


async def submit(door: Door, domain: int, path: str, **more: Any) -> int:
    body = {"domain_id": domain, "url": f"https://shop.example/{path}"} | more
    return int((await door.write("POST", "admin/tasks", body, 201))["task_id"])


async def queues(door: Door) -> dict[str, tuple[int, int]]:
    told = (await door.get("admin/queues"))["queues"]
    assert all(set(queue) == {"name", "messages_ready", "messages_unacked", "consumers"} for queue in told)
    return {queue["name"]: (queue["messages_ready"], queue["messages_unacked"]) for queue in told}


async def test_priorities_one_and_two_have_a_queue_of_their_own(door: Door):
    domain = (await door.domain())["id"]
    for number, priority in enumerate((1, 2, 3, 10)):
        await submit(door, domain, f"p/{number}", priority=priority)
    await submit(door, domain, "later", scheduled_at="2099-01-01T00:00:00Z")
    assert await queues(door) == {"crawl_queue": (2, 0), "parse_queue": (0, 0), "priority_queue": (2, 0)}
    stats = await door.get("admin/stats")
    assert stats["tasks"]["total"] == 5
    assert (stats["tasks"]["by_status"]["queued"], stats["tasks"]["by_status"]["pending"]) == (4, 1)


async def test_a_domain_that_is_off_has_nothing_queued(door: Door):
    domain = (await door.domain())["id"]
    await submit(door, domain, "p/1")
    await door.write("POST", f"admin/domains/{domain}/disable")
    assert (await queues(door))["crawl_queue"] == (0, 0)
    await door.write("POST", f"admin/domains/{domain}/enable")
    assert (await queues(door))["crawl_queue"] == (1, 0)
    await door.write("PATCH", f"admin/domains/{domain}", {"is_active": False})
    assert (await queues(door))["crawl_queue"] == (0, 0)


async def test_figures_of_the_platform(door: Door):
    domain = (await door.domain())["id"]
    await door.domain("off.example", is_active=False)
    proxy = (await door.proxy())["id"]
    await door.write("POST", f"admin/proxies/{proxy}/disable")
    task = await submit(door, domain, "p/1")
    await door.write("POST", f"admin/tasks/{task}/pause")
    stats = await door.get("admin/stats")
    assert stats["domains"] == {"total": 2, "active": 1}
    assert stats["proxies"] == {"total": 1, "active": 0}
    assert stats["products"] == {"total": 0}
    assert stats["tasks"]["by_status"]["paused"] == 1
    assert stats["performance"]["running"] == 0
    shown = await door.get(f"admin/domains/{domain}")
    assert shown["stats"]["total_tasks"] == shown["total_tasks"] == 1


async def test_tasks_are_a_metric_by_status(door: Door):
    domain = (await door.domain())["id"]
    paused = await submit(door, domain, "p/1")
    await submit(door, domain, "p/2")
    await door.write("POST", f"admin/tasks/{paused}/pause")
    told = (await door.client.get("/metrics")).text
    assert 'longline_product_tasks{status="paused"} 1.0' in told
    assert 'longline_product_tasks{status="pending"} 1.0' in told
    assert 'longline_product_tasks{status="failed"} 0.0' in told


async def test_tasks_in_hand_of_a_domain_that_is_off_are_not_taken_from_those_that_are_due(door: Door):
    domain = (await door.domain(crawl_delay_seconds=0))["id"]
    other = (await door.domain("other.example"))["id"]
    held = [await submit(door, domain, f"p/{priority}", priority=priority) for priority in (1, 5)]
    assert len(claim(door)) == 2
    body = {"domain_id": other, "url": "https://other.example/p"}
    for path, priority in (("1", 2), ("2", 7)):
        await door.write("POST", "admin/tasks", body | {"url": body["url"] + path, "priority": priority}, 201)
    for switch in ("enable", "disable"):
        await door.write("POST", f"admin/domains/{domain}/{switch}")
        assert await queues(door) == {"crawl_queue": (1, 1), "parse_queue": (0, 0), "priority_queue": (1, 1)}, switch
        assert (await door.get("admin/tasks/stats"))["by_status"] == {"crawling": 2, "queued": 2}, switch
        by_status = (await door.get("admin/stats"))["tasks"]["by_status"]
        assert [by_status[status] for status in ("pending", "queued", "crawling")] == [0, 2, 2], switch
        assert (await door.get(f"admin/tasks/{held[0]}"))["status"] == "crawling"
