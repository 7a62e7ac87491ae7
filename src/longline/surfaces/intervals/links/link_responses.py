"""Responses about discovered links and domains, and their making from rows."""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from longline.model.discovery.link import FIRST_DEPTH, DomainRow, DomainStatus, LinkRow
from longline.surfaces.intervals.field_types import Timestamp, rfc3339
from longline.surfaces.intervals.priorities import Priority, to_contract_priority

LinkStatus = Literal["pending", "processing"]


class LinkBody(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A link to another site; fields without a value are left out."""

    id: str
    source_id: str
    source_name: str
    url: str
    parent_url: str | None = None
    depth: Annotated[int, Meta(description="The start page of a crawl has depth 1.")]
    domain: str
    http_status: int | None = None
    content_type: str | None = None
    discovered_at: Timestamp
    queued_at: Timestamp
    status: LinkStatus
    priority: Priority
    created_at: Timestamp
    updated_at: Timestamp


class DomainLinkBody(LinkBody, frozen=True, kw_only=True, omit_defaults=True):
    """A link to a domain, with the path of its URL."""

    path: str


class LinkListBody(msgspec.Struct, frozen=True):
    """One page of links."""

    links: list[LinkBody]
    total: int


class PathCluster(msgspec.Struct, frozen=True):
    """The number of links below one first path segment."""

    pattern: str
    count: int


class DomainLinksBody(msgspec.Struct, frozen=True):
    """One page of the links to a domain, and its most frequent paths."""

    links: list[DomainLinkBody]
    path_clusters: list[PathCluster]
    total: int


class DomainBody(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A domain with the figures of its links. `referring_sources` are the sources of the links."""

    domain: str
    status: DomainStatus
    link_count: int
    source_count: int
    avg_depth: float
    first_seen: Timestamp
    last_seen: Timestamp
    ok_ratio: Annotated[float, Meta(ge=0, le=1)]
    html_ratio: Annotated[float, Meta(ge=0, le=1)]
    notes: str | None = None
    quality_score: Annotated[int, Meta(ge=0, le=100)]
    referring_sources: list[str]
    is_existing_source: bool


class DomainListBody(msgspec.Struct, frozen=True):
    """One page of domains."""

    domains: list[DomainBody]
    total: int


class LinkDeletedBody(msgspec.Struct, frozen=True):
    """The confirmation of a deletion."""

    message: Literal["Discovered link deleted successfully"]


class DomainReviewedBody(msgspec.Struct, frozen=True):
    """The confirmation of a review decision."""

    message: Literal["Domain state updated"]
    domain: str
    status: DomainStatus


class DomainsReviewedBody(msgspec.Struct, frozen=True):
    """The confirmation of a review decision; `updated` is the number of domains."""

    message: Literal["Domain states updated"]
    updated: int


def link_facts(row: LinkRow) -> dict[str, Any]:
    """Return the fields of a link in the contract's format."""
    return {
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
        "priority": to_contract_priority(row.priority),
        "created_at": rfc3339(row.discovered_at),
        "updated_at": rfc3339(row.updated_at),
    }


def domain_body(row: DomainRow, now: int) -> DomainBody:
    """Return a domain in the contract's format."""
    return DomainBody(
        domain=row.domain,
        status=row.status,
        link_count=row.links,
        source_count=row.source_count,
        avg_depth=round(row.depth + FIRST_DEPTH, 2),
        first_seen=rfc3339(row.first_seen),
        last_seen=rfc3339(row.last_seen),
        ok_ratio=row.ok,
        html_ratio=row.html,
        notes=row.notes,
        quality_score=row.quality(now),
        referring_sources=list(row.sources),
        is_existing_source=row.is_source,
    )
