"""Examples of requests and responses for the OpenAPI document of the interval API."""

from collections.abc import Mapping
from typing import Any

Example = Mapping[str, Any]

_SOURCE_ID = "0192f8a1-6c1e-7a54-9d5f-2b7f3c1d8e90"
_JOB_ID = "0192f8a1-7d20-7c11-8a3e-5e0f9b2c4d61"
_EXECUTION_ID = "0192f8a2-0b33-7f08-b1c2-9a4d6e7f8012"
_URL_ID = "0192f8a3-1c44-7e19-a2d3-0b5e7f809123"
_LINK_ID = "0192f8a4-2d55-7d2a-93e4-1c6f8091a234"
_CREATED_AT = "2026-03-01T08:00:00.000Z"
_UPDATED_AT = "2026-03-01T09:30:00.000Z"

# Jobs

NEW_JOB: Example = {
    "source_id": _SOURCE_ID,
    "url": "https://example.com/news",
    "interval_minutes": 360,
    "interval_type": "minutes",
    "schedule_enabled": True,
    "max_retries": 3,
    "retry_backoff_seconds": 60,
}
JOB_CHANGES: Example = {"interval_minutes": 30, "interval_type": "minutes", "schedule_enabled": True}
JOB: Example = {
    "id": _JOB_ID,
    **NEW_JOB,
    "type": "crawl",
    "status": "scheduled",
    "adaptive_scheduling": True,
    "next_run_at": "2026-03-01T10:00:00.000Z",
    "is_paused": False,
    "current_retry_count": 0,
    "metadata": {},
    "created_at": _CREATED_AT,
    "updated_at": _UPDATED_AT,
    "scheduler_version": 1,
    "auto_managed": False,
    "priority": 50,
    "failure_count": 0,
}
JOB_LIST: Example = {
    "jobs": [JOB],
    "total": 1,
    "limit": 50,
    "offset": 0,
    "sort_by": "created_at",
    "sort_order": "desc",
}
STATUS_COUNTS: Example = {
    "pending": 0,
    "scheduled": 12,
    "running": 1,
    "paused": 2,
    "completed": 40,
    "failed": 3,
    "cancelled": 0,
}
JOB_DELETED: Example = {"message": "Job deleted successfully"}
FORCED_JOB: Example = {"message": "Job queued for immediate execution", "job_id": _JOB_ID}

# Executions

EXECUTION: Example = {
    "id": _EXECUTION_ID,
    "job_id": _JOB_ID,
    "execution_number": 7,
    "status": "completed",
    "started_at": "2026-03-01T04:00:00.000Z",
    "completed_at": "2026-03-01T04:01:30.000Z",
    "duration_ms": 90_000,
    "items_crawled": 42,
    "items_indexed": 31,
    "cpu_time_ms": 2_100,
    "memory_peak_mb": 180,
    "retry_attempt": 0,
    "metadata": {
        "run": 7,
        "crawl_metrics": {
            "requests_total": 45,
            "requests_failed": 2,
            "bytes_downloaded": 3_400_000,
            "status_codes": {"200": 43, "404": 2},
            "error_categories": {"http_client": 2},
            "top_errors": [{"message": "HTTP 404", "count": 2, "last_url": "https://example.com/gone"}],
            "response_time": {"avg_ms": 120.25, "min_ms": 40, "max_ms": 900},
            "skipped": {"non_html": 1, "max_depth": 5, "robots_txt": 0},
            "extraction_quality": {"items_indexed": 31, "empty_title_count": 0, "empty_body_count": 1},
        },
    },
}
EXECUTION_LIST: Example = {"executions": [EXECUTION], "total": 1, "limit": 50, "offset": 0}
JOB_STATS: Example = {
    "total_executions": 8,
    "successful_runs": 7,
    "failed_runs": 1,
    "average_duration_ms": 91_250.5,
    "last_execution_at": "2026-03-01T04:00:00.000Z",
    "next_scheduled_at": "2026-03-01T10:00:00.000Z",
    "success_rate": 0.875,
}
DASHBOARD: Example = {
    "crawled_today": 420,
    "indexed_today": 310,
    "classified_today": 0,
    "published_today": 0,
    "total_sources": 0,
    "active_sources": 0,
    "errors_today": 0,
}

# Scheduler

