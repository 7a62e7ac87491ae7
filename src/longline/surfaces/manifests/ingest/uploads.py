"""`/jobs/uploads`: manifests in parts, for those that are too large for one request."""

from dataclasses import dataclass
from typing import Annotated

import msgspec
from msgspec import Meta

from longline.services.manifests.submissions import Accepted
from longline.services.manifests.uploads import PART_BYTES, ManifestUploads, StoredPart
from longline.surfaces.manifests import errors
from longline.surfaces.manifests.access import ManifestSender
from longline.surfaces.manifests.examples import ACCEPTED
from longline.surfaces.manifests.ingest.body_reader import read_body
from longline.surfaces.manifests.ingest.ingest import (
    REPLAYED,
    IngestHeaders,
    IngestServices,
    check_headers,
    kind_of,
    submit_manifest_document,
)
from longline.surfaces.manifests.responses import AcceptedBody, Timestamp, accepted_body, rfc3339
from longline.surfaces.operation import NO_HEADERS, ApiResponse, operation
from longline.surfaces.streamed_body import RawBytes, StreamedBody

UploadId = Annotated[str, Meta(description="The id of the upload.")]
PartNumber = Annotated[int, Meta(description="The number of the part, from 1.")]


@dataclass(frozen=True, slots=True)
class UploadServices:
    """The uploads, and the intake of their manifests."""

    uploads: ManifestUploads
    ingest: IngestServices


class UploadHeaders(msgspec.Struct, frozen=True, kw_only=True):
    """The headers of the completion: those of a manifest, and its encoding."""

    job_type: Annotated[str | None, Meta(description="A configured job type; required.")] = msgspec.field(
        default=None, name="X-Fetchbox-Job-Type"
    )
    key: Annotated[str | None, Meta(description="A key of the client; the id of the upload, if none is sent.")] = (
        msgspec.field(default=None, name="X-Fetchbox-Idempotency-Key")
    )
    tenant: Annotated[str | None, Meta(description="The tenant; it beats `attributes.tenant`.")] = msgspec.field(
        default=None, name="X-Fetchbox-Tenant"
    )
    traceparent: Annotated[str | None, Meta(description="The trace of the request, by W3C Trace Context.")] = None
    content_encoding: Annotated[str | None, Meta(description="`gzip` for parts of a compressed manifest.")] = (
        msgspec.field(default=None, name="Content-Encoding")
    )


class UploadBody(msgspec.Struct, frozen=True):
    """A new upload: parts have numbers from 1 to `max_parts` and at most `part_bytes` bytes."""

    upload_id: str
    part_bytes: int
    max_parts: int
    max_bytes: int
    expires_at: Timestamp


class PartBody(msgspec.Struct, frozen=True):
    """A stored part."""

    number: int
    bytes: int
    sha256: str


_UPLOAD = UploadBody("01890a5d-ac96-774b-bcce-b302099a8057", PART_BYTES, 10, 52_428_800, "2024-05-02T10:00:00.000Z")


@operation(
    "POST",
    "/jobs/uploads",
    "Begin the upload of a large manifest",
    access="sender",
    answers={201: UploadBody},
    response_example=_UPLOAD,
)
async def begin_upload(services: UploadServices, identity: ManifestSender) -> UploadBody:
    """Begin an upload; its parts follow, in any order, within a day."""
    uploads = services.uploads
    upload_id = await uploads.begin(identity.tenant)
    return UploadBody(
        upload_id, PART_BYTES, uploads.max_parts, uploads.max_bytes, rfc3339(uploads.expires_at(upload_id))
    )


@operation(
    "PUT",
    "/jobs/uploads/{upload_id}/parts/{number}",
    "Store a part of a large manifest",
    access="sender",
    errors=(errors.UPLOAD_NOT_FOUND,),
    response_example=PartBody(1, 5_242_880, "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"),
)
async def put_part(
    services: UploadServices,
    upload_id: UploadId,
    number: PartNumber,
    body: StreamedBody[RawBytes],
    identity: ManifestSender,
) -> PartBody:
    """Store the bytes of the body as a part; a part that is sent again replaces the former one."""
    await services.uploads.find(upload_id, identity.tenant)
    data = await read_body(body.pieces, is_gzip=False, max_bytes=PART_BYTES)
    stored: StoredPart = await services.uploads.put(upload_id, identity.tenant, number, data)
    return PartBody(stored.number, stored.bytes, stored.sha256)


@operation(
    "POST",
    "/jobs/uploads/{upload_id}/complete",
    "Take an uploaded manifest",
    access="sender",
    answers={202: AcceptedBody},
    errors=(errors.UPLOAD_NOT_FOUND, errors.TOO_LARGE, errors.CONFLICT, errors.unsupported("gallery")),
    response_example=ACCEPTED,
)
async def complete_upload(
    services: UploadServices, upload_id: UploadId, headers: UploadHeaders, identity: ManifestSender
) -> ApiResponse[AcceptedBody]:
    """Join the parts, and answer as to a manifest in one request; a completion that is sent again gets the answer."""
    places = services.ingest.places
    note = await services.uploads.find(upload_id, identity.tenant)
    if note.receipt is not None:
        return ApiResponse(accepted_body(note.receipt, places), 202, REPLAYED)
    accepted = await _submit(services, upload_id, headers, identity)
    await services.uploads.complete(upload_id, identity.tenant, accepted.receipt)
    return ApiResponse(accepted_body(accepted.receipt, places), 202, REPLAYED if accepted.is_replay else NO_HEADERS)


async def _submit(services: UploadServices, upload_id: str, headers: UploadHeaders, sender: ManifestSender) -> Accepted:
    """Submit the manifest of an upload; without a key of the sender, the upload itself is one."""
    uploads, ingest = services.uploads, services.ingest
    key = headers.key if headers.key is not None else f"upload {upload_id}"
    told = IngestHeaders(job_type=headers.job_type, key=key, tenant=headers.tenant, traceparent=headers.traceparent)
    with ingest.metrics.ingesting() as facts:
        is_gzip = check_headers(told, headers.content_encoding or "")
        kind = kind_of(ingest.kinds, told)
        document = await read_body(
            uploads.parts(upload_id), is_gzip=is_gzip, max_bytes=uploads.max_bytes, max_sent=uploads.max_bytes
        )
        facts.bytes = len(document)
        return await submit_manifest_document(ingest, kind, told, document, sender)


@operation(
    "DELETE",
    "/jobs/uploads/{upload_id}",
    "Abort an upload",
    access="sender",
    answers={204: None},
    errors=(errors.UPLOAD_NOT_FOUND,),
)
async def abort_upload(services: UploadServices, upload_id: UploadId, identity: ManifestSender) -> None:
    await services.uploads.abort(upload_id, identity.tenant)


UPLOADS = (begin_upload, put_part, complete_upload, abort_upload)
