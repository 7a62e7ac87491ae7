"""The list of the standing frontier, kept in step with its tasks by the transactions that move them."""

from collections.abc import Sequence
from urllib.parse import urlsplit

from longline.drivers.records.database import Row, Transaction
from longline.drivers.records.runs.run_counters import RunCounters
from longline.model.frontier.standing_frontier import NEVER_DUE_MS, rest_of
from longline.model.states import TaskState


async def enter(tx: Transaction, ledger: RunCounters, task_ids: Sequence[int]) -> None:
    """Put new URLs on the list; the task of a redirect's target takes over the list row of its URL."""
    ids = [(task_id,) for task_id in task_ids]
    await tx.batch("lead_urls", ids)
    await follow(tx, ledger, task_ids)


async def follow(tx: Transaction, ledger: RunCounters, task_ids: Sequence[int]) -> None:
    """Update the list rows of these tasks; tasks of runs are skipped. The lines of the tasks must be locked."""
    rows = await tx.batch("urls_of_tasks", [(task_id,) for task_id in sorted(task_ids)])
    listed = []
    for row in rows:
        rest = rest_of(row["state"], row["reason"])
        listed.append(
            (row["id"], row["task_id"], row["run_id"], _host(row), rest, _urgency(row), _next_at(row, rest, tx))
        )
        ledger.count_listed_move("count_standing", row["run_id"], row["was"], rest)
    await tx.batch("list_urls", listed)


def _host(row: Row) -> str:
    """Return the listed host: the given URL's, until the page at the end of its redirects was fetched."""
    if row["was"] is not None and row["id"] != row["task_id"] and row["state"] != TaskState.COMPLETED:
        return str(row["host"])
    return urlsplit(row["url"]).hostname or ""


def _urgency(row: Row) -> int:
    """Return the priority, not less urgent than listed: the own priority of a redirect's target is not shown."""
    return int(row["priority"] if row["was"] is None else min(row["priority"], row["urgency"]))


def _next_at(row: Row, rest: str, tx: Transaction) -> int:
    """Return the time of the next fetch: now or earlier for a URL that was woken, hastened or is tried again."""
    if rest != "waiting":
        return int(tx.now if row["next_at"] is None else row["next_at"])
    if 0 < row["due"] < NEVER_DUE_MS:
        return int(row["due"])
    return int(min(row["next_at"], tx.now)) if row["was"] == "waiting" else tx.now
