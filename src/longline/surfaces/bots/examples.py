"""Examples of requests and responses, as in the contract."""

from collections.abc import Mapping
from typing import Any

Example = Mapping[str, Any]

_JOB_ID = "550e8400-e29b-41d4-a716-446655440000"
_POLICY_ID = "0194428e-5d00-7b00-8000-3f6f1a2b4c5d"
_RESULT_ID = "01944291-0f30-7c00-9000-7a8b9c0d1e2f"
_URL = "https://example.com/product/123"
_TOKEN = "bot_bot-001_c2VjcmV0LW9mLXRoaXJ0eS10d28tcmFuZG9tLWJ5dGVz"

# -- bots -------------------------------------------------------------------------------------------------------

PULL: Example = {"bot_id": "bot-001", "max_jobs": 1}
PULLED: Example = {
    "jobs": [
        {
            "job_id": _JOB_ID,
            "url": _URL,
            "priority": 10,
            "max_retries": 3,
            "timeout_seconds": 600,
            "retry_count": 0,
            "locked_until": "2025-01-07T07:30:00Z",
        }
    ],
    "count": 1,
    "skipped": 0,
}
SUBMIT: Example = {
    "bot_id": "bot-001",
    "job_id": _JOB_ID,
    "success": True,
    "price": 99.99,
    "currency": "USD",
    "title": "Product Name",
    "in_stock": True,
}
SUBMIT_FAILURE: Example = {
    "bot_id": "bot-001",
    "job_id": _JOB_ID,
    "success": False,
    "error_msg": "Timeout: page did not load",
}
ACCEPTED_RESULT: Example = {
    "result_id": _RESULT_ID,
    "job_id": _JOB_ID,
    "status": "done",
    "price": 99.99,
    "currency": "USD",
    "policy_next_run": "2025-01-08T07:20:00Z",
}
ACCEPTED_FAILURE: Example = {
    "job_id": _JOB_ID,
    "status": "pending",
    "retry_count": 1,
    "max_retries": 3,
    "message": "Job marked for retry",
}
HEARTBEAT: Example = {"bot_id": "bot-001", "job_id": _JOB_ID}
EXTENDED_LOCK: Example = {"job_id": _JOB_ID, "status": "locked", "locked_until": "2025-01-07T07:39:00Z"}

# -- policies ---------------------------------------------------------------------------------------------------

NEW_POLICY: Example = {"url": _URL, "frequency_hours": 24, "priority": 10}
POLICY_CHANGE: Example = {"priority": 20, "enabled": False}
POLICY: Example = {
    "id": _POLICY_ID,
    "url": _URL,
    "domain": None,
    "name": None,
    "url_pattern": None,
    "frequency_hours": 24,
    "priority": 10,
    "max_retries": 3,
    "retry_backoff_minutes": 5,
    "timeout_minutes": 10,
    "enabled": True,
    "next_run_at": "2025-01-07T07:20:00Z",
    "last_success_at": None,
    "last_failed_at": None,
    "failure_count": 0,
    "crawl_config": {},
    "created_at": "2025-01-07T07:20:00Z",
    "updated_at": "2025-01-07T07:20:00Z",
}
POLICIES: Example = {"policies": [POLICY], "count": 1, "limit": 50, "offset": 0}
DELETED: Example = {"id": _POLICY_ID, "deleted": True}
CREATE_JOBS: Example = {"limit": 100, "dry_run": False}
CREATED_JOBS: Example = {"created": 2, "skipped": 0}
KNOWN_URLS: Example = {"urls": [_URL]}
ADDED_URLS: Example = {"added": 1}

# -- results ----------------------------------------------------------------------------------------------------

