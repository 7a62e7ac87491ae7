"""`POST /jobs`: the intake of manifests."""

import re
from dataclasses import dataclass
from typing import Annotated

import msgspec
from msgspec import Meta

from longline.model.manifests.manifest import SubmittedManifest
from longline.model.whole_number import whole_number
from longline.services.manifests.manifest_kinds import ManifestKind, ManifestKinds
from longline.services.manifests.submissions import Accepted, KeyReused, ManifestSubmissions, NotQueued
from longline.surfaces.manifests import errors
from longline.surfaces.manifests.access import MAX_TENANT_CHARS, ManifestAccess, ManifestSender, decoded_header
from longline.surfaces.manifests.errors import invalid, manifest_error
from longline.surfaces.manifests.examples import ACCEPTED, MANIFEST
from longline.surfaces.manifests.ingest.body_reader import read_body
from longline.surfaces.manifests.ingest.manifest_reader import ManifestReader, ReadManifest
from longline.surfaces.manifests.manifest_requests import ManifestBody
from longline.surfaces.manifests.metrics import ManifestMetrics
from longline.surfaces.manifests.responses import AcceptedBody, ObjectPlaces, accepted_body
from longline.surfaces.manifests.services import IngestLimits
from longline.surfaces.operation import NO_HEADERS, ApiError, ApiFailure, ApiResponse, operation
from longline.surfaces.streamed_body import StreamedBody

MAX_KEY_CHARS = 255
REPLAYED = {"X-Fetchbox-Idempotent-Replay": "true"}

_TRACE = re.compile(r"(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(-.*)?")
_JSON = "application/json"


@dataclass(frozen=True, slots=True)
class IngestServices:
    """The services behind the intake of manifests."""

    submissions: ManifestSubmissions
    kinds: ManifestKinds
    access: ManifestAccess
    limits: IngestLimits
    places: ObjectPlaces
    metrics: ManifestMetrics


class IngestHeaders(msgspec.Struct, frozen=True, kw_only=True):
    """The headers of a manifest."""

    job_type: Annotated[str | None, Meta(description="A configured job type; required.")] = msgspec.field(
        default=None, name="X-Fetchbox-Job-Type"
    )
    key: Annotated[str | None, Meta(description="A key of the client, of 1 to 255 characters.")] = msgspec.field(
        default=None, name="X-Fetchbox-Idempotency-Key"
    )
    tenant: Annotated[str | None, Meta(description="The tenant; it beats `attributes.tenant`.")] = msgspec.field(
        default=None, name="X-Fetchbox-Tenant"
    )
    traceparent: Annotated[str | None, Meta(description="The trace of the request, by W3C Trace Context.")] = None


@operation(
    "POST",
    "/jobs",
    "Take a manifest",
    access="sender",
    answers={202: AcceptedBody},
    errors=(errors.CONFLICT, errors.unsupported("gallery")),
    request_example=MANIFEST,
    response_example=ACCEPTED,
)
async def submit_manifest(
    services: IngestServices, headers: IngestHeaders, body: StreamedBody[ManifestBody], identity: ManifestSender
) -> ApiResponse[AcceptedBody]:
    """Answer when the manifest is stored and its files are queued; they are downloaded afterwards."""
    with services.metrics.ingesting() as told:
        document = await _document(services.limits, body)
        told.bytes = len(document)
        _check_content(headers, body)
        kind = kind_of(services.kinds, headers)
        accepted = await submit_manifest_document(services, kind, headers, document, identity)
    answer = accepted_body(accepted.receipt, services.places)
    return ApiResponse(answer, 202, REPLAYED if accepted.is_replay else NO_HEADERS)


async def submit_manifest_document(
    services: IngestServices, kind: ManifestKind, headers: IngestHeaders, document: bytes, sender: ManifestSender
) -> Accepted:
    """Submit a manifest whose body was read."""
    limits = services.limits
    read = ManifestReader(limits.max_resources, strict_urls=limits.strict_urls).read(document)
    manifest = _manifest(kind.name, headers, document, read, sender)
    await services.access.check_named_tenant(sender, manifest.tenant)
    try:
        return await services.submissions.submit(manifest, kind)
    except KeyReused as error:
        raise ApiFailure(manifest_error(409, "IDEMPOTENCY_CONFLICT", str(error), job_id=error.receipt.uid)) from error
    except NotQueued as error:
        raise ApiFailure(_failure(error)) from error


