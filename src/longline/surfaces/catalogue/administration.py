"""The pause of queued jobs (`/api/v1/admin/crawler/pause`, `/resume`), and the notifications of admins."""

from dataclasses import dataclass
from typing import Literal

import msgspec

from longline.model.proxies.source_alerts import DisabledSource, StuckRun
from longline.model.runs.run import RunKind
from longline.services.proxies.source_alerts import Alerts
from longline.services.runs.queued_runs import QueuedRuns
from longline.surfaces.catalogue import examples
from longline.surfaces.catalogue.field_types import AuditedOrder, Timestamp, time_text
from longline.surfaces.operation import operation


@dataclass(frozen=True, slots=True)
class PauseServices:
    """The queue of jobs."""

    queue: QueuedRuns


class Dequeuing(msgspec.Struct, frozen=True):
    """Whether the start of queued jobs is paused; jobs that run go on."""

    ispaused: bool


@operation(
    "GET", "/api/v1/admin/crawler/pause", "Get the pause of jobs", access="admin", response_example=examples.RUNNING
)
async def get_pause(services: PauseServices) -> Dequeuing:
    return Dequeuing(RunKind.SERIES in await services.queue.paused())


@operation(
    "POST",
    "/api/v1/admin/crawler/pause",
    "Pause the start of queued jobs",
    access="admin",
    action="run kind.pause",
    request_example={"reason": "maintenance"},
    response_example=examples.PAUSED,
)
async def pause_jobs(services: PauseServices, body: AuditedOrder) -> Dequeuing:  # noqa: ARG001 - its reason is audited
    await services.queue.pause(RunKind.SERIES)
    return Dequeuing(True)


@operation(
    "POST",
    "/api/v1/admin/crawler/resume",
    "Start queued jobs again",
    access="admin",
    action="run kind.resume",
    request_example={"reason": "maintenance is over"},
    response_example=examples.RUNNING,
)
async def resume_jobs(services: PauseServices, body: AuditedOrder) -> Dequeuing:  # noqa: ARG001 - its reason is audited
    await services.queue.resume(RunKind.SERIES)
    return Dequeuing(False)


PAUSE_OPERATIONS = (get_pause, pause_jobs, resume_jobs)


@dataclass(frozen=True, slots=True)
class NotificationServices:
    """Alerts."""

    alerts: Alerts


class Notification(msgspec.Struct, frozen=True):
    """A condition that holds: a source that was disabled after failures in a row, or a job that is stuck."""

    type: Literal["source.autodisable", "job.stuck"]
    level: Literal["warning"]
    message: str
    sourceid: int
    jobid: str | None
    createdat: Timestamp


@operation(
    "GET",
    "/api/v1/admin/notifications",
    "List the notifications of admins",
    access="admin",
    response_example=[examples.NOTIFICATION],
)
async def list_notifications(services: NotificationServices) -> list[Notification]:
    """List what needs an admin; an entry goes when its source is enabled again, or its job ends."""
    found = [_disabled(source) for source in await services.alerts.disabled()]
    return found + [_stuck(run) for run in await services.alerts.stuck()]


NOTIFICATION_OPERATIONS = (list_notifications,)


def _disabled(found: DisabledSource) -> Notification:
    text = f"Source {found.name} was disabled after {found.failures} failed jobs in a row."
    return Notification("source.autodisable", "warning", text, found.source_id, None, time_text(found.since))


def _stuck(found: StuckRun) -> Notification:
    text = f"A job of source {found.name} has been running for over 30 minutes."
    return Notification("job.stuck", "warning", text, found.source_id, found.run_uid, time_text(found.started_at))
