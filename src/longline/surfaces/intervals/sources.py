"""`/api/v1/sources` in source-manager's format, and jobs for all enabled sources."""

from typing import Any

import msgspec
from litestar import Response, delete, get, patch, post, put
from litestar.di import NamedDependency
from litestar.params import FromPath

from longline.model.duration import parse_duration
from longline.model.errors import BadInput, NotFound, Unavailable
from longline.model.patterns import check_patterns
from longline.model.sources.source import NewSource, SourceQuery, SourceRow
from longline.model.url import BadUrl, parse, without_credentials
from longline.surfaces.intervals.asking import Asked, absolute, body, key, present, switch, typed
from longline.surfaces.intervals.paging import page
from longline.surfaces.intervals.services import IntervalServices
from longline.surfaces.intervals.times import rfc3339

Body = dict[str, Any]

KEPT: dict[str, tuple[type, Any]] = {
    "max_depth": (int, 0),
    "selectors": (dict, {}),
    "article_url_patterns": (list, []),
    "rules": (dict, {}),
    "sitemap_url": (str, None),
    "ingestion_mode": (str, "feed"),
    "render_mode": (str, "static"),
    "template_hint": (str, None),
    "extraction_profile": (dict, None),
    "allow_source_discovery": (bool, False),
    "type": (str, "news"),
    "indigenous_region": (str, None),
    "time": (list, []),
    "priority": (str, "normal"),
}
"""Crawl settings of a source: type and default. The rate limit, a text or a number, is read separately."""

PATTERNS = "article_url_patterns"
MINUTE_MS = 60_000

WORDS = {"ingestion_mode": ("feed", "spider", "both"), "render_mode": ("static", "dynamic")}
MOST = 500


def source(row: SourceRow) -> Body:
    """Return a source in the contract's format."""
    said: dict[str, Any] = msgspec.json.decode(row.crawl)
    kept = {name: said.get(name, default) for name, (_, default) in KEPT.items()}
    if kept["sitemap_url"]:
        kept["sitemap_url"] = without_credentials(kept["sitemap_url"])
    return present(
        {
            "id": row.called,
            "name": row.name,
            "url": without_credentials(row.base_url),
            "rate_limit": str(said.get("rate_limit", "")),
            **kept,
            "enabled": row.enabled,
            "disabled_at": rfc3339(row.disabled_at),
            "disable_reason": row.disable_reason,
            "feed_url": row.feed_url and without_credentials(row.feed_url),
            "feed_poll_interval_minutes": row.feed_every_ms // MINUTE_MS,
            "feed_disabled_at": rfc3339(row.feed_disabled_at),
            "feed_disable_reason": row.feed_disable_reason,
            "identity_key": row.identity_key,
            "budget": row.budget,
            "admitted": None if row.budget is None else row.admitted,
            "created_at": rfc3339(row.created_at),
            "updated_at": rfc3339(row.updated_at),
        }
    )


def read_crawl(found: Body, before: str = "{}") -> str:
    """Return the crawl settings of a source as JSON: the earlier ones, updated with the sent ones."""
    said: dict[str, Any] = msgspec.json.decode(before)
    for name, (kind, _) in KEPT.items():
        value = typed(found, name, kind)
        if value is not None and name in WORDS and value not in WORDS[name]:
            raise BadInput(f"{name} must be one of {', '.join(WORDS[name])}")
        if name == "sitemap_url" and value and without_credentials(value) != value:
            raise BadUrl("credentials", value, "it has a user name or a password in it")
        if name in found:
            said[name] = value
    _check_patterns(found)
    rate = found.get("rate_limit")
    if rate is not None:
        if isinstance(rate, bool) or not isinstance(rate, int | float | str):
            raise BadInput("rate_limit must be a number or a string")
        said["rate_limit"] = read_rate(str(rate).strip())
    return msgspec.json.encode(said).decode()


def _check_patterns(found: Body) -> None:
    """Raise `BadInput` for a regular expression that cannot be compiled."""
    rules = found.get("rules") or {}
    lists = {f"rules.{name}": rules.get(name) for name in ("allow", "disallow")}
    for name, texts in {**lists, PATTERNS: found.get(PATTERNS)}.items():
        if texts is not None:
            check_patterns(name, texts)


def read_rate(text: str) -> str:
    """Return a rate limit as stored, empty for the default; raise `BadInput` for text that is no duration."""
    try:
        if text:
            parse_duration(text)
    except ValueError:
        raise BadInput(f"rate_limit must be a duration such as 10s, or a number of seconds, not {text!r}") from None
    return text


def read_feed(found: Body) -> Body:
    """Return the sent feed settings of a source; raise `BadInput` for invalid ones."""
    told: Body = {}
    if "feed_url" in found:
        told["feed_url"] = parse(where).href if (where := typed(found, "feed_url", str)) else None
    if (mode := found.get("ingestion_mode")) is not None:
        told["feed_wanted"] = mode != "spider"
    if (minutes := typed(found, "feed_poll_interval_minutes", int)) is not None:
        if minutes <= 0:
            raise BadInput("feed_poll_interval_minutes must be positive")
        told["feed_every_ms"] = minutes * MINUTE_MS
    return told


