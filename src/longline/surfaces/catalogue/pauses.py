"""`/api/v1/admin/crawler/pause` and `/resume`: whether queued jobs start."""

from dataclasses import dataclass

import msgspec

from longline.model.runs.run import RunKind
from longline.services.runs.queued_runs import QueuedRuns
from longline.surfaces.catalogue import examples
from longline.surfaces.catalogue.fields import Reason
from longline.surfaces.operation import operation


@dataclass(frozen=True, slots=True)
class PauseServices:
    """The queue of jobs."""

    queue: QueuedRuns


class PauseRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A pause, or its end."""

    reason: Reason | None = None


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
async def pause_jobs(services: PauseServices, body: PauseRequest) -> Dequeuing:  # noqa: ARG001 - its reason is audited
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
async def resume_jobs(services: PauseServices, body: PauseRequest) -> Dequeuing:  # noqa: ARG001 - its reason is audited
    await services.queue.resume(RunKind.SERIES)
    return Dequeuing(False)


PAUSE_OPERATIONS = (get_pause, pause_jobs, resume_jobs)
