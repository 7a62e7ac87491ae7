"""Recurrence: one successor for each interval, however many schedulers look for it (§4.2, §10.1, §12)."""

import asyncio

from tests.surfaces.products.running import Door, Json
from tests.surfaces.products.tasks.crawling import domain, submit, work

INTERVALS, SCHEDULERS = 5, 4
PAUSE_SECONDS = 1.1
"""A little more than the crawl frequency of the tasks."""


async def look(door: Door) -> list[int]:
    """Let schedulers look at once; the numbers of successors that each has made."""

    async def all_at_once() -> list[int]:
        return await asyncio.gather(*(door.platform.records.generations.succeed(100) for _ in range(SCHEDULERS)))

    return door.call(all_at_once())


def kept(task: Json) -> Json:
    """The fields of a task that its successors leave alone."""
    return {name: value for name, value in task.items() if name not in ("next_crawl_at", "updated_at")}


async def test_check_4_and_5_each_interval_has_one_successor_of_several_schedulers(door: Door):
    domain_id = domain(door)
    asked = {"crawl_frequency": "1 second", "priority": 3, "max_retries": 7}
    ids = [(await submit(door, domain_id, f"/{number}", **asked))["task_id"] for number in range(2)]
    history: dict[int, Json] = {}
    for interval in range(1, INTERVALS + 1):
        work(door)
        await asyncio.sleep(PAUSE_SECONDS)
        assert sum(await look(door)) == 2, "one for each page"
        assert sum(await look(door)) == 0, "none before the next interval"
        rows, place = await door.list("admin/tasks", sort_by="id", sort_order="asc")
        assert place["total"] == 2 * (interval + 1)
        assert [row["recrawl_count"] for row in rows] == sorted([*range(interval + 1)] * 2)
        now = {row["id"]: kept(row) for row in rows}
        assert {task_id: now[task_id] for task_id in history} == history, "old rows are intact"
        history = {row["id"]: kept(row) for row in rows if row["status"] == "completed"}
    fresh = [row for row in rows if row["recrawl_count"] == INTERVALS]
    assert {(row["created_by"], row["priority"], row["max_retries"], row["status"]) for row in fresh} == {
        ("scheduler", 3, 7, "queued")
    }
    assert {row["url_hash"] for row in fresh} == {row["url_hash"] for row in rows if row["id"] in ids}
    assert sorted(work(door)) == sorted(row["id"] for row in fresh), "each is crawled once"
