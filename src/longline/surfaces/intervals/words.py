"""The interval contract's words for our states, and for what may be wrong."""

from longline.model.states import RunState, ScheduleState

SCHEDULE_WORDS: dict[str, str] = {state: state.value for state in ScheduleState}

RUN_WORDS: dict[str, str] = {
    RunState.QUEUED: "running",  # an execution is live from the moment its job is
    RunState.RUNNING: "running",
    RunState.COMPLETED: "completed",
    RunState.FAILED: "failed",
    RunState.CANCELLED: "cancelled",
}