SCHEDULER_METRICS: Example = {
    "jobs": {"scheduled": 12, "running": 1, "completed": 340, "failed": 9, "cancelled": 2},
    "executions": {"total": 352, "average_duration_ms": 88_400.0, "success_rate": 0.974},
    "last_check_at": _UPDATED_AT,
    "last_metrics_update": _UPDATED_AT,
    "stale_locks_cleared": 0,
}
DISTRIBUTION: Example = {
    "distribution_score": 1.0,
    "window_hours": 24,
    "slot_minutes": 15,
    "total_jobs": 48,
    "hourly_distribution": [{"hour": hour, "job_count": 2} for hour in range(24)],
    "peak_hour": 0,
    "peak_count": 2,
    "hourly_counts": {str(hour): 2 for hour in range(24)},
    "average_per_hour": 2.0,
    "max_per_hour": 2,
    "min_per_hour": 2,
}
REBALANCE_PREVIEW: Example = {
    "moved": [{"job_id": _JOB_ID, "old_time": "2026-03-01T10:00:00.000Z", "new_time": "2026-03-01T12:15:00.000Z"}],
    "skipped": [{"job_id": _LINK_ID, "reason": "protection_window"}],
    "new_distribution_score": 0.92,
    "moves": [{"job_id": _JOB_ID, "from_slot": 1_969_192, "to_slot": 1_969_201, "reason": "load_balancing"}],
    "total_moves": 1,
    "before_score": 0.75,
    "after_score": 0.92,
    "improvement": 0.17,
}
REBALANCE: Example = {**REBALANCE_PREVIEW, "jobs_updated": 1}

# Backfill

_THIN_SOURCE: Example = {
    "source_id": _SOURCE_ID,
    "source_name": "news",
    "documents": 20,
    "average_word_count": 62.5,
}
BACKFILL: Example = {
    "dry_run": True,
    "min_word_count": 100,
    "sources": [_THIN_SOURCE],
    "total": 1,
    "dispatched": 0,
}
VALIDATION_REPORT: Example = {
    "min_word_count": 100,
    "pass_threshold": 0.5,
    "total_sources": 1,
    "passed": 0,
    "failed": 1,
    "sources": [{**_THIN_SOURCE, "documents_passing": 4, "pass_rate": 0.2, "passed": False}],
}

# Previews

_OPEN_GRAPH: Example = {"title": "A story", "site_name": "The Paper"}
PAGE_REQUEST: Example = {"url": "https://news.example/2026/03/a-story"}
TRIAL_REQUEST: Example = {**PAGE_REQUEST, "selectors": {"article": {"title": "h1", "body": ".story"}}}
TRIAL: Example = {
    "url": "https://news.example/2026/03/a-story",
    "status_code": 200,
    "content_type": "text/html; charset=utf-8",
    "articles_found": 1,
    "success_rate": 1.0,
    "links_found": 24,
    "warnings": [],
    "sample_articles": [
        {
            "title": "A story",
            "url": "https://news.example/2026/03/a-story",
            "author": "Ann",
            "body": "First paragraph.",
            "word_count": 480,
            "extraction_method": "selector",
        }
    ],
}
SITE_METADATA: Example = {
    "url": "https://news.example/",
    "final_url": "https://www.news.example/",
    "status_code": 200,
    "name": "The Paper",
    "title": "The Paper",
    "description": "News of the day.",
    "author": "",
    "og": _OPEN_GRAPH,
    "feed_url": "https://www.news.example/feed",
    "duration_ms": 210,
}
FETCH_REQUEST: Example = {**PAGE_REQUEST, "timeout": 15}
FETCHED_PAGE: Example = {
    "url": "https://news.example/2026/03/a-story",
    "final_url": "https://news.example/2026/03/a-story",
    "status_code": 200,
    "content_type": "text/html; charset=utf-8",
    "html": "<html>...</html>",
    "title": "A story",
    "body": "First paragraph.\nSecond paragraph.",
    "author": "Ann",
    "description": "About a story.",
    "og": _OPEN_GRAPH,
    "duration_ms": 210,
}

# Sources

NEW_SOURCE: Example = {
    "name": "news",
    "url": "https://news.example/",
    "rate_limit": "10s",
    "max_depth": 2,
    "selectors": {"article": {"title": "h1", "body": ".story"}},
    "article_url_patterns": ["/20[0-9]{2}/"],
    "ingestion_mode": "both",
    "feed_url": "https://news.example/feed",
    "feed_poll_interval_minutes": 15,
    "identity_key": "news.example",
}
SOURCE: Example = {
    "id": _SOURCE_ID,
    **NEW_SOURCE,
    "rules": {},
    "render_mode": "static",
    "allow_source_discovery": False,
    "type": "news",
    "time": [],
    "priority": "normal",
    "enabled": True,
    "created_at": _CREATED_AT,
    "updated_at": _UPDATED_AT,
}
SOURCE_LIST: Example = {"sources": [SOURCE], "total": 1, "page": 1, "per_page": 100, "total_pages": 1}
SOURCE_CHANGES: Example = {"rate_limit": 7, "feed_url": None}
SWITCH_REASON: Example = {"reason": "not_found"}
BUDGET: Example = {"budget": 10_000}
SYNC_RESULT: Example = {
    "sources_seen": 3,
    "sources_enabled": 2,
    "created": [_SOURCE_ID],
    "already_has_job": ["0192f8a1-6c1e-7a54-9d5f-2b7f3c1d8e91"],
    "resumed": [],
    "skipped_disabled": ["0192f8a1-6c1e-7a54-9d5f-2b7f3c1d8e92"],
    "skipped_rate_limit_parse_failure": [],
}

