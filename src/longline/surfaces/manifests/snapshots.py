"""`/operators/jobs`: the states of jobs, for operators."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated

import msgspec
from msgspec import Meta

from longline.model.manifests.manifest import ManifestFilter
from longline.services.manifests.snapshots import ManifestSnapshots
from longline.surfaces.manifests import errors
from longline.surfaces.manifests.errors import invalid
from longline.surfaces.manifests.examples import SNAPSHOT
from longline.surfaces.manifests.manifest_statuses import STATUS_STATES, ManifestStatus
from longline.surfaces.manifests.responses import (
    JobId,
    ObjectPlaces,
    SnapshotBody,
    SnapshotList,
    snapshot_body,
    status_of,
)
from longline.surfaces.operation import ApiFailure, operation

DEFAULT_LIMIT, MAX_LIMIT = 100, 1000


@dataclass(frozen=True, slots=True)
class SnapshotServices:
    """The snapshots of jobs, and the place of their objects."""

    snapshots: ManifestSnapshots
    places: ObjectPlaces


class SnapshotQuery(msgspec.Struct, frozen=True, kw_only=True):
    """The choice of jobs."""

    status: Annotated[ManifestStatus | None, Meta(description="The status of the jobs.")] = None
    job_type: Annotated[str | None, Meta(description="The type of the jobs.")] = None
    tenant: Annotated[str | None, Meta(description="The tenant of the jobs.")] = None
    since: Annotated[str | None, Meta(description="The earliest creation, by RFC 3339 or in milliseconds.")] = None
    limit: Annotated[int, Meta(ge=1, le=MAX_LIMIT, description="Length of the page.")] = DEFAULT_LIMIT
    cursor: Annotated[str, Meta(pattern=r"^[0-9]{1,18}\Z", description="`next_cursor` of a page.")] | None = None


@operation(
    "GET",
    "/operators/jobs/{job_id}",
    "Show a job",
    access="operator",
    errors=(errors.NOT_FOUND,),
    response_example=SNAPSHOT,
)
async def show_manifest(services: SnapshotServices, job_id: JobId) -> SnapshotBody:
    return snapshot_body(await services.snapshots.get(job_id), services.places)


@operation(
    "GET",
    "/operators/jobs",
    "List jobs",
    access="operator",
    response_example=SnapshotList([SNAPSHOT]),
)
async def list_manifests(services: SnapshotServices, query: SnapshotQuery) -> SnapshotList:
    """List jobs, newest first."""
    status = query.status
    states = STATUS_STATES[status] if status else ()
    since = None if query.since is None else read_time("since", query.since)
    wanted = ManifestFilter(states, status == "in_progress", query.job_type, query.tenant, since)
    before = None if query.cursor is None else int(query.cursor)
    fits = (lambda one: status_of(one) == status) if status else None
    found, last = await services.snapshots.page(wanted, before, query.limit, fits)
    jobs = [snapshot_body(one, services.places) for one in found]
    return SnapshotList(jobs, None if last is None else str(last))


def read_time(name: str, text: str) -> int:
    """Return a time of a query in milliseconds; raise `ApiFailure` for any other text."""
    if text.isdecimal() and len(text) < 16:
        return int(text)
    try:
        found = datetime.fromisoformat(text.replace(" ", "+"))
        return round((found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp() * 1000)
    except (ValueError, OverflowError) as error:
        raise ApiFailure(invalid(f"{name} must be a time by RFC 3339, or in milliseconds")) from error


SNAPSHOTS = (show_manifest, list_manifests)