def read_source(found: Body) -> NewSource:
    """Return a source to register; raise `BadInput` for invalid input."""
    name, url = key(found, "name"), typed(found, "url", str)
    if not name or not url:
        raise BadInput("name and url are required")
    url = absolute(url)
    on = typed(found, "enabled", bool)
    identity = key(found, "identity_key")
    return NewSource(
        name, url, crawl=read_crawl(found), enabled=on is not False, identity_key=identity, **read_feed(found)
    )


def amend_source(row: SourceRow, found: Body) -> SourceRow:
    """Return a source with the sent changes; raise `BadInput` for invalid ones."""
    url = absolute(typed(found, "url", str) or row.base_url)
    on = typed(found, "enabled", bool)
    told: dict[str, Any] = {"name": key(found, "name") or row.name, "base_url": url}
    if "identity_key" in found:
        told["identity_key"] = key(found, "identity_key")
    if on is not None and on != row.enabled:
        told |= {"enabled": on, "disabled_at": None, "disable_reason": None}
    return msgspec.structs.replace(row, crawl=read_crawl(found, row.crawl), **told, **read_feed(found))


@get("/api/v1/sources", summary="Sources", public=True)
async def list_sources(request: Asked, desk: NamedDependency[IntervalServices]) -> Body:
    limit, offset = page(request, 100, MOST)
    asked = request.query_params
    wanted = asked.get("page", "")
    if wanted.isdecimal() and 0 < int(wanted) < 10**9:
        offset = (int(wanted) - 1) * limit
    on, feed = switch(asked.get("enabled")), switch(asked.get("feed_active"))
    falling = asked.get("sort_order", "").lower() == "desc"
    query = SourceQuery(asked.get("search") or None, on, feed, asked.get("sort_by", "name"), falling)
    rows, total = await desk.sources.find(query, limit, offset)
    told = {"page": offset // limit + 1, "per_page": limit, "total_pages": -(-total // limit)}
    return {"sources": [source(row) for row in rows], "total": total, **told}


@get("/api/v1/sources/by-identity", summary="The source with an identity")
async def identified_source(request: Asked, desk: NamedDependency[IntervalServices]) -> Body:
    return source(await desk.sources.identified(request.query_params.get("identity_key", "")))


@post("/api/v1/sources", summary="Register a source")
async def make_source(request: Asked, desk: NamedDependency[IntervalServices]) -> Body:
    return source(await desk.sources.make(read_source(await body(request))))


@get("/api/v1/sources/{source_id:str}", summary="One source")
async def show_source(source_id: FromPath[str], desk: NamedDependency[IntervalServices]) -> Body:
    return source(await desk.sources.called(source_id))


@put("/api/v1/sources/{source_id:str}", summary="Change a source")
async def change_source(source_id: FromPath[str], request: Asked, desk: NamedDependency[IntervalServices]) -> Body:
    found = await body(request)
    was = await desk.sources.get(await desk.sources.ours(source_id))
    row = await desk.sources.change(was.id, lambda row: amend_source(row, found))
    await desk.sync.changed(source_id, switched=row.enabled != was.enabled)
    return source(row)


@delete("/api/v1/sources/{source_id:str}", status_code=204, summary="Forget a source and its recurring job")
async def delete_source(source_id: FromPath[str], desk: NamedDependency[IntervalServices]) -> None:
    await desk.sources.remove(await desk.sources.ours(source_id))
    await desk.schedules.forget(source_id)


@patch("/api/v1/sources/{source_id:str}/{change:str}", summary="Switch a source, or its feed, on or off")
async def switch_source(
    source_id: FromPath[str], change: FromPath[str], request: Asked, desk: NamedDependency[IntervalServices]
) -> Body:
    noun, _, way = change.rpartition("-")
    if noun not in ("", "feed") or way not in ("enable", "disable"):
        raise NotFound("change", change)
    found = await body(request, optional=True)
    switch = desk.sources.switch_feed if noun else desk.sources.switch
    row = await switch(await desk.sources.ours(source_id), way == "enable", typed(found, "reason", str))
    if not noun:
        await (desk.sync.enabled if row.enabled else desk.sync.disabled)(row.called)
    return source(row)


@put("/api/v1/sources/{source_id:str}/budget", summary="Bound how many URLs all runs of a source may admit")
async def limit_source(source_id: FromPath[str], request: Asked, desk: NamedDependency[IntervalServices]) -> Body:
    found = await body(request)
    if "budget" not in found:
        raise BadInput("budget is required; null lifts it")
    row = await desk.sources.called(source_id)
    return source(await desk.sources.limit(row.id, typed(found, "budget", int)))


@post("/api/v1/admin/sync-enabled-sources", status_code=200, summary="Give every enabled source its job")
async def sync_sources(desk: NamedDependency[IntervalServices]) -> Response[Body]:
    try:
        done = await desk.sync.run()
    except Unavailable:
        return Response({"error": "failed to list sources"}, status_code=502)
    told: Body = {
        "sources_seen": done.seen,
        "sources_enabled": done.enabled,
        "created": done.created,
        "already_has_job": done.kept,
        "resumed": done.resumed,
        "skipped_disabled": done.disabled,
        "skipped_rate_limit_parse_failure": [],
    }
    return Response(told | ({"errors": done.errors} if done.errors else {}))


SOURCES = (
    *(list_sources, identified_source, make_source, show_source, change_source, delete_source),
    *(switch_source, limit_source),
)
ADMIN = (sync_sources,)
