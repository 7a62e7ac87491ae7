"""Moves of tasks, one or many at once, on either engine.

A transaction locks the lines of the tasks' hosts, then their offers, then their runs, each in the order of ids, as
reports do. Under the locks each task is judged by itself. A task that a worker has leased leaves the queue, which
voids the worker's report, and the line of its host counts the withdrawal, which the worker reads.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence

import msgspec

from longline.drivers.records.callers.audit import audited_many
from longline.drivers.records.database import Database, Transaction, TryAgain
from longline.drivers.records.frontier import recrawl_list
from longline.drivers.records.frontier.standing_list import follow
from longline.drivers.records.row_structs import struct
from longline.drivers.records.runs.run_counters import MovedTasks, RunCounters, lock_runs
from longline.model.callers.audit import State
from longline.model.frontier.standing_frontier import NEVER_DUE_MS, SCOPE
from longline.model.frontier.task import BOT, FETCH, PARSE, ClaimedTask
from longline.model.recrawls.recrawl import is_recrawl
from longline.model.recrawls.side_row import MoveKind
from longline.model.states import ENDED, FRESH_STARTS, RUN_ENDED, WAITS_FOR_PARSER, TaskState, move
from longline.ports.records.frontier.frontier import Prioritized, TaskChange, TaskMove

QUEUE_KEY = ("host_id", "due", "priority", "run_id", "id")
TAKEN_RESTS = frozenset({TaskState.PAUSED, TaskState.CANCELLED})
"""Rests into which a person may take a task from a worker; its due time is then the time of that move."""

REOPENED_FROM = move("run", "reopen").was


class StandingTask(msgspec.Struct, frozen=True):
    """A task as it stands under the locks; `mark` is the token in its row of the queue, if it has a row there.

    A task that was redirected to another host has its own host as `home_id`.
    """

    id: int
    host_id: int
    home_id: int | None
    due: int
    priority: int
    next_priority: int | None
    executor: str
    run_id: int
    scope: int
    rest: str
    reason: str | None
    state: str
    token: int
    attempt: int
    mark: int | None
    paged: bool

    @property
    def place(self) -> tuple[int, ...]:
        """Return the key of the task in the queue."""
        return self.host_id, self.due, self.priority, self.run_id, self.id

    @property
    def worked_by(self) -> str:
        """Return the executor of the task before its page is parsed."""
        return BOT if self.executor == BOT else FETCH

    @property
    def present_priority(self) -> int:
        """Return the priority as lists show it."""
        return self.priority if self.next_priority is None else self.next_priority

    @property
    def in_hand(self) -> bool:
        """Return whether a worker or a bot holds the task."""
        return self.state != self.rest


async def lock_tasks(tx: Transaction, task_ids: Collection[int]) -> dict[int, StandingTask]:
    """Lock the lines and the offers of tasks; return the tasks that exist, as they stand then."""
    ids = [(task_id,) for task_id in sorted(set(task_ids))]
    places = await tx.batch("task_places", ids)
    hosts = {row["host_id"] for row in places} | {row["home_id"] for row in places if row["home_id"]}
    await tx.batch("lock_lines", [(host_id,) for host_id in sorted(hosts)])
    # No worker takes the tasks, and no reaper takes them back, between the check of their leases and the move.
    await tx.batch("lock_offers", ids)
    tasks = [struct(row, StandingTask) for row in await tx.batch("tasks_standing", ids)]
    if any(task.host_id not in hosts or (task.home_id or task.host_id) not in hosts for task in tasks):
        raise TryAgain("a task moved to another host")
    return {task.id: task for task in tasks}


async def take_out(tx: Transaction, places: Sequence[tuple[int, ...]]) -> set[int]:
    """Take tasks, by their keys in the queue, out of queue and offers; return the tasks that a worker had leased.

    The lines of the tasks and their offers must be locked.
    """
    rows = await tx.batch("empty_queue_of_tasks", places)
    await tx.batch("empty_offers_of_tasks", [(place[-1],) for place in places])
    # The deleted row has the mark that counts: a claim of more tasks for a held host marks rows without a lock on it.
    marks = sorted({(row["host_id"], row["token"]) for row in rows if row["token"]})
    held = {(row["host_id"], row["token"]) for row in await tx.batch("withdraw_from_holders", marks)}
    return {row["id"] for row in rows if (row["host_id"], row["token"]) in held}


async def move_tasks(tx: Transaction, change: TaskChange, tasks: Sequence[StandingTask], ledger: RunCounters) -> None:
    """Move tasks that may be moved, with their places in the queue or among the offers, under the locks."""
    in_hand = await take_out(tx, [task.place for task in tasks])
    moved = [_moved(change, task, tx.now if task.id in in_hand else 0, tx.now) for task in tasks]
    rows = [
        (new.id, was.rest, new.due, new.priority, new.executor, new.attempt)
        for was, new in zip(tasks, moved, strict=True)
    ]
    fresh = {"anew": int(change.move in FRESH_STARTS), "error": change.error}
    ended_at = tx.now if change.became in ENDED else None
    done = await tx.batch(
        "move_tasks", rows, became=change.became, reason=change.because, finished_at=ended_at, **fresh
    )
    if len(done) < len(rows):
        raise TryAgain("a task moved without the lock of its host")
    # A task that was redirected to another host goes home, whoever moves it.
    await tx.batch("bring_tasks_home", [(task.id,) for task in tasks if task.home_id])
    await _put_back(tx, change.became, moved)
    bots = [(task.id, change.became in ENDED) for task in tasks if task.worked_by == BOT]
    await tx.batch("rest_tasks_of_bots", bots)
    await follow(tx, ledger, [task.id for task in tasks if task.scope == SCOPE])
    anew = change.move in FRESH_STARTS
    kind = MoveKind(due_at=change.due, is_order=True, is_anew=anew, keeps_retries=change.keep_attempts)
    await recrawl_list.follow(tx, ledger, [task.id for task in tasks if is_recrawl(task.scope)], kind)


def count_moves(ledger: RunCounters, change: TaskChange, tasks: Iterable[StandingTask], *, listed: bool) -> None:
    """Count moved tasks with their runs; `listed` ones go into the event of their run."""
    ledger.count_moves(
        (MovedTasks(t.id, t.run_id, t.rest, change.became, change.because, t.reason or "") for t in tasks),
        listed=listed,
    )


async def judge(tx: Transaction, change: TaskChange, tasks: Iterable[StandingTask]) -> list[TaskMove]:
    """Judge each task by itself, with the runs locked that would have to be opened again."""
    able = [task for task in tasks if task.state in change.allowed]
    reopening = {t.run_id for t in able if t.rest in ENDED} if change.became not in ENDED else set()
    locked = await lock_runs(tx, reopening)
    stopped = {run_id: row["state"] for run_id, row in locked.items() if row["state"] in RUN_ENDED - REOPENED_FROM}
    return [_verdict(change, task, stopped) for task in tasks]


def _verdict(change: TaskChange, task: StandingTask, stopped: Mapping[int, str]) -> TaskMove:
    if task.state not in change.allowed:
        return TaskMove(task.id, task.state)
    if change.became in WAITS_FOR_PARSER and not task.paged:
        return TaskMove(task.id, task.state, without_page=True)
    if task.rest in ENDED and change.became not in ENDED and task.run_id in stopped:
        return TaskMove(task.id, task.state, run_state=stopped[task.run_id])
    return TaskMove(task.id, task.state, change.became)


async def move_all(tx: Transaction, change: TaskChange, task_ids: Sequence[int]) -> tuple[list[TaskMove], bool]:
    """Move the tasks that may be moved; return the result of each, and whether schedulers have runs to end."""
    tasks, ledger = await lock_tasks(tx, task_ids), RunCounters()
    verdicts = {one.task_id: one for one in await judge(tx, change, tasks.values())}
    able = [task for task in tasks.values() if verdicts[task.id].became is not None]
    await move_tasks(tx, change, able, ledger)
    count_moves(ledger, change, able, listed=True)
    await ledger.write(tx, change.actor)
    return [verdicts.get(task_id) or TaskMove(task_id) for task_id in task_ids], bool(ledger.done_runs)


def _moved(change: TaskChange, task: StandingTask, taken_at: int, now: int) -> StandingTask:
    """Return the task with its new place and count of attempts; `taken_at` is the time if a worker had leased it."""
    is_fresh = change.move in FRESH_STARTS
    executor = PARSE if change.became in WAITS_FOR_PARSER else task.worked_by
    due = change.due or 0
    if is_recrawl(task.scope) and task.due == NEVER_DUE_MS and not is_fresh:
        due = NEVER_DUE_MS  # it waits for its parent, over a pause too
    elif executor == FETCH:
        # Another place in the queue than the worker's: its late report finds no row, even if it claims the task again.
        kept = task.due if task.rest in TAKEN_RESTS and task.due <= now else 0
        due = max(due if due > now else 0, taken_at, kept)
    return msgspec.structs.replace(
        task,
        host_id=task.home_id or task.host_id,
        due=due,
        priority=task.present_priority if change.priority is None else change.priority,
        executor=executor,
        attempt=0 if is_fresh and not change.keep_attempts else task.attempt,
    )


async def _put_back(tx: Transaction, became: str, tasks: Sequence[StandingTask]) -> None:
    """Put open tasks into the queue or among the offers of their next executor."""
    if became not in (TaskState.PENDING, TaskState.EXPIRED, *WAITS_FOR_PARSER):
        return
    queued = [task for task in tasks if task.executor == FETCH and became == TaskState.PENDING]
    await tx.batch("queue_tasks", [(*task.place, task.attempt) for task in queued])
    await tx.batch("mark_downloads_of_tasks", [(task.id, task.host_id) for task in queued])
    wake: dict[int, int] = {}
    for task in queued:
        due = max(tx.now, task.due)
        wake[task.host_id] = min(wake.get(task.host_id, due), due)
    await tx.batch("wake_lines", sorted(wake.items()))
    offered = [task for task in tasks if task.executor != FETCH]
    await tx.batch("offer_tasks", [(t.id, t.executor, t.host_id, t.due, t.priority, t.attempt) for t in offered])


async def prioritize(tx: Transaction, wanted: Mapping[int, int]) -> list[Prioritized]:
    """Give tasks other priorities; a task leased by a worker gets its priority when it next rests."""
    tasks = await lock_tasks(tx, wanted)
    waiting = [task for task in tasks.values() if task.mark is not None and not task.in_hand]
    # A row that a claim has marked meanwhile stays: its task is leased.
    pulled = {row["id"] for row in await tx.batch("unqueue_tasks", [(*t.place, t.mark) for t in waiting])}
    moved = [msgspec.structs.replace(t, priority=wanted[t.id]) for t in waiting if t.id in pulled]
    await tx.batch("queue_tasks", [(*task.place, task.attempt) for task in moved])
    held = {task.id for task in tasks.values() if task.mark is not None} - pulled
    rows = [(t.id, *((t.priority, wanted[t.id]) if t.id in held else (wanted[t.id], None))) for t in tasks.values()]
    await tx.batch("prioritize_tasks", rows)
    await tx.batch("prioritize_offers", [(t.id, wanted[t.id]) for t in tasks.values() if t.mark is None])
    ledger = RunCounters()  # no task goes to another rest: no count changes
    await follow(tx, ledger, [task.id for task in tasks.values() if task.scope == SCOPE])
    await recrawl_list.follow(tx, ledger, [task.id for task in tasks.values() if task.scope < 0])
    return [Prioritized(t.id, t.present_priority, wanted[t.id], at_next_rest=t.id in held) for t in tasks.values()]


class TaskMoveRecords:
    """Moves and priorities of many tasks, and withdrawals from workers."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def move_all(self, change: TaskChange, task_ids: Sequence[int]) -> tuple[list[TaskMove], bool]:
        def audited_state(moved: tuple[list[TaskMove], bool]) -> State | None:
            ids = [one.task_id for one in moved[0] if one.became is not None]
            return {"move": change.move, "tasks": ids} if ids else None

        return await audited_many(
            self._database,
            "task",
            audited_state,
            lambda tx: move_all(tx, change, task_ids),
            piece=True,
            only=_only(task_ids),
        )

    async def prioritize(self, wanted: Mapping[int, int]) -> list[Prioritized]:
        def audited_state(done: list[Prioritized]) -> State | None:
            changed = {one.task_id: one.became for one in done if one.became != one.was}
            return {"priorities": changed} if changed else None

        return await audited_many(
            self._database,
            "task",
            audited_state,
            lambda tx: prioritize(tx, wanted),
            piece=True,
            only=_only(wanted),
        )

    async def apply_priorities(self, limit: int) -> int:
        async def outdated(tx: Transaction) -> dict[int, int]:
            rows = await tx.all("outdated_priorities", limit=limit)
            return {row["id"]: row["next_priority"] for row in rows}

        wanted = await self._database.read(outdated)
        done = await self.prioritize(wanted) if wanted else []
        return sum(not one.at_next_rest for one in done)

    async def withdrawals(self, owner: int) -> dict[tuple[int, int], int]:
        async def work(tx: Transaction) -> dict[tuple[int, int], int]:
            rows = await tx.all("withdrawals", owner=owner)
            return {(row["host_id"], row["token"]): row["withdrawals"] for row in rows}

        return await self._database.read(work)

    async def marked(self, claims: Sequence[tuple[int, int, ClaimedTask]]) -> set[tuple[int, int]]:
        async def work(tx: Transaction) -> set[tuple[int, int]]:
            keys = [(host_id, t.due, t.priority, t.run_id, t.id, token) for host_id, token, t in claims]
            return {(row["id"], row["due"]) for row in await tx.batch("marked_tasks", keys)}

        return await self._database.read(work)


def _only(task_ids: Collection[int]) -> int | None:
    """Return the one task of an operation on one."""
    return next(iter(task_ids)) if len(task_ids) == 1 else None
