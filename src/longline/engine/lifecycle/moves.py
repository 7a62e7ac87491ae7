"""The only place that moves a schedule, a run or a task.

Every move is looked up in `model/states.py` and written by one guarded change, its event in the same transaction. A
move that is fenced needs the token of the lease; a stale token changes nothing.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from longline.engine.lifecycle.downloads import DownloadLifecycle
from longline.engine.lifecycle.politeness_key import PolitenessKey
from longline.engine.lifecycle.runs import Call, RunLifecycle
from longline.engine.lifecycle.tasks import TaskLifecycle
from longline.model.errors import BadInput, IllegalMove, NotFound, StaleLease
from longline.model.frontier.host import HostLease
from longline.model.frontier.task import NewTask, Outcome
from longline.model.states import IN_HAND, Actor, Move, Noun, ScheduleState, TaskState, is_reachable, legal, move
from longline.ports.records import Records
from longline.ports.records.frontier.frontier import (
    Admitted,
    Change,
    ClaimRequest,
    Current,
    HostSetting,
    ReportBatch,
    Reported,
    TaskLease,
)

MAX_TASKS_PER_TRANSACTION = 2000
"""Largest number of URLs, or hosts, in one transaction: it holds SQLite's one writer, or the event loop."""

MAX_TRIES = 8
"""Largest number of tries of a move when another process moves the same row in between."""

LAPSED_MS = -1
"""Length of a lease that has lapsed when it is given."""

RESTS = frozenset(TaskState) - IN_HAND
AFTER_CLAIM = frozenset(s for s in RESTS if is_reachable("task", TaskState.QUEUED, s, "worker"))
AFTER_TAKE = frozenset(s for s in RESTS if is_reachable("task", TaskState.PARSING, s, "worker"))


def _sum(one: Admitted, other: Admitted) -> Admitted:
    return Admitted(*(a + b for a, b in zip(one, other, strict=True)))


def _with(ahead: Admitted, reported: Reported) -> Reported:
    return msgspec.structs.replace(reported, admitted=_sum(ahead, reported.admitted)) if any(ahead) else reported


class MoveRequest(msgspec.Struct, frozen=True):
    """A move to be made. `token` proves a lease; `owner` and `lease_ms` request a lease.

    With `keep_attempts` the attempts of a task that begins anew are counted on.
    """

    noun: Noun
    subject: int
    move: str
    actor: Actor
    token: int | None = None
    owner: int | None = None
    lease_ms: int | None = None
    lease_seen: int | None = None
    reason: str | None = None
    error: str | None = None
    due: int | None = None
    keep_attempts: bool = False


