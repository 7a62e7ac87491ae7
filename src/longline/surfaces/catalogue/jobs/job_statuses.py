"""Statuses of jobs, and keys of batch jobs, in the catalogue contract."""

from collections.abc import Mapping
from typing import Literal

from longline.model.maintenance.maintenance_run import MaintenanceState
from longline.model.states import RunState

JobStatus = Literal["queued", "running", "done", "failed", "cancelled"]

RUN_WORDS: Mapping[RunState, JobStatus] = {
    RunState.QUEUED: "queued",
    RunState.RUNNING: "running",
    RunState.COMPLETED: "done",
    RunState.FAILED: "failed",
    RunState.CANCELLED: "cancelled",
}

RUN_STATES: Mapping[JobStatus, RunState] = {word: state for state, word in RUN_WORDS.items()}

BATCH_KEYS: Mapping[str, str] = {"crawler.partition": "log months", "crawler.archive": "log archive"}
"""The maintenance task behind each batch job."""

TASK_KEYS: Mapping[str, str] = {task: key for key, task in BATCH_KEYS.items()}

BATCH_WORDS: dict[str, JobStatus] = {
    MaintenanceState.QUEUED: "queued",
    MaintenanceState.RUNNING: "running",
    MaintenanceState.COMPLETED: "done",
    MaintenanceState.FAILED: "failed",
    MaintenanceState.CANCELLED: "cancelled",
}