RESULT: Example = {
    "id": _RESULT_ID,
    "job_id": _JOB_ID,
    "url": _URL,
    "price": 99.99,
    "currency": "USD",
    "title": "Product Name",
    "in_stock": True,
    "parsed_data": {"confidence": 0.95, "price_sources": ["jsonld"]},
    "crawled_at": "2025-01-07T07:20:30Z",
    "created_at": "2025-01-07T07:20:30Z",
}
RESULT_DETAIL: Example = {**RESULT, "raw_html": "<html></html>"}
RESULTS: Example = {"results": [RESULT], "count": 1, "limit": 50, "offset": 0}

# -- jobs -------------------------------------------------------------------------------------------------------

NEW_JOB: Example = {"url": _URL, "priority": 20, "max_retries": 1, "timeout_minutes": 2}
JOB: Example = {
    "id": _JOB_ID,
    "policy_id": None,
    "url": _URL,
    "status": "pending",
    "priority": 20,
    "max_retries": 1,
    "timeout_minutes": 2,
    "lock_ttl_seconds": 120,
    "locked_by": None,
    "locked_at": None,
    "locked_until": None,
    "retry_count": 0,
    "last_error": None,
    "last_result_at": None,
    "expiry_count": 0,
    "created_at": "2025-01-07T07:20:00Z",
    "updated_at": "2025-01-07T07:20:00Z",
}
JOB_DETAIL: Example = {**JOB, "status": "done", "last_result_at": "2025-01-07T07:20:30Z", "result": RESULT}
JOBS: Example = {"jobs": [JOB], "count": 1, "limit": 50, "offset": 0}
REPAIR: Example = {"ids": [_JOB_ID]}
REPAIRED: Example = {"changed": 1}
EXPIRE_LOCKS: Example = {"auto_retry": True, "limit": 100}
EXPIRED_LOCKS: Example = {"expired": 0, "requeued": 3, "failed": 1}

# -- bots' registry ---------------------------------------------------------------------------------------------

NEW_BOT: Example = {"bot_id": "bot-001", "name": "Shop bot", "allowed_domains": ["example.com"]}
BOT_CHANGE: Example = {"max_jobs_per_pull": 20, "custom_lock_ttl_seconds": None}
BOT: Example = {
    "bot_id": "bot-001",
    "name": "Shop bot",
    "description": "",
    "token_preview": _TOKEN[:20],
    "enabled": True,
    "max_jobs_per_pull": 10,
    "custom_lock_ttl_seconds": None,
    "rate_limit_per_minute": 60,
    "priority_boost": 0,
    "allowed_domains": ["example.com"],
    "total_jobs_pulled": 3,
    "total_jobs_completed": 1,
    "total_jobs_failed": 1,
    "success_rate": 50.0,
    "last_pull_at": "2025-01-07T07:20:00Z",
    "last_submit_at": "2025-01-07T07:20:30Z",
    "token_expires_at": None,
    "created_at": "2025-01-07T07:00:00Z",
    "updated_at": "2025-01-07T07:20:30Z",
}
BOT_WITH_TOKEN: Example = {**BOT, "api_token": _TOKEN}
BOTS: Example = {"bots": [BOT], "count": 1, "limit": 50, "offset": 0}

# -- figures ----------------------------------------------------------------------------------------------------

DASHBOARD: Example = {
    "jobs": {"pending": 1, "locked": 2, "done": 1, "failed": 1, "expired": 1},
    "retry_histogram": {"0": 5, "1": 1},
    "jobs_pulled_per_hour": 6,
    "retry_rate": 33.33,
    "bot_activity": [
        {
            "bot_id": "bot-001",
            "enabled": True,
            "registered": True,
            "pulls_per_hour": 1,
            "jobs_pulled_per_hour": 4,
            "total_jobs_pulled": 4,
            "total_jobs_completed": 1,
            "total_jobs_failed": 1,
            "success_rate": 50.0,
            "last_pull_at": "2025-01-07T07:20:00Z",
            "last_submit_at": "2025-01-07T07:20:30Z",
        }
    ],
    "policies": {"total": 2, "enabled": 1, "due": 1, "failing": 0, "next_due": "2025-01-07T07:20:00Z"},
}
