"""Tasks for reading: tasks by run, the hosts in line with the tasks of their queues, and the facts around one task."""

from collections.abc import Mapping, Sequence

import msgspec

from longline.drivers.records.database import Transaction
from longline.drivers.records.like_patterns import literal
from longline.drivers.records.row_structs import Table, struct, values_of
from longline.model.frontier.fate import UrlFate, UrlFilters
from longline.model.frontier.frontier_lists import (
    ANY_TASK,
    MAX_COUNTED_TASKS,
    MAX_SCANNED,
    HeldTask,
    LeasedTask,
    ListedHost,
    PlaceInLine,
    QueuedTask,
    TaskChoice,
    TaskExecutor,
)
from longline.model.frontier.task import TaskRow
from longline.model.logs.event import Event
from longline.model.states import Noun

MAX_ID = 2**63 - 1
MAX_CHARACTER = "\U0010ffff"
SCANNED_QUEUE = 1000
"""Places of each queue that are read for the leased tasks."""


class TaskRecords(Table):
    """Read access to tasks."""

    async def get(self, task_id: int) -> TaskRow | None:
        return await self._one("task", TaskRow, id=task_id)

    async def find(self, *, run_id: int | None = None, limit: int = 50, after: int = 0) -> list[TaskRow]:
        if run_id is None:
            return await self._all("find_tasks", TaskRow, limit=limit, after=after)
        return await self._all("find_tasks_of_run", TaskRow, run_id=run_id, limit=limit, after=after)

    async def url_fates(self, run_id: int, filters: UrlFilters, *, after: int = 0, limit: int = 100) -> list[UrlFate]:
        host = literal(filters.host.lower()) if filters.host is not None else None
        wanted = {"fate": filters.fate, "reason": filters.reason, "host": host}
        return await self._all("url_fates", UrlFate, run_id=run_id, after=after, limit=limit, **wanted)

    async def is_known(self, scope: int, host: str, key: bytes) -> bool:
        row = await self._database.read(lambda tx: tx.one("known_task", scope=scope, host=host, key=key))
        return row is not None

    async def counts(self) -> dict[str, int]:
        async def work(tx: Transaction) -> dict[str, int]:
            row = await tx.one("task_counts")
            return values_of(row) if row else {}

        return await self._database.read(work)


class HostListRecords(Table):
    """Hosts in line."""

    async def free(self, *, after: tuple[int, int] = (-1, 0), limit: int = 50) -> list[ListedHost]:
        return await self._all("free_hosts", ListedHost, at=after[0], after=after[1], **_bounds(limit))

    async def held(
        self, *, owner: int | None = None, after: tuple[int, int] = (-1, 0), limit: int = 50
    ) -> list[ListedHost]:
        return await self._all("held_hosts", ListedHost, owner=owner, at=after[0], after=after[1], **_bounds(limit))

    async def named(self, prefix: str, *, after: str = "", limit: int = 50) -> list[ListedHost]:
        until = prefix + MAX_CHARACTER
        return await self._all("hosts_named", ListedHost, prefix=prefix, until=until, after=after, **_bounds(limit))

    async def get(self, host: str) -> ListedHost | None:
        return await self._one("host_in_line", ListedHost, host=host, counted=MAX_COUNTED_TASKS)

    async def queue(self, host_id: int, *, after: PlaceInLine | None = None, limit: int = 50) -> list[QueuedTask]:
        place = (after or PlaceInLine())._asdict()
        return await self._all("queue_of_host", QueuedTask, host_id=host_id, limit=limit, **place)

    async def in_hand(self, hosts: Sequence[ListedHost]) -> list[QueuedTask]:
        async def work(tx: Transaction) -> list[QueuedTask]:
            held = [(host.host_id, host.token) for host in hosts if host.owner is not None]
            return [struct(row, QueuedTask) for row in await tx.batch("queue_in_hand", held, scanned=SCANNED_QUEUE)]

        return await self._database.read(work)

    async def taken(self, limit: int = 50) -> list[HeldTask]:
        return await self._all("held_offers", HeldTask, limit=limit)


class TaskListRecords(Table):
    """Tasks of runs by state, and the facts around one task."""

    async def of_run(
        self, run_id: int, wanted: TaskChoice = ANY_TASK, *, before: int | None = None, limit: int = 50
    ) -> tuple[list[TaskRow], int | None]:
        asked = {"run_id": run_id, "before": before or MAX_ID}
        return await self._scan(("tasks_of_run_before", "last_scanned_task"), wanted, limit, asked)

    async def newest(
        self, wanted: TaskChoice = ANY_TASK, *, before: int | None = None, limit: int = 50
    ) -> tuple[list[TaskRow], int | None]:
        asked = {"before": before or MAX_ID}
        return await self._scan(("newest_tasks_before", "last_scanned_of_all"), wanted, limit, asked)

    async def _scan(
        self, names: tuple[str, str], wanted: TaskChoice, limit: int, asked: Mapping[str, int]
    ) -> tuple[list[TaskRow], int | None]:
        """Return the tasks that the first statement finds, and the place that the second says the scan came to."""
        scanned = limit if wanted == ANY_TASK else MAX_SCANNED

        async def work(tx: Transaction) -> tuple[list[TaskRow], int | None]:
            rows = await tx.all(names[0], limit=limit, scanned=scanned, **asked, **msgspec.structs.asdict(wanted))
            if len(rows) == limit:
                return [struct(row, TaskRow) for row in rows], rows[-1]["id"]
            last = await tx.one(names[1], scanned=scanned, **asked)
            is_cut = last is not None and last["count"] == scanned
            return [struct(row, TaskRow) for row in rows], last["id"] if last is not None and is_cut else None

        return await self._database.read(work)

    async def executors(self, task_ids: Sequence[int]) -> list[TaskExecutor]:
        async def work(tx: Transaction) -> list[TaskExecutor]:
            rows = await tx.batch("executors_of_tasks", [(task_id,) for task_id in sorted(set(task_ids))])
            return [struct(row, TaskExecutor) for row in rows]

        return await self._database.read(work)

    async def with_pages(self, task_ids: Sequence[int]) -> set[int]:
        async def work(tx: Transaction) -> set[int]:
            rows = await tx.batch("tasks_with_pages", [(task_id,) for task_id in sorted(set(task_ids))])
            return {row["task_id"] for row in rows}

        return await self._database.read(work)

    async def lease(self, task_id: int) -> LeasedTask | None:
        return await self._one("lease_of_task", LeasedTask, id=task_id)

    async def items(self, task_id: int) -> list[int]:
        row = await self._database.read(lambda tx: tx.one("items_of_page", task_id=task_id))
        entries = msgspec.json.decode(row["items"], type=list[list[int]]) if row and row["items"] else []
        return [abs(entry[0]) for entry in entries]

    async def events(self, noun: Noun, subject: int, limit: int = 50) -> list[Event]:
        return await self._all("events_of", Event, noun=noun, subject=subject, scanned=MAX_SCANNED, limit=limit)

    async def reports(self, run_id: int, task_id: int, limit: int = 50) -> list[Event]:
        # Each entry of a report begins with a bracket and the id of its task.
        asked = {"run_id": run_id, "listed": f"%[{task_id},%", "scanned": MAX_SCANNED}
        return await self._all("reports_of_task", Event, limit=limit, **asked)


def _bounds(limit: int) -> dict[str, int]:
    return {"limit": limit, "counted": MAX_COUNTED_TASKS}
