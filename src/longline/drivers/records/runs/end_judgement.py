"""The judgement of a run that has no open task, in the transaction of its last task."""

from longline.drivers.records.database import Transaction
from longline.model.runs.end_judgement import EndRules, is_failed, stored_end_rules


async def end_rules(tx: Transaction, run_id: int) -> EndRules:
    """Return the rules of the end of a run, from its plan."""
    row = await tx.one("run_plan", id=run_id)
    return stored_end_rules(row["plan"]) if row else EndRules()


async def judged_failure(tx: Transaction, run_id: int, rules: EndRules, sums: tuple[int, int]) -> str | None:
    """Return the error of a run that its plan judges as failed, else None; `sums` are its admitted and completed tasks.

    The error is that of the first failed task; where none failed, that of the first task that did not complete.
    """
    if not is_failed(rules.judged, *sums):
        return None
    task = await tx.one("first_failed_task", run_id=run_id) or await tx.one("first_incomplete_task", run_id=run_id)
    return (task["error"] or task["reason"]) if task else "no task completed"