async def _document(limits: IngestLimits, body: StreamedBody[ManifestBody]) -> bytes:
    """Return the body; a size that is announced too large is refused at once, unless the body is compressed."""
    is_gzip = body.content_encoding.strip().lower() == "gzip"
    length = whole_number(body.content_length.lstrip("0"))
    if not is_gzip and length is not None and length > limits.max_bytes:
        raise ApiFailure(errors.TOO_LARGE)
    return await read_body(body.pieces, is_gzip=is_gzip, max_bytes=limits.max_bytes)


def _check_content(headers: IngestHeaders, body: StreamedBody[ManifestBody]) -> None:
    kind = body.content_type.partition(";")[0].strip().lower()
    if kind != _JSON:
        raise ApiFailure(invalid(f"Content-Type must be {_JSON}"))
    check_headers(headers, body.content_encoding)


def check_headers(headers: IngestHeaders, content_encoding: str) -> bool:
    """Raise `ApiFailure` for a wrong header; return whether the body is compressed."""
    encoding = content_encoding.strip().lower() or "identity"
    if encoding not in ("gzip", "identity"):
        raise ApiFailure(invalid("Content-Encoding must be gzip or identity"))
    if headers.key is not None and not 1 <= len(decoded_header(headers.key)) <= MAX_KEY_CHARS:
        raise ApiFailure(invalid(f"X-Fetchbox-Idempotency-Key must have 1 to {MAX_KEY_CHARS} characters"))
    if headers.tenant is not None and not 1 <= len(decoded_header(headers.tenant)) <= MAX_TENANT_CHARS:
        raise ApiFailure(invalid(f"X-Fetchbox-Tenant must have 1 to {MAX_TENANT_CHARS} characters"))
    return encoding == "gzip"


def kind_of(kinds: ManifestKinds, headers: IngestHeaders) -> ManifestKind:
    """Return the job type that a manifest names; raise `ApiFailure` for one that is not configured."""
    name = decoded_header(headers.job_type or "")
    if not name:
        raise ApiFailure(invalid("X-Fetchbox-Job-Type is required"))
    found = kinds.find(name)
    if found is None:
        raise ApiFailure(errors.unsupported(name))
    return found


def _manifest(
    kind: str, headers: IngestHeaders, document: bytes, read: ReadManifest, sender: ManifestSender
) -> SubmittedManifest:
    return SubmittedManifest(
        kind,
        sender.tenant or _named_tenant(read.attributes),
        read.resources,
        read.metadata,
        document,
        read.attributes,
        None if headers.key is None else decoded_header(headers.key),
        trace_id(headers.traceparent or ""),
    )


def _named_tenant(attributes: bytes) -> str:
    try:
        tenant = msgspec.json.decode(attributes, type=dict[str, msgspec.Raw]).get("tenant")
        found = msgspec.json.decode(tenant, type=str | int) if tenant is not None else ""
    except msgspec.MsgspecError as error:
        raise ApiFailure(invalid("attributes.tenant must be a string")) from error
    if len(str(found)) > MAX_TENANT_CHARS or "\0" in str(found):
        raise ApiFailure(invalid(f"attributes.tenant must have at most {MAX_TENANT_CHARS} characters"))
    return str(found)


def _failure(error: NotQueued) -> ApiError:
    if error.is_refusal:
        return manifest_error(400, "INVALID_PAYLOAD", str(error), job_id=error.uid)
    if error.is_passing:
        return errors.unavailable("the manifest could not be stored, try again later", error.uid)
    return errors.handler_failed(error.uid)


INGEST = (submit_manifest,)


def trace_id(traceparent: str) -> str:
    """Return the trace id of a header of W3C Trace Context, or an empty text; later versions may have more fields."""
    found = _TRACE.fullmatch(traceparent.strip().lower())
    return found[2] if found and (not found[3] or found[1] != "00") else ""
