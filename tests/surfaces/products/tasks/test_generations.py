"""Recurrence: one successor for each interval, for any number of schedulers (§4.2, §10.1, §12)."""

import asyncio

import pytest

from longline.model.states import TaskState
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
    """Return the fields of a task that its successors share."""
    return {name: value for name, value in task.items() if name not in ("next_crawl_at", "updated_at")}


async def test_check_4_and_5_each_interval_has_one_successor_of_several_schedulers(door: Door):
    domain_id = domain(door)
    batch = await door.write("POST", "admin/batches", {"name": "autumn"}, 201)
    asked = {"crawl_frequency": "1 second", "priority": 3, "max_retries": 7, "batch_id": batch["id"]}
    asked["webhook_url"] = "https://hooks.example/"
    ids = [(await submit(door, domain_id, f"/{number}", **asked))["task_id"] for number in range(2)]
    history: dict[int, Json] = {}
    for interval in range(1, INTERVALS + 1):
        work(door)
        await asyncio.sleep(PAUSE_SECONDS)
        assert sum(await look(door)) == 2, "one successor for each page"
        assert sum(await look(door)) == 0, "none before the next interval"
        rows, place = await door.list("admin/tasks", sort_by="id", sort_order="asc")
        assert place["total"] == 2 * (interval + 1)
        assert [row["recrawl_count"] for row in rows] == sorted([*range(interval + 1)] * 2)
        now = {row["id"]: kept(row) for row in rows}
        assert {task_id: now[task_id] for task_id in history} == history, "old rows are intact"
        history = {row["id"]: kept(row) for row in rows if row["status"] == "completed"}
    fresh = [row for row in rows if row["recrawl_count"] == INTERVALS]
    shown = asked | {"created_by": "scheduler", "status": "queued", "is_recurring": True}
    assert [{name: row[name] for name in shown} for row in fresh] == [shown, shown]
    assert {row["url_hash"] for row in fresh} == {row["url_hash"] for row in rows if row["id"] in ids}
    assert sorted(work(door)) == sorted(row["id"] for row in fresh), "each is crawled once"


@pytest.mark.parametrize(("goes_on", "generations"), [(True, [0, 1, 2]), (False, [0])])
async def test_a_failure_ends_a_chain_unless_its_domain_says_otherwise(
    door: Door, goes_on: bool, generations: list[int]
):
    made = await door.domain(recur_after_failure=goes_on)
    await submit(door, made["id"], crawl_frequency="1 second")
    for _ in range(2):
        work(door, TaskState.FAILED, "http_4xx")
        await asyncio.sleep(PAUSE_SECONDS)
        await look(door)
    rows, _ = await door.list("admin/tasks", sort_by="id", sort_order="asc")
    assert [row["recrawl_count"] for row in rows] == generations
