"""Examples of tasks and batches for the OpenAPI document."""

from typing import Any

AT, LATER = "2025-11-29T10:00:00.000Z", "2025-11-30T10:00:00.000Z"
URL, URL_HASH = "https://shop.example/p?a=1&b=2", "d3ef1a3f5b6a0f2b4f3a8a2c0e6e6f0f8f1e2d3c4b5a69788796a5b4c3d2e1f0"


def _written(data: Any, message: str) -> dict[str, Any]:
    return {"success": True, "data": data, "message": message}


def _listed(items: list[Any]) -> dict[str, Any]:
    pagination = {"page": 1, "per_page": 20, "total": len(items), "total_pages": 1}
    return {"success": True, "data": items, "pagination": pagination}


NEW_TASK = {"domain_id": 100001, "url": URL, "priority": 5, "crawl_frequency": "1 day", "is_recurring": True}
CREATED_TASK = _written(
    {
        "task_id": 12345,
        "url": URL,
        "url_hash": URL_HASH,
        "status": "queued",
        "priority": 5,
        "scheduled_at": AT,
        "created_at": AT,
    },
    "Task created successfully",
)
NEW_TASKS = {"domain_id": 100001, "urls": [URL, "https://shop.example/q"], "priority": 5}
CREATED_TASKS = _written(
    {"total_submitted": 2, "total_duplicates": 0, "total_failed": 0, "task_ids": [12345, 12346]},
    "2 tasks created successfully",
)
TASK = {
    "id": 12345,
    "domain_id": 100001,
    "domain_name": "shop.example",
    "url": URL,
    "url_hash": URL_HASH,
    "status": "completed",
    "priority": 5,
    "scheduled_at": AT,
    "started_at": AT,
    "completed_at": AT,
    "retry_count": 0,
    "max_retries": 3,
    "error_message": None,
    "crawl_frequency": "1 day",
    "next_crawl_at": LATER,
    "recrawl_count": 0,
    "is_recurring": True,
    "html_path": "12345/page.html",
    "http_status_code": 200,
    "response_time_ms": 450,
    "proxy_id": 7,
    "proxy_url": "10.0.0.1",
    "created_by": "admin",
    "created_at": AT,
    "updated_at": AT,
    "run_token": 0,
    "lease_owner": None,
    "lease_expires_at": None,
    "parent_task_id": None,
    "batch_id": None,
    "webhook_url": None,
}
TASKS = _listed([TASK])
RESTART = {"reset_retry_count": True, "priority": 1, "scheduled_at": LATER}
RESTARTED_TASK = _written(
    {"task_id": 12345, "status": "pending", "scheduled_at": LATER, "retry_count": 0, "priority": 1},
    "Task restarted successfully",
)
REPARSE = {"reset_retry_count": True}
REPARSED_TASK = _written(
    {"task_id": 12345, "status": "downloaded", "html_path": "12345/page.html"}, "Parsing phase restarted successfully"
)
RESTART_FAILED = {"domain_id": 100001, "failed_after": AT, "limit": 1000}
RESTARTED_TASKS = _written({"total_restarted": 2, "task_ids": [12345, 12346]}, "2 failed tasks restarted successfully")
PAUSED_TASK = _written({"task_id": 12345, "status": "paused", "previous_status": "queued"}, "Task paused successfully")
RESUMED_TASK = _written({"task_id": 12345, "status": "queued", "scheduled_at": AT}, "Task resumed successfully")
PRIORITY = {"priority": 1}
PRIORITIZED_TASK = _written(
    {"task_id": 12345, "priority": 1, "previous_priority": 5}, "Task priority updated successfully"
)
CANCELLED_TASK = _written({"task_id": 12345, "status": "cancelled"}, "Task cancelled successfully")
STATS = {
    "total_tasks": 3,
    "by_status": {"completed": 2, "failed": 1},
    "success_rate": 66.67,
    "avg_response_time_ms": 450.5,
    "total_recrawls": 1,
    "time_range": "last_24_hours",
    "avg_duration_seconds": {"completed": 1.25, "failed": 0.5},
}
NEW_BATCH = {"name": "Autumn catalogue"}
CREATED_BATCH = _written({"id": 3, "name": "Autumn catalogue", "created_at": AT}, "Batch created successfully")
BATCHES = _listed([{"id": 3, "name": "Autumn catalogue", "created_at": AT}])
BATCH = {
    "id": 3,
    "name": "Autumn catalogue",
    "created_at": AT,
    "total_tasks": 3,
    "by_status": {"completed": 2, "failed": 1},
}
RESTART_BATCH = {"only_failed": True}
RESTARTED_BATCH, PAUSED_BATCH, RESUMED_BATCH, CANCELLED_BATCH = (
    _written({"batch_id": 3, "total_tasks": 2}, f"2 tasks {verb} successfully")
    for verb in ("restarted", "paused", "resumed", "cancelled")
)
