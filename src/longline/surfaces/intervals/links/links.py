"""`/api/v1/discovered-links` and `-domains`: links from sources to other sites, for review by people."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args
from urllib.parse import urlsplit

import msgspec
from msgspec import Meta

from longline.model.discovery.link import DomainQuery, DomainStatus, LinkQuery
from longline.services.discovery.links import DiscoveredLinks
from longline.surfaces.intervals import examples
from longline.surfaces.intervals.errors import DOMAIN_NOT_FOUND, INVALID_STATUS, LINK_NOT_FOUND
from longline.surfaces.intervals.field_types import Key, Limit, PageQuery, Text
from longline.surfaces.intervals.jobs.job_responses import JobBody, job_body
from longline.surfaces.intervals.links.link_responses import (
    DomainBody,
    DomainLinkBody,
    DomainLinksBody,
    DomainListBody,
    DomainReviewedBody,
    DomainsReviewedBody,
    LinkBody,
    LinkDeletedBody,
    LinkListBody,
    LinkStatus,
    PathCluster,
    domain_body,
    link_facts,
)
from longline.surfaces.operation import operation

SortOrder = Annotated[Literal["asc", "desc"], Meta(description="Rising or falling.")]

LINK_SORTS: Mapping[str, Any] = {"priority": "urgency", "queued_at": "updated_at", "discovered_at": "discovered_at"}
DOMAIN_SORTS: Mapping[str, Any] = {
    "link_count": "links",
    "source_count": "source_count",
    "last_seen": "last_seen",
    "domain": "domain",
}
LINK_STATUSES: Mapping[str, bool] = {"pending": False, "processing": True}
DEFAULT_DOMAINS = 25
MAX_DOMAINS = 100

LinkId = Annotated[str, Meta(description="Id of a discovered link.")]
Domain = Annotated[Key, Meta(description="A domain: a host without a leading `www.`.")]
DomainName = Annotated[str, Meta(description="A domain: a host without a leading `www.`.")]
Decision = Annotated[DomainStatus, Meta(description="The decision; `active` domains are not reviewed yet.")]
Notes = Annotated[Text, Meta(description="Notes of the reviewer.")]


@dataclass(frozen=True, slots=True)
class DiscoveredServices:
    """The discovered links; `lease_ms` is the length of a run's lease, `now` returns UTC milliseconds."""

    discovered: DiscoveredLinks
    lease_ms: int
    now: Callable[[], int]


class LinkListQuery(PageQuery, frozen=True, kw_only=True):
    """The filter and the order of a list of links; an unknown status matches no link."""

    status: (
        Annotated[str, Meta(description="State.", extra_json_schema={"enum": list(get_args(LinkStatus))})] | None
    ) = None
    source_id: Annotated[str, Meta(description="Id of the source.")] | None = None
    source_name: Annotated[str, Meta(description="Name of the source.")] | None = None
    search: Annotated[str, Meta(description="Part of the URL, in any case.")] | None = None
    sort: Annotated[Literal["priority", "queued_at", "discovered_at"], Meta(description="Field of the order.")] = (
        "priority"
    )
    order: SortOrder = "desc"


class DomainPageQuery(PageQuery, frozen=True, kw_only=True):
    """One page of a list of a domain or of domains."""

    limit: Limit = DEFAULT_DOMAINS


class DomainListQuery(DomainPageQuery, frozen=True, kw_only=True):
    """The filter and the order of a list of domains; an unknown status matches no domain."""

    status: (
        Annotated[str, Meta(description="Decision.", extra_json_schema={"enum": list(get_args(DomainStatus))})] | None
    ) = None
    search: Annotated[str, Meta(description="Part of the domain, in any case.")] | None = None
    sort: Annotated[
        Literal["link_count", "source_count", "last_seen", "domain"], Meta(description="Field of the order.")
    ] = "link_count"
    order: SortOrder = "desc"


class LinkJobRequest(msgspec.Struct, frozen=True):
    """Options of the job that is made of a link; the source is that of the link unless given. The job runs once."""

    source_id: Annotated[Key, Meta(description="Id of the job's source.")] | None = None
    source_name: Annotated[Text, Meta(description="Name of the job's source.")] | None = None
    schedule_enabled: Annotated[bool, Meta(description="Ignored.")] | None = None
    schedule_time: Annotated[Text, Meta(description="Cron expression of older clients: stored, never used.")] | None = (
        None
    )


class DomainReview(msgspec.Struct, frozen=True):
    """A review decision on a domain."""

    status: Decision
    notes: Notes | None = None


class DomainsReview(msgspec.Struct, frozen=True):
    """A review decision on several domains."""

    domains: Annotated[
        list[Annotated[Domain, Meta(min_length=1)]],
        Meta(min_length=1, max_length=MAX_DOMAINS, description="The domains."),
    ]
    status: Decision
    notes: Notes | None = None


