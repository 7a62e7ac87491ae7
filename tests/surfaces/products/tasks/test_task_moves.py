"""Restart, restart-parsing, restart-failed, pause, resume, priority and cancel, by the letter of the contract."""

import pytest

from longline.model.states import TaskState
from tests.surfaces.products.running import Door, details, error
from tests.surfaces.products.tasks.crawling import claim, domain, submit, work


async def moved(door: Door, method: str, path: str, body: object = None) -> tuple[dict[str, object], str]:
    answer = await door.ask(method, f"admin/tasks/{path}", body)
    assert answer.status_code == 200, answer.text
    return answer.json()["data"], answer.json()["message"]


async def test_check_6_a_restart_is_possible_in_any_state_and_twice(door: Door):
    task_id = (await submit(door, domain(door)))["task_id"]
    [held] = claim(door)
    for _ in range(2):
        data, message = await moved(door, "POST", f"{task_id}/restart", {"priority": 1})
        assert message == "Task restarted successfully"
        assert (data["task_id"], data["retry_count"], data["priority"]) == (task_id, 0, 1)
        assert set(data) == {"task_id", "status", "scheduled_at", "retry_count", "priority"}
    again = await door.get(f"admin/tasks/{task_id}")
    assert (held.id, again["status"], again["started_at"], again["completed_at"]) == (task_id, "queued", None, None)
    data, _ = await moved(door, "POST", f"{task_id}/restart", {"scheduled_at": "2999-01-01T00:00:00Z"})
    assert (data["status"], data["scheduled_at"]) == ("pending", "2999-01-01T00:00:00.000Z")
    assert error(await door.ask("POST", "admin/tasks/77/restart"))[:2] == (404, "TASK_NOT_FOUND")
    wrong = await door.ask("POST", f"admin/tasks/{task_id}/restart", {"priority": 0})
    assert error(wrong)[:2] == (400, "INVALID_PRIORITY")


async def test_check_7_parsing_is_restarted_only_with_a_stored_page(door: Door):
    task_id = (await submit(door, domain(door)))["task_id"]
    answer = await door.ask("POST", f"admin/tasks/{task_id}/restart-parsing")
    assert error(answer)[:2] == (400, "HTML_NOT_AVAILABLE")
    work(door)
    assert error(await door.ask("POST", f"admin/tasks/{task_id}/restart-parsing"))[:2] == (400, "HTML_NOT_AVAILABLE"), (
        "the row is there and the file is not"
    )


async def test_check_8_a_paused_task_is_dropped_and_goes_on_with_its_retries(door: Door):
    task_id = (await submit(door, domain(door)))["task_id"]
    work(door, TaskState.PENDING, "http_5xx", due_ms=60_000)
    data, message = await moved(door, "POST", f"{task_id}/pause")
    assert message == "Task paused successfully"
    assert data == {"task_id": task_id, "status": "paused", "previous_status": "pending"}
    answer = await door.ask("POST", f"admin/tasks/{task_id}/pause")
    assert error(answer)[:2] == (400, "INVALID_STATUS")
    assert details(answer) == {"current_status": "paused"}
    data, message = await moved(door, "POST", f"{task_id}/resume")
    assert (message, data["status"], set(data)) == (
        "Task resumed successfully",
        "queued",
        {"task_id", "status", "scheduled_at"},
    )
    assert (await door.get(f"admin/tasks/{task_id}"))["retry_count"] == 1
    assert error(await door.ask("POST", f"admin/tasks/{task_id}/resume"))[:2] == (400, "INVALID_STATUS")


async def test_a_restart_has_the_time_that_was_given_though_it_is_over(door: Door):
    task_id = (await submit(door, domain(door)))["task_id"]
    work(door)
    given = {"scheduled_at": "2020-02-03T04:05:06Z"}
    restarted = await door.write("POST", f"admin/tasks/{task_id}/restart", given)
    assert (restarted["status"], restarted["scheduled_at"]) == ("queued", "2020-02-03T04:05:06.000Z")
    assert [task.id for task in claim(door)] == [task_id]


