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
SOURCE_PAGE: Example = {"sources": [SOURCE], "total": 1, "page": 1, "per_page": 100, "total_pages": 1}
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