@operation("GET", "/api/v1/discovered-links", "List links to other sites", response_example=examples.LINK_LIST)
async def list_links(services: DiscoveredServices, query: LinkListQuery) -> LinkListBody:
    if query.status is not None and query.status not in LINK_STATUSES:
        return LinkListBody([], 0)
    wanted = LinkQuery(
        taken=None if query.status is None else LINK_STATUSES[query.status],
        source=query.source_id,
        source_name=query.source_name,
        search=query.search,
        sort=LINK_SORTS[query.sort],
        rising=query.order == "asc",
    )
    rows, total = await services.discovered.links(wanted, query.limit, query.offset)
    return LinkListBody([LinkBody(**link_facts(row)) for row in rows], total)


@operation(
    "GET",
    "/api/v1/discovered-links/{link_id}",
    "Return a link to another site",
    errors=(LINK_NOT_FOUND,),
    response_example=examples.LINK,
)
async def show_link(services: DiscoveredServices, link_id: LinkId) -> LinkBody:
    return LinkBody(**link_facts(await services.discovered.link(link_id)))


@operation(
    "DELETE",
    "/api/v1/discovered-links/{link_id}",
    "Delete a link to another site",
    errors=(LINK_NOT_FOUND,),
    response_example=examples.DELETED_LINK,
    action="link.delete",
)
async def delete_link(services: DiscoveredServices, link_id: LinkId) -> LinkDeletedBody:
    await services.discovered.forget(link_id)
    return LinkDeletedBody("Discovered link deleted successfully")


@operation(
    "POST",
    "/api/v1/discovered-links/{link_id}/create-job",
    "Make a job of a link",
    status=201,
    errors=(LINK_NOT_FOUND,),
    request_example=examples.LINK_JOB,
    response_example=examples.JOB,
    action="schedule.create",
)
async def create_job_of_link(services: DiscoveredServices, link_id: LinkId, body: LinkJobRequest | None) -> JobBody:
    options = body or LinkJobRequest()
    row = await services.discovered.promote(link_id, options.source_id, options.source_name, options.schedule_time)
    return job_body(row, services.lease_ms)


@operation(
    "GET", "/api/v1/discovered-domains", "List the domains that links lead to", response_example=examples.DOMAIN_LIST
)
async def list_domains(services: DiscoveredServices, query: DomainListQuery) -> DomainListBody:
    wanted = DomainQuery(
        status=query.status, search=query.search, sort=DOMAIN_SORTS[query.sort], rising=query.order == "asc"
    )
    rows, total = await services.discovered.domains(wanted, query.limit, query.offset)
    return DomainListBody([domain_body(row, services.now()) for row in rows], total)


@operation(
    "GET",
    "/api/v1/discovered-domains/{domain}",
    "Return a domain that links lead to",
    errors=(DOMAIN_NOT_FOUND,),
    response_example=examples.DOMAIN,
)
async def show_domain(services: DiscoveredServices, domain: DomainName) -> DomainBody:
    return domain_body(await services.discovered.domain(domain), services.now())


@operation(
    "GET",
    "/api/v1/discovered-domains/{domain}/links",
    "List the links to a domain",
    response_example=examples.DOMAIN_LINKS,
)
async def list_domain_links(
    services: DiscoveredServices, domain: DomainName, query: DomainPageQuery
) -> DomainLinksBody:
    wanted = LinkQuery(domain=domain, sort="discovered_at")
    rows, total = await services.discovered.links(wanted, query.limit, query.offset)
    links = [DomainLinkBody(**link_facts(row), path=urlsplit(row.url).path or "/") for row in rows]
    clusters = [PathCluster(pattern, count) for pattern, count in await services.discovered.clusters(domain)]
    return DomainLinksBody(links, clusters, total)


@operation(
    "PATCH",
    "/api/v1/discovered-domains/{domain}/state",
    "Record a review decision on a domain",
    errors=(INVALID_STATUS,),
    request_example=examples.DOMAIN_REVIEW,
    response_example=examples.REVIEWED_DOMAIN,
    action="domain.review",
)
async def review_domain(services: DiscoveredServices, domain: Domain, body: DomainReview) -> DomainReviewedBody:
    await services.discovered.judge([domain], body.status, body.notes)
    return DomainReviewedBody("Domain state updated", domain, body.status)


@operation(
    "POST",
    "/api/v1/discovered-domains/bulk-state",
    "Record a review decision on several domains",
    errors=(INVALID_STATUS,),
    request_example=examples.DOMAINS_REVIEW,
    response_example=examples.REVIEWED_DOMAINS,
    action="domain.review",
)
async def review_domains(services: DiscoveredServices, body: DomainsReview) -> DomainsReviewedBody:
    updated = await services.discovered.judge(body.domains, body.status, body.notes)
    return DomainsReviewedBody("Domain states updated", updated)


LINKS = (list_links, show_link, delete_link, create_job_of_link)
DOMAINS = (list_domains, show_domain, list_domain_links, review_domain, review_domains)