async def times(door: Door, task_id: int) -> tuple[object, object]:
    task = await door.get(f"admin/tasks/{task_id}")
    return task["started_at"], task["completed_at"]


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [("POST", "/pause", None), ("DELETE", "", None), ("PATCH", "/priority", {"priority": 2})],
)
async def test_the_times_that_a_restart_clears_stay_cleared(door: Door, method: str, path: str, body: object):
    task_id = (await submit(door, domain(door)))["task_id"]
    work(door)
    assert None not in await times(door, task_id)
    await moved(door, "POST", f"{task_id}/restart", {"scheduled_at": "2999-01-01T00:00:00Z"})
    assert await times(door, task_id) == (None, None)
    await moved(door, method, f"{task_id}{path}", body)
    assert await times(door, task_id) == (None, None)


@pytest.mark.parametrize("state", [TaskState.COMPLETED, TaskState.FAILED])
async def test_an_ended_task_cannot_be_paused(door: Door, state: TaskState):
    task_id = (await submit(door, domain(door)))["task_id"]
    work(door, state, "ok" if state == TaskState.COMPLETED else "http_4xx", is_paged=False)
    assert error(await door.ask("POST", f"admin/tasks/{task_id}/pause"))[:2] == (400, "INVALID_STATUS")


async def test_check_9_a_cancelled_task_has_no_successor_and_its_row_stays(door: Door):
    task_id = (await submit(door, domain(door), crawl_frequency="1 second"))["task_id"]
    work(door)
    for _ in range(2):
        data, message = await moved(door, "DELETE", f"{task_id}")
        assert (data, message) == ({"task_id": task_id, "status": "cancelled"}, "Task cancelled successfully")
    assert (await door.get(f"admin/tasks/{task_id}"))["next_crawl_at"] is None
    assert door.call(door.platform.records.generations.succeed(100)) == 0


async def test_a_priority_is_changed_and_the_former_one_told(door: Door):
    task_id = (await submit(door, domain(door)))["task_id"]
    data, message = await moved(door, "PATCH", f"{task_id}/priority", {"priority": 1})
    assert data == {"task_id": task_id, "priority": 1, "previous_priority": 5}
    assert message == "Task priority updated successfully"
    wrong = await door.ask("PATCH", f"admin/tasks/{task_id}/priority", {"priority": 11})
    assert error(wrong) == (400, "INVALID_PRIORITY", "Priority must be 1-10")


async def test_failed_tasks_are_restarted_oldest_first(door: Door):
    domain_id, ids = domain(door), []
    for number in range(3):
        ids.append((await submit(door, domain_id, f"/{number}"))["task_id"])
        work(door, TaskState.FAILED, "http_4xx", is_paged=False)
    data, message = await moved(door, "POST", "restart-failed", {"limit": 2, "domain_id": domain_id})
    assert data == {"total_restarted": 2, "task_ids": ids[:2]}
    assert message == "2 failed tasks restarted successfully"
    assert (await moved(door, "POST", "restart-failed", {"failed_after": "2999-01-01T00:00:00Z"}))[0]["task_ids"] == []
    assert (await moved(door, "POST", "restart-failed"))[0]["task_ids"] == ids[2:]
    for wrong, told in (({"limit": 10_001}, (400, "VALIDATION_ERROR")), ({"domain_id": 7}, (404, "DOMAIN_NOT_FOUND"))):
        assert error(await door.ask("POST", "admin/tasks/restart-failed", wrong))[:2] == told


async def test_a_batch_is_moved_as_a_whole(door: Door):
    domain_id = domain(door)
    batch = await door.write("POST", "admin/batches", {"name": "autumn"}, 201)
    for number in range(2):
        await submit(door, domain_id, f"/{number}", batch_id=batch["id"])
    assert (await door.get(f"admin/batches/{batch['id']}"))["by_status"] == {"queued": 2}
    for verb, status in (("pause", "paused"), ("resume", "queued"), ("cancel", "cancelled"), ("restart", "queued")):
        data = await door.write("POST", f"admin/batches/{batch['id']}/{verb}")
        assert data == {"batch_id": batch["id"], "total_tasks": 2}
        assert (await door.get(f"admin/batches/{batch['id']}"))["by_status"] == {status: 2}
    assert (await door.list("admin/batches"))[0] == [batch]
    assert error(await door.ask("POST", "admin/batches", {"name": " "}))[:2] == (400, "VALIDATION_ERROR")
    for path in ("", "/pause", "/resume", "/cancel", "/restart"):
        answer = await door.ask("POST" if path else "GET", f"admin/batches/77{path}")
        assert error(answer)[:2] == (404, "BATCH_NOT_FOUND")
