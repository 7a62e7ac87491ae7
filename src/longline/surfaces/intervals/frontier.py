"""`/api/v1/frontier`: URLs of the standing frontier: submit, list, retry and delete."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from litestar import Request, Response, delete, get, post
from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath, JSONBody
from litestar.types import Guard

from longline.model.errors import BadInput, NotFound
from longline.model.frontier.outcomes import is_hopeless
from longline.model.frontier.standing_frontier import StandingUrl, UrlQuery, url_hash
from longline.model.frontier.task import DEFAULT_PRIORITY
from longline.model.ids import task_uuid
from longline.model.url import without_credentials
from longline.services.standing_frontier import StandingFrontier
from longline.surfaces.http import answer
from longline.surfaces.intervals.asking import Key, Text, required
from longline.surfaces.intervals.paging import asked, page
from longline.surfaces.intervals.times import rfc3339

REST_WORDS = {"waiting": "pending", "held": "fetching", "done": "fetched", "given_up": "dead"}
SORTS: dict[str, Any] = {"priority": "urgency", "next_fetch_at": "due", "created_at": "created_at"}
USUAL, LEAST, MOST, STEP = 5, 1, 10, 10
ERROR_WORDS = {
    "robots": "robots_blocked",
    "content_type": "unsupported_content_type",
    "parser_error": "extract_failed",
    "too_many_redirects": "too_many_redirects",
    "redirect_loop": "too_many_redirects",
    "binary_url": "binary_url",
}
Ask = Request[Any, Any, Any]


class Submitted(msgspec.Struct, frozen=True):
    """A submitted URL; a priority of zero or less means the default."""

    url: Text
    source_id: Key
    origin: Text = "manual"
    priority: int = 0


def frontier_routes(frontier: StandingFrontier, guards: Sequence[Guard]) -> list[HTTPRouteHandler]:
    """Return the handlers."""

    @get("/api/v1/frontier", guards=guards, summary="URLs of the frontier")
    async def list_urls(request: Ask) -> Response[Any]:
        limit, offset = page(request)
        rows, total = await frontier.find(_query(request), limit, offset)
        return Response({"urls": [shown(row) for row in rows], "total": total})

    @get("/api/v1/frontier/stats", guards=guards, summary="How many URLs there are in each state")
    async def show_stats() -> Response[Any]:
        counts = await frontier.counts()
        words = {f"total_{word}": counts.get(rest, 0) for rest, word in REST_WORDS.items()}
        return Response(words | {"total_failed": 0})

    @get("/api/v1/frontier/{url_id:str}", guards=guards, summary="One URL of the frontier")
    async def show_url(url_id: FromPath[str]) -> Response[Any]:
        return Response(shown(await frontier.named(url_id)))

    @post(["/api/v1/frontier", "/api/v1/frontier/submit"], guards=guards, summary="Give a URL to the frontier")
    async def submit_url(data: JSONBody[Submitted | None] = None) -> Response[Any]:
        said = required(data)
        if not said.source_id.strip():
            raise BadInput("source_id is required")
        given = await frontier.submit(said.url, said.source_id, said.origin, inward(said.priority))
        uid = task_uuid(given.id, given.created_at)
        return Response({"message": "URL submitted to frontier", "id": uid, "queued": given.new}, status_code=201)

    @post("/api/v1/frontier/{url_id:str}/retry", guards=guards, status_code=200, summary="Try a dead URL again")
    async def retry_url(url_id: FromPath[str]) -> Response[Any]:
        try:
            await frontier.retry(url_id)
        except NotFound:
            return answer(404, "Frontier URL (or not dead) not found")
        return Response({"message": "Frontier URL queued for retry"}, status_code=200)

    @delete("/api/v1/frontier/{url_id:str}", guards=guards, summary="Take a URL out of the frontier")
    async def delete_url(url_id: FromPath[str]) -> None:
        await frontier.remove(url_id)

    return [list_urls, show_stats, show_url, submit_url, retry_url, delete_url]


def inward(priority: int) -> int:
    """Convert a contract priority (higher is sooner) to an internal one (lower is sooner)."""
    theirs = min(max(priority, LEAST), MOST) if priority > 0 else USUAL
    return DEFAULT_PRIORITY - (theirs - USUAL) * STEP


def outward(priority: int) -> int:
    """Convert an internal priority to a contract priority."""
    return min(max(USUAL + (DEFAULT_PRIORITY - priority) // STEP, LEAST), MOST)


def _query(request: Ask) -> UrlQuery:
    rests: dict[str, str] = {word: rest for rest, word in REST_WORDS.items()}
    status, origin = asked(request, "status"), asked(request, "origin")
    return UrlQuery(
        # An unknown status matches no URL, and so does `failed`, which no URL has.
        rest=rests.get(status, status) if status else None,
        source=asked(request, "source_id"),
        host=_lowered(asked(request, "host")),
        kind=_optional(origin, lambda found: f"frontier.{found}"),
        search=asked(request, "search"),
        sort=SORTS.get(asked(request, "sort_by") or "", "urgency"),
    )


def _lowered(text: str | None) -> str | None:
    return _optional(text, str.lower)


def _optional(text: str | None, made: Callable[[str], str]) -> str | None:
    return made(text) if text is not None else None


def shown(row: StandingUrl) -> dict[str, Any]:
    """Return a URL in the contract's format."""
    done = row.rest == "done"
    facts = {
        "id": task_uuid(row.id, row.created_at),
        "url": without_credentials(row.url),
        "url_hash": url_hash(row.url).hex(),
        "host": row.host,
        "source_id": row.source,
        "origin": row.kind.partition(".")[2],
        "parent_url": row.parent_url,
        "depth": row.depth,
        "priority": outward(row.priority),
        "status": REST_WORDS[row.rest],
        "next_fetch_at": rfc3339(row.next_at),
        "last_fetched_at": rfc3339(row.finished_at if done else row.fetched_at),
        "fetch_count": int(done),
        "content_hash": row.digest.partition(":")[2] if row.digest else None,
        "etag": row.etag,
        "last_modified": row.last_modified,
        "retry_count": 0 if done else _retries(row),
        "last_error": None if done else _error(row),
        "discovered_at": rfc3339(row.created_at),
        "created_at": rfc3339(row.created_at),
        "updated_at": rfc3339(row.updated_at),
    }
    return {name: fact for name, fact in facts.items() if fact is not None}


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
