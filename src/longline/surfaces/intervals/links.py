"""`/api/v1/discovered-links` and `-domains`: links from sources to other sites, for review by people."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import urlsplit

import msgspec
from litestar import Request, Response, delete, get, patch, post
from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath, JSONBody
from litestar.types import Guard

from longline.model.discovery.link import FIRST_DEPTH, DomainQuery, DomainRow, DomainStatus, LinkQuery, LinkRow
from longline.model.schedules.schedule import ScheduleRow
from longline.services.discovery.links import DiscoveredLinks
from longline.surfaces.intervals.asking import Key, Text, key, required
from longline.surfaces.intervals.frontier import outward
from longline.surfaces.intervals.jobs.job_bodies import JobBody
from longline.surfaces.intervals.paging import asked, page
from longline.surfaces.intervals.times import rfc3339

LINK_SORTS: dict[str, Any] = {"priority": "urgency", "queued_at": "updated_at", "discovered_at": "discovered_at"}
DOMAIN_SORTS: dict[str, Any] = {
    "link_count": "links",
    "source_count": "source_count",
    "last_seen": "last_seen",
    "domain": "domain",
}
LINK_WORDS = {"pending": False, "processing": True}
USUAL_DOMAINS = 25
Ask = Request[Any, Any, Any]


@dataclass(frozen=True, slots=True)
class DiscoveredParts:
    """Dependencies of these routes; `show` formats a schedule by the contract, `now` returns UTC milliseconds."""

    discovered: DiscoveredLinks
    show: Callable[[ScheduleRow], JobBody]
    now: Callable[[], int]


class Promoted(msgspec.Struct, frozen=True):
    """Options of the job that is made of a link. The job runs once; `schedule_enabled` is ignored."""

    source_id: Key | None = None
    source_name: Text | None = None
    schedule_enabled: bool | None = None
    schedule_time: Text | None = None


class Judged(msgspec.Struct, frozen=True):
    """A review decision on a domain."""

    status: DomainStatus
    notes: Text | None = None


class JudgedMany(msgspec.Struct, frozen=True):
    """A review decision on several domains."""

    domains: Annotated[list[Annotated[Key, msgspec.Meta(min_length=1)]], msgspec.Meta(min_length=1, max_length=100)]
    status: DomainStatus
    notes: Text | None = None


def discovered_routes(parts: DiscoveredParts, guards: Sequence[Guard]) -> list[HTTPRouteHandler]:
    """Return the handlers."""
    return [*_link_routes(parts, guards), *_domain_routes(parts, guards)]


def _link_routes(parts: DiscoveredParts, guards: Sequence[Guard]) -> list[HTTPRouteHandler]:
    discovered = parts.discovered

    @get("/api/v1/discovered-links", guards=guards, summary="Links that lead away from sources")
    async def list_links(request: Ask) -> Response[Any]:
        limit, offset = page(request)
        status = asked(request, "status")
        if status is not None and status not in LINK_WORDS:
            return Response({"links": [], "total": 0})
        rows, total = await discovered.links(_links_wanted(request, status), limit, offset)
        return Response({"links": [shown_link(row) for row in rows], "total": total})

    @get("/api/v1/discovered-links/{link_id:str}", guards=guards, summary="One link")
    async def show_link(link_id: FromPath[str]) -> Response[Any]:
        return Response(shown_link(await discovered.link(link_id)))

    @delete("/api/v1/discovered-links/{link_id:str}", guards=guards, status_code=200, summary="Forget a link")
    async def delete_link(link_id: FromPath[str]) -> Response[Any]:
        await discovered.forget(link_id)
        return Response({"message": "Discovered link deleted successfully"})

    @post("/api/v1/discovered-links/{link_id:str}/create-job", guards=guards, summary="Make a job of a link")
    async def create_job(link_id: FromPath[str], data: JSONBody[Promoted | None] = None) -> Response[Any]:
        said = data or Promoted()
        row = await discovered.promote(link_id, said.source_id, said.source_name, said.schedule_time)
        return Response(parts.show(row), status_code=201)

    return [list_links, show_link, delete_link, create_job]


def _domain_routes(parts: DiscoveredParts, guards: Sequence[Guard]) -> list[HTTPRouteHandler]:
    discovered = parts.discovered

    @get("/api/v1/discovered-domains", guards=guards, summary="Domains that links lead to")
    async def list_domains(request: Ask) -> Response[Any]:
        limit, offset = page(request, USUAL_DOMAINS)
        rows, total = await discovered.domains(_domains_wanted(request), limit, offset)
        return Response({"domains": [shown_domain(row, parts.now()) for row in rows], "total": total})

    @get("/api/v1/discovered-domains/{domain:str}", guards=guards, summary="One domain")
    async def show_domain(domain: FromPath[str]) -> Response[Any]:
        return Response(shown_domain(await discovered.domain(domain), parts.now()))

    @get("/api/v1/discovered-domains/{domain:str}/links", guards=guards, summary="Links that lead to a domain")
    async def list_domain_links(request: Ask, domain: FromPath[str]) -> Response[Any]:
        limit, offset = page(request, USUAL_DOMAINS)
        rows, total = await discovered.links(LinkQuery(domain=domain, sort="discovered_at"), limit, offset)
        links = [shown_link(row) | {"path": urlsplit(row.url).path or "/"} for row in rows]
        found = [{"pattern": pattern, "count": count} for pattern, count in await discovered.clusters(domain)]
        return Response({"links": links, "path_clusters": found, "total": total})

    @patch("/api/v1/discovered-domains/{domain:str}/state", guards=guards, summary="Say what is thought of a domain")
    async def judge_domain(domain: FromPath[str], data: JSONBody[Judged | None] = None) -> Response[Any]:
        key({"domain": domain}, "domain")
        said = required(data)
        await discovered.judge([domain], said.status, said.notes)
        return Response({"message": "Domain state updated", "domain": domain, "status": said.status})

    @post("/api/v1/discovered-domains/bulk-state", guards=guards, status_code=200, summary="The same of many domains")
    async def judge_domains(data: JSONBody[JudgedMany | None] = None) -> Response[Any]:
        said = required(data)
        updated = await discovered.judge(said.domains, said.status, said.notes)
        return Response({"message": "Domain states updated", "updated": updated}, status_code=200)

    return [list_domains, show_domain, list_domain_links, judge_domain, judge_domains]


def _links_wanted(request: Ask, status: str | None) -> LinkQuery:
    return LinkQuery(
        taken=LINK_WORDS[status] if status else None,
        source=asked(request, "source_id"),
        source_name=asked(request, "source_name"),
        search=asked(request, "search"),
        sort=LINK_SORTS.get(asked(request, "sort") or "", "urgency"),
        rising=asked(request, "order") == "asc",
    )


def _domains_wanted(request: Ask) -> DomainQuery:
    return DomainQuery(
        status=asked(request, "status"),
        search=asked(request, "search"),
        sort=DOMAIN_SORTS.get(asked(request, "sort") or "", "links"),
        rising=asked(request, "order") == "asc",
    )


def shown_link(row: LinkRow) -> dict[str, Any]:
    """Return a link in the contract's format."""
    facts = {
        "id": row.uid,
        "source_id": row.source,
        "source_name": row.source_name,
        "url": row.url,
        "parent_url": row.parent_url,
        "depth": row.depth + FIRST_DEPTH,
        "domain": row.domain,
        "http_status": row.status,
        "content_type": row.content_type,
        "discovered_at": rfc3339(row.discovered_at),
        "queued_at": rfc3339(row.updated_at),
        "status": "processing" if row.taken else "pending",
        "priority": outward(row.priority),
        "created_at": rfc3339(row.discovered_at),
        "updated_at": rfc3339(row.updated_at),
    }
    return {name: fact for name, fact in facts.items() if fact is not None}


def shown_domain(row: DomainRow, now: int) -> dict[str, Any]:
    """Return a domain in the contract's format."""
    facts = {
        "domain": row.domain,
        "status": row.status,
        "link_count": row.links,
        "source_count": row.source_count,
        "avg_depth": round(row.depth + FIRST_DEPTH, 2),
        "first_seen": rfc3339(row.first_seen),
        "last_seen": rfc3339(row.last_seen),
        "ok_ratio": row.ok,
        "html_ratio": row.html,
        "notes": row.notes,
        "quality_score": row.quality(now),
        "referring_sources": list(row.sources),
        "is_existing_source": row.is_source,
    }
    return {name: fact for name, fact in facts.items() if fact is not None}
