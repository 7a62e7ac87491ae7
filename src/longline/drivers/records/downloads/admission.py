"""Admission of downloads with their run, and the replay of those that were given up."""

from collections.abc import Sequence

import msgspec

from longline.drivers.records.callers.audit import audited_many
from longline.drivers.records.database import Database, Transaction
from longline.drivers.records.downloads.dead_letters import find_letters
from longline.drivers.records.frontier.admission import admit, place
from longline.drivers.records.frontier.claims import begin_run
from longline.drivers.records.frontier.task_moves import move_all
from longline.drivers.records.runs.run_counters import RunCounters
from longline.model.callers.audit import State
from longline.model.downloads.dead_letter import DeadLetterFilter
from longline.model.downloads.download import NewDownload
from longline.model.runs.run import NewRun
from longline.model.storable_text import storable
from longline.ports.records.downloads import PlacedDownload
from longline.ports.records.frontier.frontier import TaskChange, TaskMove


async def begin_downloads(tx: Transaction, run: NewRun, downloads: Sequence[PlacedDownload], reason: str) -> int:
    """Make a run, start it and admit its downloads, inside the transaction of a caller; return its id."""
    run_id = await begin_run(tx, run, reason)
    # No other transaction can wait for the run yet: the hosts may be locked after it.
    await admit_downloads(tx, run_id, downloads)
    return run_id


async def admit_downloads(tx: Transaction, run_id: int, downloads: Sequence[PlacedDownload]) -> int:
    """Admit downloads to a run, each resource once, inside the transaction of a caller; return how many were new."""
    of_keys = {one.download.task_key: one.download for one in downloads}
    tasks = [msgspec.structs.replace(one.task, scope=run_id, run_id=run_id) for one in downloads]
    ledger, placed = RunCounters(), await place(tx, tasks)
    hosts = sorted({host_id for host_id, _ in placed})
    await tx.batch("lock_lines", [(host_id,) for host_id in hosts])
    await tx.batch("mark_downloads", [(host_id,) for host_id in hosts])
    admitted, wake = await admit(tx, tasks, placed, ledger)
    await tx.batch("add_downloads", [_row(run_id, host_id, of_keys[task.key]) for host_id, task in placed])
    await tx.batch("wake_lines", sorted(wake.items()))
    await ledger.write(tx, "worker")
    return admitted.new


def _row(run_id: int, host_id: int, new: NewDownload) -> tuple[object, ...]:
    place = (new.bucket, new.key, new.headers, msgspec.json.encode(new.labels).decode())
    given = (storable(new.resource_id), storable(new.url))
    pools = msgspec.json.encode(new.pools).decode() if new.pools else None
    hints = (new.content_type, new.checksum, new.trace_id, pools, storable(new.tags), storable(new.attributes))
    return (run_id, host_id, new.task_key, *given, *place, *hints)


class DownloadAdmissionRecords:
    """Runs of downloads, and their replay."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def begin(self, run: NewRun, downloads: Sequence[PlacedDownload], reason: str) -> int:
        return await self._database.transact(lambda tx: begin_downloads(tx, run, downloads, reason))

    async def admit(self, run_id: int, downloads: Sequence[PlacedDownload]) -> int:
        async def work(tx: Transaction) -> int:
            asked = [(run_id, storable(one.download.resource_id)) for one in downloads]
            known = {row["resource_id"] for row in await tx.batch("known_downloads", asked)}
            return await admit_downloads(
                tx, run_id, [one for one in downloads if storable(one.download.resource_id) not in known]
            )

        return await self._database.transact(work)

    async def replay(
        self, change: TaskChange, wanted: DeadLetterFilter, after: int, limit: int
    ) -> tuple[list[TaskMove], int]:
        async def work(tx: Transaction) -> tuple[list[TaskMove], int]:
            letters = await find_letters(tx, msgspec.structs.replace(wanted, replayed=False), after, limit)
            moves, _ = await move_all(tx, change, list(dict.fromkeys(letter.task_id for letter in letters)))
            moved = {one.task_id for one in moves if one.became is not None}
            await tx.batch("mark_replayed", [(letter.number,) for letter in letters if letter.task_id in moved])
            return moves, letters[-1].number if letters else 0

        def audited_state(done: tuple[list[TaskMove], int]) -> State | None:
            tasks = [one.task_id for one in done[0] if one.became is not None]
            return {"filter": msgspec.to_builtins(wanted), "tasks": tasks} if tasks else None

        return await audited_many(self._database, "dead_letter", audited_state, work, piece=True)