# The frontier

NEW_URL: Example = {"url": "https://news.example/2026/03/story", "source_id": _SOURCE_ID, "priority": 8}
SUBMITTED_URL: Example = {"message": "URL submitted to frontier", "id": _URL_ID, "queued": True}
RETRIED_URL: Example = {"message": "Frontier URL queued for retry"}
FRONTIER_URL: Example = {
    "id": _URL_ID,
    "url": "https://news.example/2026/03/story",
    "url_hash": "5d41402abc4b2a76b9719d911017c5925d41402abc4b2a76b9719d911017c592",
    "host": "news.example",
    "source_id": _SOURCE_ID,
    "origin": "manual",
    "depth": 0,
    "priority": 8,
    "status": "dead",
    "next_fetch_at": _CREATED_AT,
    "fetch_count": 0,
    "retry_count": 0,
    "last_error": "not_found",
    "discovered_at": _CREATED_AT,
    "created_at": _CREATED_AT,
    "updated_at": _UPDATED_AT,
}
FRONTIER_LIST: Example = {"urls": [FRONTIER_URL], "total": 1}
FRONTIER_STATS: Example = {
    "total_pending": 12,
    "total_fetching": 2,
    "total_fetched": 340,
    "total_failed": 0,
    "total_dead": 5,
}

# Discovered links and domains

LINK_JOB: Example = {"source_name": "partner news"}
LINK: Example = {
    "id": _LINK_ID,
    "source_id": _SOURCE_ID,
    "source_name": "news",
    "url": "https://partner.example/news/1",
    "parent_url": "https://news.example/links",
    "depth": 2,
    "domain": "partner.example",
    "http_status": 200,
    "content_type": "text/html",
    "discovered_at": _CREATED_AT,
    "queued_at": _UPDATED_AT,
    "status": "pending",
    "priority": 5,
    "created_at": _CREATED_AT,
    "updated_at": _UPDATED_AT,
}
LINK_LIST: Example = {"links": [LINK], "total": 1}
DELETED_LINK: Example = {"message": "Discovered link deleted successfully"}
DOMAIN: Example = {
    "domain": "partner.example",
    "status": "active",
    "link_count": 4,
    "source_count": 2,
    "avg_depth": 2.0,
    "first_seen": _CREATED_AT,
    "last_seen": _UPDATED_AT,
    "ok_ratio": 1.0,
    "html_ratio": 0.75,
    "quality_score": 80,
    "referring_sources": ["news", "other news"],
    "is_existing_source": False,
}
DOMAIN_LIST: Example = {"domains": [DOMAIN], "total": 1}
DOMAIN_LINKS: Example = {
    "links": [{**LINK, "path": "/news/1"}],
    "path_clusters": [{"pattern": "/news/*", "count": 1}],
    "total": 1,
}
DOMAIN_REVIEW: Example = {"status": "reviewing", "notes": "a partner"}
REVIEWED_DOMAIN: Example = {"message": "Domain state updated", "domain": "partner.example", "status": "reviewing"}
DOMAINS_REVIEW: Example = {"domains": ["ads.example", "shop.example"], "status": "ignored"}
REVIEWED_DOMAINS: Example = {"message": "Domain states updated", "updated": 2}

# Logs

EXECUTION_LOGS: Example = {
    "job_id": _JOB_ID,
    "executions": [
        {
            "execution_id": _EXECUTION_ID,
            "execution_number": 1,
            "status": "completed",
            "started_at": _CREATED_AT,
            "completed_at": _UPDATED_AT,
            "log_available": True,
            "log_object_key": f"logs/{_JOB_ID}/1.log.gz",
            "log_size_bytes": 2048,
            "log_line_count": 57,
        }
    ],
    "has_live_logs": False,
    "stream_v2_available": True,
    "limit": 50,
    "offset": 0,
}
LOG_LINE: Example = {
    "schema_version": 1,
    "timestamp": "2026-03-01T08:00:01.000000000Z",
    "level": "info",
    "category": "crawler.lifecycle",
    "message": "run started",
    "job_id": _JOB_ID,
    "execution_id": _EXECUTION_ID,
}
LOG_VIEW: Example = {"job_id": _JOB_ID, "execution_number": 1, "lines": [LOG_LINE], "line_count": 1}
