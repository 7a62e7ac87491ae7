"""The end of a run of a catalogue: the health of its source, and the time of its targets, in the same transaction."""

from longline.drivers.records.callers.audit import write_audit
from longline.drivers.records.database import Transaction
from longline.model.callers.audit import AuditContext
from longline.model.callers.caller import Caller
from longline.model.callers.roles import Role
from longline.model.series.series_run import DEFAULT_FAILURE_THRESHOLD
from longline.model.states import RunState
from longline.model.whole_number import whole_number

_PLATFORM = Caller("", "", Role.NONE, "operator")


async def note_series_end(tx: Transaction, run_id: int) -> None:
    """Note the end of a run with its source, and disable a source whose runs have failed too often in a row."""
    run = await tx.one("ended_series_run", run_id=run_id)
    if run is None or run["source_id"] is None:
        return
    if run["state"] == RunState.COMPLETED:
        await tx.one("note_success_of_source", id=run["source_id"], ended_at=run["ended_at"])
        await tx.all("touch_source", id=run["source_id"])
        await tx.all("note_targets_crawled", run_id=run_id)
        await tx.all("note_discovery", run_id=run_id)
    elif run["state"] == RunState.FAILED:
        await tx.one("note_failure_of_source", id=run["source_id"], ended_at=run["ended_at"])
        await tx.all("touch_source", id=run["source_id"])
        await _disable(tx, run["source_id"])


async def _disable(tx: Transaction, source_id: int) -> None:
    row = await tx.one("disable_threshold")
    number = whole_number(row["value"] or "") if row else None
    threshold = DEFAULT_FAILURE_THRESHOLD if number is None else number
    disabled = await tx.one("disable_failing_source", id=source_id, threshold=threshold)
    if disabled is None:
        return
    state = {"id": disabled["id"], "enabled": True, "failures": disabled["failures"]}
    context = AuditContext(_PLATFORM, "catalogue", "source.autodisable", f"{disabled['failures']} failures in a row")
    await write_audit(tx, context, disabled["thing"], state, state | {"enabled": False})
