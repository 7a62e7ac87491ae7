"""Downloads in the queue: the orders of claimed tasks, and the results that a report brings."""

from collections.abc import Iterable, Sequence

from longline.drivers.records.database import Transaction
from longline.model.downloads.download import DownloadOrder, DownloadResult
from longline.model.frontier.task import Outcome
from longline.model.states import ENDED, TaskState


async def download_orders(tx: Transaction, task_ids: Iterable[int]) -> dict[int, DownloadOrder]:
    """Return the orders of those tasks that are downloads."""
    rows = await tx.batch("download_orders", [(task_id,) for task_id in task_ids])
    return {row["task_id"]: DownloadOrder(*list(row)[1:]) for row in rows}


async def finish_downloads(tx: Transaction, outcomes: Sequence[Outcome]) -> None:
    """Write the results of downloads that ended, and a dead letter for each that was given up and has a kind."""
    ended = [(o, o.download) for o in outcomes if o.download is not None and o.became in ENDED]
    if ended:
        await tx.batch("finish_downloads", [_result(o, result) for o, result in ended])
        await tx.batch("add_dead_letters", [_letter(o, r) for o, r in ended if o.became == TaskState.FAILED and r.kind])


def _result(o: Outcome, result: DownloadResult) -> tuple[object, ...]:
    stored = result.stored
    if stored is None:
        return (o.task.id, None, None, None, None, result.proxy, result.ms, None, None)
    facts = (stored.bytes, stored.sha256, stored.content_type)
    return (o.task.id, o.at, *facts, result.proxy, result.ms, *(stored.image_size or (None, None)))


def _letter(o: Outcome, result: DownloadResult) -> tuple[object, ...]:
    failure = (o.reason, o.error, o.status, o.task.attempt)
    return (o.task.id, result.kind, result.tenant, *failure, result.host, result.proxy, o.at)
