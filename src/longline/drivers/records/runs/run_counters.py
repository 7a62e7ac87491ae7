"""Counters, fates, events and ends of runs, which every change of tasks writes besides the tasks."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter
from typing import NamedTuple

import orjson

from longline.drivers.records.database import Row, Transaction, TryAgain
from longline.drivers.records.runs.end_effects import add_effects
from longline.drivers.records.runs.end_judgement import end_rules, judged_failure
from longline.model.errors import IllegalMove, NotFound
from longline.model.frontier.task import MAX_REFUSED_URLS, RefusedUrl
from longline.model.runs.cpu_time import shares_of_cpu_time
from longline.model.runs.run import REFUSED
from longline.model.runs.start_page import StartOutcome
from longline.model.search.item import UNINDEXED_KINDS, NewItem
from longline.model.states import ENDED, RUN_ENDED, Move, Noun, RunState, legal, move


class MovedTasks(NamedTuple):
    """A task that went from one rest to another; `was` is None for a task that was just admitted."""

    task_id: int
    run_id: int
    was: str | None
    became: str
    reason: str
    was_reason: str = ""


_SAME_MOVE = itemgetter(1, 2, 3, 4, 5)
"""All of a move but its task."""


def column(state: str | None) -> str | None:
    """Return the run's counter for tasks in this state; None for a task that does not exist yet."""
    if state is None:
        return None
    return state if state in ENDED else "open"


_TASKS = ("admitted", "open", "completed", "failed", "cancelled", "skipped")
_ORDER = (*_TASKS, "indexed", "untitled", "bodiless", "items", "cpu_ms", "last_item")


