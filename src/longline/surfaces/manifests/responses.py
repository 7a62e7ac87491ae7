"""Responses of the manifest contract, and their making from the model."""

from datetime import UTC, datetime
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from longline.model.downloads.dead_letter import DeadLetter
from longline.model.logs.run_log import LogEntry
from longline.model.manifests.manifest import ManifestReceipt, ManifestSnapshot
from longline.surfaces.manifests.failure_codes import error_code, family_code
from longline.surfaces.manifests.manifest_statuses import RUN_WORDS, ManifestStatus

LOG_STREAM = "jobs.logs"

JobId = Annotated[str, Meta(description="The id of the job.")]
Timestamp = Annotated[str, Meta(description="A time in UTC by RFC 3339.")]

DEFAULT_BUCKET = "fetchbox"
"""Bucket in the keys of objects where the settings name none."""


class AcceptedBody(msgspec.Struct, frozen=True):
    """The answer to an accepted manifest."""

    job_id: str
    manifest_key: str
    resource_count: int


class LogCursor(msgspec.Struct, frozen=True):
    """A position in a stream."""

    stream: str
    offset: int


class LastError(msgspec.Struct, frozen=True):
    """The first failure of a job."""

    code: str
    message: str


class SnapshotBody(msgspec.Struct, frozen=True):
    """The state of a job."""

    job_id: str
    job_type: str
    status: ManifestStatus
    created_at: Timestamp
    updated_at: Timestamp
    resource_total: int
    resource_completed: int
    resource_failed: int
    manifest_key: str | None
    log_cursor: LogCursor
    last_error: LastError | None
    tenant: str | None
    origin: Literal["api", "direct"]
    dlq_offset: int | None


class SnapshotList(msgspec.Struct, frozen=True):
    """A page of jobs, newest first; `next_cursor` leads to the next page."""

    jobs: list[SnapshotBody]
    next_cursor: str | None = None


class LogEnvelope(msgspec.Struct, frozen=True, omit_defaults=True):
    """One line of a job's log; `truncated` marks the first line where earlier ones are not kept any more."""

    offset: int
    job_id: str
    level: str
    message: str
    fields: dict[str, Any]
    timestamp_ms: int
    resource_id: str | None = None
    trace_id: str | None = None
    truncated: bool = False


class DeadTask(msgspec.Struct, frozen=True):
    """The task of a dead letter."""

    job_id: str
    job_type: str
    resource_id: str
    url: str
    tenant: str | None


class DeadLetterBody(msgspec.Struct, frozen=True):
    """A task that was given up."""

    offset: int
    task: DeadTask
    failure_code: str
    failure_message: str
    attempts: int
    failed_at_ms: int
    context: dict[str, Any]
    replayed_at: Timestamp | None = None


def rfc3339(ms: int) -> str:
    """Return a time in milliseconds as text."""
    return datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class ObjectPlaces(msgspec.Struct, frozen=True):
    """The URL below which stored objects have their keys."""

    root: str

    def url(self, key: str) -> str:
        """Return the URL of an object; a reference of a direct producer is a URL already."""
        return key if "://" in key else f"{self.root}/{key}"

    def reference(self, key: str) -> str | None:
        """Return the URL of an object, or None for the empty key of a direct producer that stored no manifest."""
        return self.url(key) if key else None


def status_of(found: ManifestSnapshot) -> ManifestStatus:
    """Return the status of a job. A job that comes task by task ends when its announced total has ended."""
    if found.awaits_files:
        return "in_progress"
    if found.state == "running" and not found.begun:
        return "queued"
    return RUN_WORDS[found.state]  # type: ignore[index]  # states of runs are their words


def accepted_body(receipt: ManifestReceipt, places: ObjectPlaces) -> AcceptedBody:
    """Return the answer to an accepted manifest."""
    return AcceptedBody(receipt.uid, places.url(receipt.metadata_key), receipt.resources)


def snapshot_body(found: ManifestSnapshot, places: ObjectPlaces) -> SnapshotBody:
    """Return the state of a job."""
    return SnapshotBody(
        job_id=found.uid,
        job_type=found.kind,
        status=status_of(found),
        created_at=rfc3339(found.created_at),
        updated_at=rfc3339(found.changed_at),
        resource_total=found.expected,
        resource_completed=found.completed,
        resource_failed=found.given_up,
        manifest_key=places.reference(found.metadata_key),
        log_cursor=LogCursor(LOG_STREAM, 0),
        last_error=_last_error(found),
        tenant=found.tenant or None,
        origin=found.origin,
        dlq_offset=found.dead_letter,
    )


def _last_error(found: ManifestSnapshot) -> LastError | None:
    if found.error_code is None:
        return None
    code = error_code(found.error_code, found.error_status)
    return LastError(code, found.error_message or found.error_code)


def log_envelope(entry: LogEntry, job_id: str, *, truncated: bool = False) -> LogEnvelope:
    """Return a line of a log."""
    fields: dict[str, Any] = msgspec.json.decode(entry.fields) if entry.fields else {}
    resource_id, trace_id = (fields.get(name) for name in ("resource", "trace"))
    named = {"resource_id": resource_id, "trace_id": trace_id}
    texts = {name: str(value) for name, value in named.items() if value is not None}
    return LogEnvelope(entry.number, job_id, entry.level, entry.message, fields, entry.at, truncated=truncated, **texts)


def dead_letter_body(letter: DeadLetter) -> DeadLetterBody:
    """Return a dead letter."""
    task = DeadTask(letter.run_uid, letter.kind, letter.resource_id, letter.url, letter.tenant or None)
    context = {"proxy": letter.proxy, "attempt": letter.attempts, "status": letter.status, "host": letter.host}
    return DeadLetterBody(
        offset=letter.number,
        task=task,
        failure_code=error_code(letter.reason, letter.status),
        failure_message=letter.error or letter.reason,
        attempts=letter.attempts,
        failed_at_ms=letter.failed_at,
        context=context | {"code": family_code(letter.reason)},
        replayed_at=None if letter.replayed_at is None else rfc3339(letter.replayed_at),
    )
