"""Responses about URLs of the frontier, and their making from rows."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from longline.model.frontier.retries import is_hopeless
from longline.model.frontier.standing_frontier import StandingUrl, url_hash
from longline.model.ids import task_uuid
from longline.model.urls.url_credentials import without_credentials
from longline.surfaces.intervals.field_types import Timestamp, optional_rfc3339, rfc3339
from longline.surfaces.intervals.priorities import Priority, to_contract_priority

FrontierStatus = Literal["pending", "fetching", "fetched", "failed", "dead"]

REST_WORDS: Mapping[str, FrontierStatus] = {
    "waiting": "pending",
    "held": "fetching",
    "done": "fetched",
    "given_up": "dead",
}

ERROR_WORDS = {
    "robots": "robots_blocked",
    "content_type": "unsupported_content_type",
    "parser_error": "extract_failed",
    "too_many_redirects": "too_many_redirects",
    "redirect_loop": "too_many_redirects",
    "binary_url": "binary_url",
}

Origin = Annotated[
    Literal["feed", "sitemap", "spider", "manual", "discovered"],
    Meta(description="The way on which the URL was found."),
]


class FrontierUrlBody(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A URL of the frontier; fields without a value are left out."""

    id: str
    url: str
    url_hash: Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
    host: str
    source_id: str
    origin: Origin
    parent_url: str | None = None
    depth: int
    priority: Priority
    status: FrontierStatus
    next_fetch_at: Timestamp
    last_fetched_at: Timestamp | None = None
    fetch_count: int
    content_hash: str | None = None
    etag: str | None = None
    last_modified: str | None = None
    retry_count: int
    last_error: str | None = None
    discovered_at: Timestamp
    created_at: Timestamp
    updated_at: Timestamp


class FrontierListBody(msgspec.Struct, frozen=True):
    """One page of URLs."""

    urls: list[FrontierUrlBody]
    total: int


class FrontierStatsBody(msgspec.Struct, frozen=True):
    """The number of URLs in each state; `failed` is reserved by the contract."""

    total_pending: int
    total_fetching: int
    total_fetched: int
    total_dead: int
    total_failed: Literal[0]


class SubmittedBody(msgspec.Struct, frozen=True):
    """The id of a submitted URL; `queued` is true only for a new one."""

    message: Literal["URL submitted to frontier"]
    id: str
    queued: bool


class RetriedBody(msgspec.Struct, frozen=True):
    """The confirmation of a retry."""

    message: Literal["Frontier URL queued for retry"]


def url_body(row: StandingUrl) -> FrontierUrlBody:
    """Return a URL in the contract's format."""
    is_done = row.rest == "done"
    origin: Any = row.kind.partition(".")[2]
    return FrontierUrlBody(
        id=task_uuid(row.id, row.created_at),
        url=without_credentials(row.url),
        url_hash=url_hash(row.url).hex(),
        host=row.host,
        source_id=row.source,
        origin=origin,
        parent_url=row.parent_url,
        depth=row.depth,
        priority=to_contract_priority(row.priority),
        status=REST_WORDS[row.rest],
        next_fetch_at=rfc3339(row.next_at),
        last_fetched_at=optional_rfc3339(row.finished_at if is_done else row.fetched_at),
        fetch_count=int(is_done),
        content_hash=row.digest.partition(":")[2] if row.digest else None,
        etag=row.etag,
        last_modified=row.last_modified,
        retry_count=0 if is_done else _retries(row),
        last_error=None if is_done else _error(row),
        discovered_at=rfc3339(row.created_at),
        created_at=rfc3339(row.created_at),
        updated_at=rfc3339(row.updated_at),
    )


def _retries(row: StandingUrl) -> int:
    """Return the number of failures; the last attempt of a URL given up as hopeless does not count."""
    hopeless = row.rest == "given_up" and is_hopeless(row.reason or "", row.status)
    return row.attempt - 1 if hopeless else row.attempt


def _error(row: StandingUrl) -> str | None:
    """Return the reason of a URL's state in the contract's words."""
    if row.reason in (None, "", "restart"):
        return None
    if row.reason in ERROR_WORDS:
        return ERROR_WORDS[row.reason or ""]
    if row.reason in ("http_429", "http_5xx"):
        return f"http status {row.status}"
    if row.reason in ("http_4xx", "http_408", "http_425", "odd_status"):
        return {404: "not_found", 410: "gone"}.get(row.status or 0, f"unexpected http status {row.status}")
    return row.error or row.reason