class RunCounters:
    """The consequences of moves, gathered first and written at the end of the transaction.

    `page_counts` are counts of pages for all runs together.
    """

    def __init__(self) -> None:
        self._counts: defaultdict[int, Counter[str]] = defaultdict(Counter)
        self._fates: Counter[tuple[int, str, str]] = Counter()
        self._moves: defaultdict[int, list[tuple[int, str | None, str, str]]] = defaultdict(list)
        self._events: list[tuple[str | int | None, ...]] = []
        self._listed: defaultdict[str, Counter[tuple[int, str]]] = defaultdict(Counter)
        self._placed: defaultdict[int, list[Sequence[int]]] = defaultdict(list)
        self.page_counts: Counter[str] = Counter()
        self._kept: list[RefusedUrl] = []
        self._memory_mb = 0
        self._done: list[int] = []
        self._ended: list[int] = []

    @property
    def runs(self) -> set[int]:
        """Return the runs that have counts so far."""
        return set(self._counts)

    @property
    def done_runs(self) -> tuple[int, ...]:
        """Return the runs without an open task that are left to the schedulers of their schedules."""
        return tuple(self._done)

    def count_moves(self, moves: Iterable[MovedTasks], *, listed: bool = True) -> None:
        """Count tasks that changed their rest; `listed` ones go into the run's event of this batch."""
        moved = list(moves)
        # Most tasks of a report make the same move.
        for (run_id, was, became, reason, was_reason), number in Counter(map(_SAME_MOVE, moved)).items():
            counts = self._counts[run_id]
            before, after = column(was), column(became)
            if before is None:
                counts["admitted"] += number
            else:
                counts[before] -= number
            counts[after or "open"] += number
            if was in ENDED:
                self._fates[run_id, str(was), was_reason] -= number
            if became in ENDED:
                self._fates[run_id, became, reason] += number
        for task_id, run_id, was, became, reason, _ in moved if listed else ():
            self._moves[run_id].append((task_id, was, became, reason))

    def count_apart(
        self, counts: Mapping[tuple[int, str], int], fate: str = REFUSED, stored: Iterable[RefusedUrl] = ()
    ) -> None:
        """Count URLs that were never admitted, or pages without an item, apart from the sum of a run's URLs.

        `stored` are the refused URLs that are to be stored.
        """
        self._kept += stored
        for (run_id, reason), count in counts.items():
            self._fates[run_id, fate, reason] += count

    def count_items(self, run_id: int, items: Iterable[NewItem]) -> None:
        """Count documents with the run that brought them; an item of a kind in `UNINDEXED_KINDS` is no document."""
        counts = self._counts[run_id]
        for item in items:
            if item.kind not in UNINDEXED_KINDS:
                counts["indexed"] += 1
                counts["untitled"] += not item.title
                counts["bodiless"] += not item.body

    def place_items(self, run_id: int, entries: Sequence[Sequence[int]], more: int) -> None:
        """Give entries the next positions among the items of their run, in this order.

        The run has that many items `more` than before; a number below zero stands for fewer.
        """
        self._placed[run_id] += entries
        self._counts[run_id]["items"] += more
        self._counts[run_id]["last_item"] += len(entries)

    def spent(self, cpu_ms: int, memory_mb: int) -> None:
        """Divide processor time between the runs of this batch by their tasks; note the memory that was in use."""
        self._memory_mb = memory_mb
        tasks = {run_id: len(moves) for run_id, moves in self._moves.items()}
        for run_id, share in shares_of_cpu_time(cpu_ms, tasks).items():
            self._counts[run_id]["cpu_ms"] += share

    def count_listed_move(self, query: str, owner_id: int, was: str | None, became: str) -> None:
        """Count a URL that is listed and went from one rest to another, or is new.

        `query` writes the counts of its list, which are kept by run or by source.
        """
        if was is not None:
            self._listed[query][owner_id, was] -= 1
        self._listed[query][owner_id, became] += 1

    def event(
        self, noun: str, subject: int, name: str, was: str | None, became: str | None, by: tuple[str, str | None]
    ) -> None:
        """Note the event of one change, and the end of a run for the totals; `by` is the actor and the reason."""
        self._events.append((noun, subject, name, was, became, *by, None))
        if noun == "run" and became in RUN_ENDED:
            self._ended.append(subject)

    def created(self, noun: Noun, subject: int, steps: Iterable[str], by: tuple[str, str | None]) -> None:
        """Note the events of a new schedule or run: one for each move that led to its first state."""
        was: str | None = None
        for name in steps:
            became = move(noun, name).became
            self.event(noun, subject, name, was, became, by)
            was = became

    async def write(self, tx: Transaction, actor: str) -> tuple[int, ...]:
        """Write all consequences, and return the runs that ended."""
        runs = sorted(run for run, counts in self._counts.items() if any(counts.values()))
        if len(runs) > 1:
            await tx.batch("lock_runs", [(run,) for run in runs])
        rows = [(run, *(self._counts[run][c] for c in _ORDER), self._memory_mb) for run in runs]
        counted = await tx.batch("count_runs", rows)
        await self._settle_all(tx, counted, actor)
        await tx.batch("place_items", [position for row in counted for position in self._positions(row)])
        # After the runs, for which every report of a run waits: in the other order two reports could deadlock.
        await tx.batch("count_fates", [(*key, n) for key, n in sorted(self._fates.items()) if n])
        await _keep_refused(tx, self._kept)
        for query, counts in sorted(self._listed.items()):
            await tx.batch(query, [(*key, n) for key, n in sorted(counts.items()) if n])
        await tx.batch("add_events", [*self._batches(actor), *self._events])
        # At the end: the reports of all runs wait for the same few rows.
        await tx.batch("total_runs", [(run, 1) for run in sorted(self._ended)])
        await tx.batch("add_tallies", sorted(self.page_counts.items()))
        return tuple(self._ended)

    async def _settle_all(self, tx: Transaction, counted: Sequence[Row], actor: str) -> None:
        """Settle the runs whose last open task may have ended, or that may have been opened again.

        A run that has ended has no open task, so a run with open tasks before and after needs no look at its state.
        """
        edge = [(row["id"],) for row in counted if row["open"] in (0, self._counts[row["id"]]["open"])]
        found = await tx.batch("runs_to_settle", edge)
        # A run that this transaction ended is not in the totals yet.
        closed = (row for row in found if row["state"] in RUN_ENDED and row["id"] not in self._ended)
        await tx.batch("shift_totals", self._shifts(closed))
        for row in found:
            await self.settle(tx, row, actor)

    def _shifts(self, runs: Iterable[Row]) -> list[tuple[str | int | bool, ...]]:
        """Return the changes of the totals by counts in runs that had ended: one row for each row of the totals."""
        shifts: defaultdict[tuple[str, bool, str], Counter[str]] = defaultdict(Counter)
        for run in runs:
            # Not `+=`: the sum of two Counters drops what is negative.
            shifts[run["kind"], bool(run["scheduled"]), run["state"]].update(self._counts[run["id"]])
        return [(*key, *(counts[c] for c in _TASKS[2:])) for key, counts in sorted(shifts.items())]

    def _positions(self, run: Row) -> list[tuple[int, int, str]]:
        """Return the entries of a run's new items with the position of the last, if the run has any."""
        entries = self._placed[run["id"]]
        return [(run["id"], run["last_item"], orjson.dumps(entries).decode())] if entries else []

    def _batches(self, actor: str) -> list[tuple[str | int | None, ...]]:
        return [
            ("run", run, "report", None, None, actor, None, orjson.dumps(moves).decode())
            for run, moves in sorted(self._moves.items())
        ]

    async def settle(self, tx: Transaction, run: Row, actor: str) -> bool:
        """End a run with its last open task, or reopen a run with one of its tasks; return whether the run ended.

        The run of a running schedule is left to its scheduler, which ends the run and moves the schedule together.
        """
        run_id, state, schedule_id = run["id"], run["state"], run["schedule_id"]
        if run["open"] == 0 and state == RunState.RUNNING:
            if schedule_id is not None and await tx.one("schedule_of_run", id=schedule_id, run_id=run_id):
                self._done.append(run_id)
                return False
            return await self._end(tx, run, actor)
        if run["open"] > 0 and state in RUN_ENDED:
            if self._counts[run_id]["admitted"]:
                raise TryAgain(f"run {run_id} ended while it was given URLs")
            await reopen(tx, self, run_id, state, (actor, "a task was opened again"))
        return False

    async def _end(self, tx: Transaction, run: Row, actor: str) -> bool:
        """End a run by its rules, and add the effects of the end; return whether the run ended."""
        run_id, state, completed = run["id"], run["state"], run["completed"]
        rules = await end_rules(tx, run_id)
        end, failure = move("run", "finish"), None
        if run["schedule_id"] is not None and (failure := await start_failure(tx, run_id, completed)) is not None:
            end = move("run", "fail_start")
        elif (failure := await judged_failure(tx, run_id, rules, (run["admitted"], completed))) is not None:
            end = move("run", "fail_judged")
        if await tx.one("end_run", id=run_id, was=state, became=end.became, error=failure) is None:
            return False
        self.event("run", run_id, end.name, state, end.became, (_by(actor, end), failure or "no open tasks"))
        await add_effects(tx, run_id, rules)
        return True


