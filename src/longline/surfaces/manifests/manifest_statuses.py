"""Statuses of jobs in the manifest contract."""

from collections.abc import Mapping
from typing import Literal

from longline.model.states import RunState

ManifestStatus = Literal["queued", "in_progress", "completed", "failed"]

RUN_WORDS: Mapping[RunState, ManifestStatus] = {
    RunState.QUEUED: "queued",
    RunState.RUNNING: "in_progress",
    RunState.COMPLETED: "completed",
    RunState.FAILED: "failed",
    RunState.CANCELLED: "failed",
}
"""Statuses of runs; a running one without a begun task is still `queued`."""

STATUS_STATES: Mapping[str, tuple[str, ...]] = {
    "queued": (RunState.QUEUED, RunState.RUNNING),
    "in_progress": (RunState.RUNNING,),
    "completed": (RunState.COMPLETED,),
    "failed": (RunState.FAILED, RunState.CANCELLED),
}
"""States that the runs of each status may have."""