class Lifecycle:
    """The moves of schedules, runs and tasks, on any records engine.

    `runs` begins runs together with their seeds, `downloads` runs of downloads, and `tasks` moves many tasks at once.
    """

    def __init__(
        self,
        records: Records,
        politeness: PolitenessKey | None = None,
        call_workers: Call | None = None,
        call_schedulers: Call | None = None,
    ) -> None:
        self._call_workers, self._call_schedulers = call_workers, call_schedulers
        self._politeness = politeness or PolitenessKey()
        self._frontier = records.frontier
        self.runs = RunLifecycle(records, self._politeness, call_workers)
        self.downloads = DownloadLifecycle(records, self._politeness, call_workers)
        self.tasks = TaskLifecycle(records, call_workers, call_schedulers)
        self._hands = records.hands
        self._moves = records.moves
        self._schedules = records.schedules

    async def move(self, order: MoveRequest) -> Current:
        """Make one move, or raise `NotFound`, `IllegalMove` or `StaleLease` without any change."""
        seen: Current | None = None
        for _ in range(MAX_TRIES):
            standing = await self._moves.current(order.noun, order.subject)
            if standing is None:
                raise NotFound(order.noun, order.subject)
            if standing == seen and order.move == "finish":
                others = tuple(name for name in legal(order.noun, standing.state, order.actor) if name != order.move)
                raise IllegalMove(order.noun, order.move, f"{standing.state} with open tasks", others)
            seen = standing
            moved = await self._moves.apply(_change(order, standing))
            if moved is not None:
                return moved
        raise StaleLease(f"{order.noun} {order.subject} kept changing while it should {order.move}")

    async def admit(self, tasks: Sequence[NewTask], hosts: Sequence[HostSetting]) -> Admitted:
        """Admit URLs; known URLs are counted and left alone."""
        tasks, hosts = await self._politeness.place(tasks, hosts)
        await self._ensure(hosts)
        admitted = await self._admit(tasks)
        if admitted.new and self._call_workers is not None:
            await self._call_workers()
        return admitted

    async def claim(self, request: ClaimRequest) -> list[HostLease]:
        """Lease hosts that have due work, each with a batch of tasks."""
        return await self._frontier.claim(request)

    async def report(self, batch: ReportBatch, hosts: Sequence[HostSetting] = ()) -> Reported:
        """Write the outcomes of claimed tasks, all or nothing; `hosts` are the hosts of found URLs."""
        _check((o for r in batch.reports for o in r.outcomes), AFTER_CLAIM)
        batch, ahead = await self._admit_ahead(await self._placed(batch, hosts))
        return _with(ahead, await self._called(await self._frontier.report(batch)))

    async def take(self, executor: str, owner: int, limit: int, ttl_ms: int) -> list[TaskLease]:
        """Lease tasks one by one, without their hosts."""
        return await self._hands.take(executor, owner, limit, ttl_ms)

    async def give(
        self, outcomes: Sequence[tuple[int, Outcome]], batch: ReportBatch, hosts: Sequence[HostSetting] = ()
    ) -> Reported:
        """Write the outcomes of taken tasks, each under its own token, all or nothing."""
        _check((o for _, o in outcomes), AFTER_TAKE)
        batch, ahead = await self._admit_ahead(await self._placed(batch, hosts))
        return _with(ahead, await self._called(await self._hands.give(outcomes, batch)))

    async def _called(self, reported: Reported) -> Reported:
        """Call the schedulers of runs that are done; return the result of the report."""
        if reported.done_runs and self._call_schedulers is not None:
            await self._call_schedulers()
        return reported

    async def _placed(self, batch: ReportBatch, hosts: Sequence[HostSetting]) -> ReportBatch:
        """Create missing hosts; return the batch with its new tasks under their politeness keys."""
        if not hosts:
            return batch
        tasks, hosts = await self._politeness.place(batch.admit, hosts)
        await self._ensure(hosts)
        return batch if tasks is batch.admit else msgspec.structs.replace(batch, admit=tasks)

    async def _ensure(self, hosts: Sequence[HostSetting]) -> None:
        for start in range(0, len(hosts), MAX_TASKS_PER_TRANSACTION):
            await self._frontier.ensure_hosts(hosts[start : start + MAX_TASKS_PER_TRANSACTION])

    async def _admit(self, tasks: Sequence[NewTask]) -> Admitted:
        """Admit URLs, in several transactions where they are many, so that others can write in between."""
        total = Admitted(0, 0, 0)
        for start in range(0, len(tasks), MAX_TASKS_PER_TRANSACTION):
            part = await self._frontier.admit(tasks[start : start + MAX_TASKS_PER_TRANSACTION], {})
            total = _sum(total, part)
        return total

    async def _admit_ahead(self, batch: ReportBatch) -> tuple[ReportBatch, Admitted]:
        """Admit most URLs of a large batch before the rest of the batch is written.

        The task that found them is open until then, so its run cannot end in between. When the rest is refused, or
        never written, the page is fetched again, and its URLs are known.
        """
        if len(batch.admit) <= MAX_TASKS_PER_TRANSACTION:
            return batch, Admitted(0, 0, 0)
        # A short budget goes to shallow and urgent URLs first.
        tasks = await asyncio.to_thread(sorted, batch.admit, key=lambda task: (task.depth, task.priority))
        ahead = await self._admit(tasks[:-MAX_TASKS_PER_TRANSACTION])
        return msgspec.structs.replace(batch, admit=tasks[-MAX_TASKS_PER_TRANSACTION:]), ahead

    async def renew(self, owner: int, hosts: Sequence[tuple[int, int]], ttl_ms: int) -> set[int]:
        """Extend host leases; return the hosts still held."""
        return await self._frontier.renew(owner, hosts, ttl_ms) if hosts else set()

    async def renew_taken(self, owner: int, tasks: Sequence[tuple[int, int]], ttl_ms: int) -> set[int]:
        """Extend task leases; return the tasks still held."""
        return await self._hands.renew(owner, tasks, ttl_ms) if tasks else set()

    async def renew_one(self, noun: Noun, subject: int, token: int, ttl_ms: int) -> bool:
        """Extend the lease on a schedule or a run; return False when the lease is no longer held."""
        return await self._moves.renew(noun, subject, token, ttl_ms)

    async def free_run(self, run_id: int, token: int) -> bool:
        """Release a run that goes on later; return False when the run was no longer held."""
        return await self._moves.free("run", run_id, token)

    async def reap(self, limit: int = 500) -> Mapping[str, int]:
        """Take back lapsed leases; return how many, by subject."""
        hosts = await self._frontier.reap(limit)
        offers = await self._hands.reap(limit)
        runs = [await self._lapse("run", *lapsed) for lapsed in await self._moves.lapsed("run", limit)]
        schedules = [await self._lapse("schedule", *lapsed) for lapsed in await self._moves.lapsed("schedule", limit)]
        freed = await self._moves.free_lapsed()
        await self.tasks.apply_priorities(limit)
        return {"hosts": len(hosts), "offers": offers, "runs": sum(runs) + freed, "schedules": sum(schedules)}

    async def release_all(self, owner: int) -> int:
        """Take back at once everything that a dead owner held; return how many leases."""
        hosts = await self._frontier.release_all(owner)
        return hosts + await self._hands.release_all(owner) + await self._moves.release_all(owner)

    async def _lapse(self, noun: Noun, subject: int, deadline: int) -> bool:
        """Move one run or schedule out of `running`, unless its holder renewed the lease in the meantime."""
        standing = await self._moves.current(noun, subject)
        if standing is None or standing.lease_until != deadline:
            return False
        name = "lapse" if noun == "run" or await self._recurs(subject) else "lapse_once"
        order = MoveRequest(
            noun, subject, name, "upkeep", lease_seen=deadline, reason="lease lapsed", error="lease lapsed"
        )
        return await self._moves.apply(_change(order, standing)) is not None

    async def _recurs(self, schedule_id: int) -> bool:
        schedule = await self._schedules.get(schedule_id)
        return schedule is not None and schedule.interval_ms is not None