async def lock_runs(tx: Transaction, run_ids: Iterable[int]) -> dict[int, Row]:
    """Lock runs, in one order in all transactions, and return their states and counts under the lock."""
    rows = [(run_id,) for run_id in sorted(run_ids)]
    await tx.batch("lock_runs", rows)
    return {row["id"]: row for row in await tx.batch("runs_to_settle", rows)}


async def reopen(tx: Transaction, counters: RunCounters, run_id: int, state: str, by: tuple[str, str]) -> None:
    """Open a run again that has ended; raise `IllegalMove` for a run that was cancelled. `by` is actor and reason.

    The run must be locked.
    """
    rule, (actor, reason) = move("run", "reopen"), by
    if state not in rule.was:
        raise IllegalMove("run", rule.name, state, legal("run", state))
    free: dict[str, None] = dict.fromkeys(("owner", "lease_until", "error", "token", "lease_seen"))
    await tx.batch("total_runs", [(run_id, -1)])
    if await tx.one("move_run", id=run_id, was=state, became=rule.became, **free) is None:
        raise NotFound("run", run_id)
    counters.event("run", run_id, rule.name, state, rule.became, (_by(actor, rule), reason))


async def _keep_refused(tx: Transaction, refused: Iterable[RefusedUrl]) -> None:
    """Store refused URLs, each once and in one order, after the rows of their runs were locked.

    A run without room for more keeps the places of the URLs that it has, and counts the others.
    """
    once: dict[tuple[int, bytes], RefusedUrl] = {}
    for one in refused:
        key = one.task.run_id, one.task.key
        if key not in once or one.task.depth < once[key].task.depth:
            once[key] = one
    given = Counter(run for run, _ in once)
    sums = await tx.batch("sum_refused", [(run, count, 0) for run, count in sorted(given.items())])
    for row in sums:
        if row["stored"] >= MAX_REFUSED_URLS:
            await _make_room(tx, row["run_id"], row["stored"] - given[row["run_id"]], once)
    rows = [
        (run, key, r.task.host, r.reason, r.task.depth, r.task.hops, r.task.priority, r.task.parent_id, r.task.url)
        for (run, key), r in sorted(once.items())
    ]
    await tx.batch("keep_refused", rows)


async def _make_room(tx: Transaction, run_id: int, before: int, once: dict[tuple[int, bytes], RefusedUrl]) -> None:
    """Remove the new URLs of a run for which there is no room from those to be stored, and count them.

    The sum of a run may be too large: a URL that is refused again counts again. It is counted anew when it reaches the
    bound, but not when hardly any room is left.
    """
    wanted = sorted(key for run, key in once if run == run_id)
    known = {bytes(r["key"]) for r in await tx.batch("known_refused", [(run_id, key) for key in wanted])}
    counted = await tx.one("count_refused", run_id=run_id) if before < MAX_REFUSED_URLS else None
    stored = counted["count"] if counted else MAX_REFUSED_URLS
    new = [key for key in wanted if key not in known]
    room = max(0, MAX_REFUSED_URLS - stored)
    for key in new[room:]:
        del once[run_id, key]
    full = room - len(new) < MAX_REFUSED_URLS // 100
    await tx.batch("sum_refused", [(run_id, 0, len(new[room:]))])
    await tx.one("set_refused_sum", run_id=run_id, stored=MAX_REFUSED_URLS if full else stored + len(new))


async def start_failure(tx: Transaction, run_id: int, fetched: int) -> str | None:
    """Return why the start URL of a run that ends brought no page; None when it did, or when others were fetched."""
    start = await tx.one("start_of_run", run_id=run_id)
    if start is None:
        return None
    last = start
    while last["reason"] == "redirected":
        target = await tx.one("redirect_target", id=last["id"])
        if target is None:
            break
        last = target
    # A redirect without a target led to another site, or to a URL that the run had already.
    if last["reason"] == "redirected" and await tx.one("first_page_of_run", run_id=run_id):
        return None
    empty = bool(last["empty"])
    return StartOutcome(start["url"], last["state"], last["reason"], last["error"], empty).failure(fetched)


def _by(actor: str, rule: Move) -> str:
    """Return the actor of a consequence: upkeep, where the actor of the cause may not make this move."""
    return actor if actor in rule.actors else "upkeep"
