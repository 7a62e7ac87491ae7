"""Records of the contract's streams: written for readers outside, and read from direct producers."""

from collections.abc import Iterator
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from longline.model.downloads.dead_letter import DeadLetter
from longline.model.downloads.download import DownloadRow
from longline.model.errors import BadInput
from longline.model.fetch.credentials import header_problem
from longline.model.logs.run_log import LogEntry
from longline.model.manifests.manifest import ManifestSnapshot, ProxyHint
from longline.model.object_keys import safe_segment
from longline.services.manifests.direct_tasks import DirectTask
from longline.surfaces.manifests.failure_codes import error_code
from longline.surfaces.manifests.ingest.manifest_reader import MAX_ID_CHARS
from longline.surfaces.manifests.responses import ObjectPlaces, log_envelope, status_of

ORIGIN = "api"
"""Origin in the tasks that are copies of the platform's own; the consumer of direct tasks leaves them alone."""

MAX_RUN_ID_CHARS = 255

MAX_TOTAL = 2**31 - 1
"""Largest number of tasks that a job can announce."""


class HeaderRecord(msgspec.Struct, frozen=True):
    """A header of a task."""

    name: str
    value: str


class StorageHint(msgspec.Struct, frozen=True):
    """The place of a file."""

    bucket: str | None = None
    key_prefix: str | None = None
    key: str | None = None
    metadata: dict[str, str] = {}


class TaskAttributes(msgspec.Struct, frozen=True):
    """Tags and hints of a task."""

    tags: dict[str, str] = {}
    checksum_hint: str | None = None
    mime_hint: str | None = None
    extra: dict[str, Any] | None = None


class TaskRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A download task as it stands in the stream. `resources_total` announces the number of all tasks of its job."""

    job_id: str
    job_type: str
    resource_id: str
    url: str
    headers: list[HeaderRecord] = []
    proxy_hint: ProxyHint | None = None
    storage_hint: StorageHint | None = None
    attributes: TaskAttributes | None = None
    manifest_key: str | None = None
    attempt: int = 0
    tenant: str | None = None
    trace_id: str | None = None
    resources_total: Annotated[int, Meta(ge=1, le=MAX_TOTAL)] | None = None
    origin: str | None = None


class StreamRecords:
    """The writer of records."""

    def __init__(self, places: ObjectPlaces) -> None:
        self._places = places

    def task(self, found: ManifestSnapshot, download: DownloadRow) -> bytes:
        """Return the record of a queued task."""
        return msgspec.json.encode(msgspec.structs.replace(self._task(found, download), origin=ORIGIN))

    def status(self, found: ManifestSnapshot, at: int) -> bytes:
        """Return the record of a job's state."""
        code = None if found.error_code is None else error_code(found.error_code, found.error_status)
        return msgspec.json.encode(
            {
                "job_id": found.uid,
                "job_type": found.kind,
                "state": status_of(found),
                "resources_total": found.expected,
                "resources_completed": found.completed,
                "resources_failed": found.given_up,
                "manifest_key": self._places.reference(found.metadata_key),
                "tenant": found.tenant or None,
                "last_error_code": code,
                "last_error_message": found.error_message,
                "log_offset": 0,
                "timestamp_ms": at,
            }
        )

    def log(self, found: ManifestSnapshot, entry: LogEntry) -> bytes:
        """Return the record of a line of a job's log."""
        return msgspec.json.encode(log_envelope(entry, found.uid))

    def dead_letter(self, found: ManifestSnapshot, download: DownloadRow, letter: DeadLetter) -> bytes:
        """Return the record of a task that was given up."""
        return msgspec.json.encode(
            {
                "offset": letter.number,
                "task": msgspec.structs.replace(self._task(found, download), attempt=letter.attempts),
                "failure_code": error_code(letter.reason, letter.status),
                "failure_message": letter.error or letter.reason,
                "attempts": letter.attempts,
                "failed_at_ms": letter.failed_at,
            }
        )

    def _task(self, found: ManifestSnapshot, download: DownloadRow) -> TaskRecord:
        """Return a task; its headers may be secret and are left out."""
        tags = msgspec.json.decode(download.tags, type=dict[str, str])
        labels = msgspec.json.decode(download.labels, type=dict[str, str])
        return TaskRecord(
            job_id=found.uid,
            job_type=found.kind,
            resource_id=download.resource_id,
            url=download.given_url,
            proxy_hint=_hint(download),
            storage_hint=StorageHint(download.bucket, None, download.key, labels),
            attributes=TaskAttributes(tags, download.checksum, tags.get("content_type")),
            manifest_key=self._places.reference(found.metadata_key),
            tenant=found.tenant or None,
            trace_id=download.trace_id,
        )


def _hint(download: DownloadRow) -> ProxyHint | None:
    if not download.pools:
        return None
    first, *others = msgspec.json.decode(download.pools, type=list[str])
    return ProxyHint(first, tuple(others))


def unreadable_record(body: bytes, times: int, why: str, at: int) -> bytes:
    """Return the dead letter, of a time in milliseconds, for a record that is no task."""
    return msgspec.json.encode(
        {
            "task": None,
            "failure_code": "VALIDATION_UNREADABLE_TASK",
            "failure_message": why,
            "attempts": times,
            "failed_at_ms": at,
            "record": body.decode(errors="replace"),
        }
    )


def read_task(data: bytes) -> DirectTask | None:
    """Return the task of a direct producer, None for a copy of a task of the platform; raise `BadInput` for others."""
    try:
        record = msgspec.json.decode(data, type=TaskRecord)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise BadInput(f"not a task: {error}") from error
    if record.origin == ORIGIN:
        return None
    if not 1 <= len(record.job_id) <= MAX_RUN_ID_CHARS or not 1 <= len(record.resource_id) <= MAX_ID_CHARS:
        raise BadInput("not a task: job_id or resource_id is too long or empty")
    place, attributes = record.storage_hint or StorageHint(), record.attributes or TaskAttributes()
    if unstorable := [name for part in (record, place, attributes) for name in _fields_with_nul(part)]:
        raise BadInput(f"not a task: {unstorable[0]} must not contain a NUL character")
    for header in record.headers:
        if problem := header_problem(header.name, header.value):
            raise BadInput(f"not a task: the header {header.name} {problem}")
    key = place.key
    if key is None and place.key_prefix is not None:
        key = f"{place.key_prefix}{safe_segment(record.job_id)}/{safe_segment(record.resource_id)}"
    return DirectTask(
        uid=record.job_id,
        kind=record.job_type,
        resource_id=record.resource_id,
        url=record.url,
        headers={one.name: one.value for one in record.headers},
        tags=attributes.tags,
        bucket=place.bucket,
        key=key,
        object_metadata=place.metadata,
        checksum=attributes.checksum_hint,
        content_type=attributes.mime_hint,
        proxy_hint=record.proxy_hint,
        metadata_key=record.manifest_key or "",
        tenant=record.tenant or "",
        trace_id=record.trace_id or "",
        total=record.resources_total,
    )


def _fields_with_nul(part: msgspec.Struct) -> Iterator[str]:
    """Yield the names of fields, tags and labels whose text not every database stores."""
    for name, value in msgspec.structs.asdict(part).items():
        if isinstance(value, str) and "\0" in value:
            yield name
        elif isinstance(value, dict):
            yield from (f"{name}.{key}" for key, text in value.items() if isinstance(text, str) and "\0" in key + text)