def check_move(state: str, name: str, actor: Actor) -> str:
    """Return the state that a move of a schedule leads to; raise `IllegalMove` where the table does not allow it."""
    rule = move("schedule", name)
    if state not in rule.was or actor not in rule.actors:
        raise IllegalMove("schedule", name, state, legal("schedule", state, actor))
    return rule.became


def _lease_ms(order: MoveRequest, rule: Move) -> int | None:
    """Return the length of the lease that a move leaves behind; None for a move after which no lease is held."""
    if rule.gives:
        return order.lease_ms
    # A schedule that is handed over still runs, and a running schedule has a deadline: here a past one.
    return LAPSED_MS if rule.noun == "schedule" and rule.became == ScheduleState.RUNNING else None


def _change(order: MoveRequest, standing: Current) -> Change:
    """Return the guarded change for an order; raise when the move is not possible."""
    rule = move(order.noun, order.move)
    if rule.became in IN_HAND and order.noun == "task":
        raise BadInput(f"a task is leased by a claim or a take, not by the single move {order.move}")
    if standing.state not in rule.was or order.actor not in rule.actors:
        raise IllegalMove(order.noun, order.move, standing.state, legal(order.noun, standing.state, order.actor))
    if rule.fenced and order.token != standing.token:
        raise StaleLease(f"cannot {order.move}: the lease on {order.noun} {order.subject} is no longer held")
    if rule.gives and standing.owner is not None:
        raise StaleLease(f"cannot {order.move}: {order.noun} {order.subject} is held by worker {standing.owner}")
    return Change(
        noun=order.noun,
        subject=order.subject,
        move=order.move,
        was=standing.state,
        became=rule.became,
        actor=order.actor,
        reason=order.reason,
        # Guards the row as it was read: the token changes with every claim.
        token=standing.token,
        lease_seen=order.lease_seen,
        owner=order.owner if rule.gives else None,
        lease_ms=_lease_ms(order, rule),
        due=order.due,
        error=order.error,
        keep_attempts=order.keep_attempts,
    )


def _check(outcomes: Iterable[Outcome], allowed: frozenset[TaskState]) -> None:
    for outcome in outcomes:
        if outcome.became not in allowed:
            raise IllegalMove("task", f"bring to {outcome.became}", "in hand", tuple(sorted(allowed)))
