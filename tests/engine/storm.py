"""Actors that make random moves at the same time, and keep the results."""

import random
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from longline.engine.lifecycle.moves import Lifecycle, MoveRequest
from longline.engine.lifecycle.tasks import TaskOrder
from longline.model.errors import IllegalMove, StaleLease
from longline.model.frontier.host import HostLease, HostReport
from longline.model.frontier.task import PARSE, ClaimedTask, NewTask, Outcome
from longline.model.ids import new_id
from longline.model.runs.run import NewRun, RunKind
from longline.model.schedules.schedule import NewSchedule
from longline.model.sources.source import NewSource
from longline.model.states import Noun, TaskState, legal
from longline.ports.records import Records
from longline.ports.records.frontier.frontier import (
    ClaimRequest,
    HostSetting,
    ReportBatch,
    Reported,
    TaskLease,
    WrittenSegment,
)
from longline.testing.clock import FakeClock
from tests.drivers.records.world import page, url

TTL = 30_000
HOSTS = [f"h{i}.example" for i in range(12)]
ENDS = (
    *[TaskState.COMPLETED] * 5,
    TaskState.FAILED,
    TaskState.SKIPPED,
    *[TaskState.PENDING] * 2,
    *[TaskState.DOWNLOADED] * 2,
    TaskState.QUEUED_PARSE,
)
PARSED = (*[TaskState.COMPLETED] * 4, TaskState.FAILED, TaskState.SKIPPED, TaskState.PENDING, TaskState.DOWNLOADED)


@dataclass
class World:
    """The state that all actors share: the nouns, and the results of all calls."""

    clock: FakeClock
    runs: list[int] = field(default_factory=list)
    schedules: list[int] = field(default_factory=list)
    told: dict[str, list[tuple[int, str]]] = field(default_factory=dict)
    """For every accepted report, its outcomes; an empty list for a refused one."""
    segments: dict[str, bool] = field(default_factory=dict)
    leases: Counter[tuple[str, int, int]] = field(default_factory=Counter)
    done: Counter[str] = field(default_factory=Counter)
    admitted: int = 0
    faults: list[str] = field(default_factory=list)

    def answered(self, marker: str, outcomes: Sequence[Outcome], reported: Reported) -> None:
        """Keep the result of a report."""
        said = [] if reported.refused else [(o.task.id, o.became.value) for o in outcomes]
        self.told[marker] = sorted(said)
        self.admitted += reported.admitted.new
        self.done["reports refused" if reported.refused else "reports taken"] += 1


class Actor:
    """A caller of the records with random decisions."""

    def __init__(self, name: str, number: int, records: Records, world: World, seed: str) -> None:
        self.name, self.number, self.world, self.records = name, number, world, records
        self.lifecycle = Lifecycle(records)
        self.random = random.Random(f"{seed}/{name}")
        self._said = 0

    def marker(self) -> str:
        """Return a reason that no other call has."""
        self._said += 1
        return f"{self.name}-{self._said}"

    def found(self, run_id: int, most: int = 5) -> list[NewTask]:
        """Return URLs found on a page; some are known, some are not."""
        amount = self.random.randint(0, most)
        return [
            url(run_id, self.random.choice(HOSTS), f"/{self.random.randint(0, 40)}", due=self.later())
            for _ in range(amount)
        ]

    def later(self) -> int:
        """Return a due time, mostly at once."""
        return 0 if self.random.random() < 0.8 else self.world.clock.now() + self.random.randint(1, 2 * TTL)

    async def step(self) -> None:
        """Make one random call."""
        chosen: Callable[[], Awaitable[None]] = self.random.choice(self.ways())
        self.world.done[chosen.__name__] += 1
        await chosen()

    def ways(self) -> Sequence[Callable[[], Awaitable[None]]]:
        """Return the possible calls; an entry that occurs twice is twice as likely."""
        raise NotImplementedError

    async def refused(self, what: str, attempt: Awaitable[object]) -> None:
        """Make a call that must be refused."""
        try:
            answer = await attempt
        except StaleLease:
            return
        if answer is False or answer == set() or (isinstance(answer, Reported) and answer.refused):
            return
        self.world.faults.append(f"{self.name}: {what} was not refused: {answer}")

    async def stale_again(self) -> None:
        """Try every call under leases that are certainly lost."""


class Worker(Actor):
    """A worker that claims hosts and reports; it stalls, repeats itself, and is taken for dead."""

    held: list[HostLease]
    old: list[HostLease]

    def __init__(self, *args: object) -> None:
        super().__init__(*args)  # type: ignore[arg-type]
        self.held, self.old = [], []

    def ways(self) -> Sequence[Callable[[], Awaitable[None]]]:
        return (self.claim, self.claim, self.report, self.report, self.report, self.renew, self.say_again, self.forget)

    async def claim(self) -> None:
        for lease in await self.lifecycle.claim(
            ClaimRequest(self.number, self.random.randint(1, 4), self.random.randint(1, 10), TTL)
        ):
            self.world.leases["host", lease.host_id, lease.token] += 1
            self.held.append(lease)

    async def report(self) -> None:
        if not self.held:
            return await self.claim()
        lease = self.held.pop(self.random.randrange(len(self.held)))
        batch, marker, outcomes = await self._batch(lease)
        reported = await self._send(batch, marker, outcomes)
        if reported.gone and not reported.stale:
            kept = [o for o in outcomes if o.task.id not in reported.gone]
            lease_only = HostReport(lease.host_id, lease.token, (), release=True)
            await self._send(ReportBatch(reports=[lease_only]), self.marker(), [])
            self.world.done["tasks kept after a refusal"] += len(kept)
            self.old.append(lease)
        elif reported.refused or batch.reports[0].release:
            self.old.append(lease)
        else:
            spoken = {o.task.id for o in outcomes} | {t.id for t in batch.reports[0].unstarted}
            left = tuple(t for t in lease.tasks if t.id not in spoken)
            self.held.append(_with_tasks(lease, left))
        return None

    async def _batch(self, lease: HostLease) -> tuple[ReportBatch, str, list[Outcome]]:
        marker, outcomes, unstarted = self.marker(), [], []
        pages = self.random.random() < 0.3
        for task in lease.tasks:
            if self.random.random() < 0.15:
                unstarted.append(task)
            elif self.random.random() < 0.9:
                outcomes.append(self._outcome(task, marker, pages))
        release = self.random.random() < 0.7
        not_before = self.world.clock.now() + self.random.choice((0, 0, 500, TTL))
        said = HostReport(lease.host_id, lease.token, tuple(outcomes), tuple(unstarted), not_before, release)
        admit = [found for task in lease.tasks[:2] for found in self.found(task.run_id)]
        segment = await self._segment(marker) if any(o.page for o in outcomes) else None
        return ReportBatch([said], admit, {}, segment), marker, outcomes

    def _outcome(self, task: ClaimedTask, marker: str, pages: bool) -> Outcome:
        became = self.random.choice(ENDS)
        kept = page() if pages and became in (TaskState.COMPLETED, TaskState.DOWNLOADED) else None
        return Outcome(task, became, marker, self.world.clock.now(), 200, self.later(), None, kept)

    async def _segment(self, marker: str) -> WrittenSegment:
        return WrittenSegment(await self.records.segments.begin(marker, self.number), 1, 1)

    async def _send(self, batch: ReportBatch, marker: str, outcomes: Sequence[Outcome]) -> Reported:
        hosts = [HostSetting(task.host, 1000, 1) for task in batch.admit]
        reported = await self.lifecycle.report(batch, hosts)
        self.world.answered(marker, outcomes, reported)
        if batch.segment is not None:
            self.world.segments[marker] = not reported.refused
        return reported

    async def renew(self) -> None:
        kept = await self.lifecycle.renew(self.number, [(x.host_id, x.token) for x in self.held], TTL)
        lost = [lease for lease in self.held if lease.host_id not in kept]
        # A lost lease may still be reported under until the reaper releases it.
        if self.random.random() < 0.5:
            self.held = [lease for lease in self.held if lease not in lost]
            self.world.done["leases lost"] += len(lost)

    async def say_again(self) -> None:
        """Report under a lease that was released."""
        if self.old:
            await self._stale(self.random.choice(self.old))

    async def _stale(self, lease: HostLease) -> None:
        batch, marker, outcomes = await self._batch(lease)
        self.world.done["stale reports"] += 1
        await self.refused("a stale report", self._send(batch, marker, outcomes))

    async def forget(self) -> None:
        """Stall: neither report nor renew a lease, so that it lapses."""
        if self.random.random() < 0.3 and self.held:
            self.held.pop()

    async def stale_again(self) -> None:
        for lease in self.random.sample(self.old, min(3, len(self.old))):
            said = HostReport(lease.host_id, lease.token, tuple(self._outcome(t, "stale", False) for t in lease.tasks))
            await self.refused("a stale report", self.lifecycle.report(ReportBatch([said], refused={(1, "stale"): 1})))
            back = HostReport(lease.host_id, lease.token, (), lease.tasks, 10**15, True)
            await self.refused("a stale release", self.lifecycle.report(ReportBatch([back])))
            held = [(lease.host_id, lease.token)]
            await self.refused("a stale renewal", self.lifecycle.renew(self.number, held, TTL))


def _with_tasks(lease: HostLease, tasks: tuple[ClaimedTask, ...]) -> HostLease:
    return HostLease(
        lease.host_id,
        lease.host,
        lease.token,
        lease.until,
        lease.delay_ms,
        lease.concurrency,
        lease.not_before,
        tasks,
    )


class Parser(Actor):
    """A parser that takes pages one by one and gives them back; sometimes twice."""

    def __init__(self, *args: object) -> None:
        super().__init__(*args)  # type: ignore[arg-type]
        self.held: list[TaskLease] = []
        self.old: list[TaskLease] = []

    def ways(self) -> Sequence[Callable[[], Awaitable[None]]]:
        return (self.take, self.take, self.give, self.give, self.renew, self.say_again, self.forget)

    async def take(self) -> None:
        for lease in await self.lifecycle.take(PARSE, self.number, self.random.randint(1, 8), TTL):
            self.world.leases["task", lease.task.id, lease.token] += 1
            self.held.append(lease)

    async def give(self) -> None:
        if not self.held:
            return await self.take()
        self.random.shuffle(self.held)
        some, self.held = self.held[:6], self.held[6:]
        if (await self._send(some)).refused:
            # None was accepted; each is sent alone.
            for lease in some:
                await self._send([lease])
        self.old += some
        return None

    async def _send(self, leases: Sequence[TaskLease]) -> Reported:
        marker = self.marker()
        given = [(x.token, self._outcome(x.task, marker)) for x in leases]
        found = self.found(leases[0].task.run_id)
        hosts = [HostSetting(task.host, 1000, 1) for task in found]
        reported = await self.lifecycle.give(given, ReportBatch(admit=found), hosts)
        self.world.answered(marker, [outcome for _, outcome in given], reported)
        return reported

    def _outcome(self, task: ClaimedTask, marker: str) -> Outcome:
        return Outcome(task, self.random.choice(PARSED), marker, self.world.clock.now(), 200, self.later())

    async def renew(self) -> None:
        await self.lifecycle.renew_taken(self.number, [(x.task.id, x.token) for x in self.held], TTL)

    async def say_again(self) -> None:
        if self.old:
            self.world.done["stale gives"] += 1
            await self.refused("a stale give", self._send([self.random.choice(self.old)]))

    async def forget(self) -> None:
        if self.random.random() < 0.3 and self.held:
            self.held.pop()

    async def stale_again(self) -> None:
        for lease in self.random.sample(self.old, min(3, len(self.old))):
            outcome = self._outcome(lease.task, "stale")
            await self.refused("a stale give", self.lifecycle.give([(lease.token, outcome)], ReportBatch()))
            held = [(lease.task.id, lease.token)]
            await self.refused("a stale renewal", self.lifecycle.renew_taken(self.number, held, TTL))


class Person(Actor):
    """A person who pauses, resumes, cancels, restarts and parses again, and makes and cancels runs and schedules."""

    def ways(self) -> Sequence[Callable[[], Awaitable[None]]]:
        many = (self.move_tasks, self.move_tasks, self.prioritize)
        return (
            *[self.move_task] * 6,
            *many,
            self.move_run,
            self.move_schedule,
            self.move_schedule,
            self.make,
            self.admit,
        )

    async def move_task(self) -> None:
        tasks = await self.records.tasks.find(limit=1, after=self.random.randint(0, max(1, self.world.admitted)) - 1)
        if tasks:
            await self.try_move("task", tasks[0].id, ("pause", "resume", "cancel", "restart", "reparse"))

    async def some_tasks(self) -> list[int]:
        after = self.random.randint(0, max(1, self.world.admitted)) - 1
        tasks = [task.id for task in await self.records.tasks.find(limit=20, after=after)]
        self.random.shuffle(tasks)
        return tasks

    async def move_tasks(self) -> None:
        """Make the same move of many tasks; it is legal for some of them."""
        name = self.random.choice(("pause", "resume", "resume", "cancel", "restart", "restart", "reparse"))
        ids = (await self.some_tasks())[: 3 if name == "cancel" else 20]
        order = TaskOrder(name, due=self.later() or None, keep_attempts=self.random.random() < 0.5)
        for result in await self.lifecycle.tasks.move_all(order, ids):
            self.world.done[f"tasks {name}" if result.became else "moves refused"] += 1

    async def prioritize(self) -> None:
        changed = await self.lifecycle.tasks.prioritize_all(await self.some_tasks(), self.random.randint(1, 9))
        self.world.done["priorities"] += len(changed)

    async def move_run(self) -> None:
        if self.world.runs and self.random.random() < 0.2:
            await self.try_move("run", self.random.choice(self.world.runs), ("cancel",))

    async def move_schedule(self) -> None:
        if self.world.schedules:
            moves = ("place", "pause", "resume", "force_run", "retry", "cancel")
            await self.try_move("schedule", self.random.choice(self.world.schedules), moves)

    async def try_move(self, noun: Noun, subject: int, moves: Sequence[str]) -> None:
        """Make a move that is mostly legal now; another actor may make it illegal."""
        standing = await self.records.moves.current(noun, subject)
        assert standing is not None
        fitting = [name for name in legal(noun, standing.state, "person") if name in moves]
        name = self.random.choice(fitting) if fitting and self.random.random() < 0.9 else self.random.choice(moves)
        if "resume" in fitting and self.random.random() < 0.5:
            name = "resume"
        if name == "cancel" and self.random.random() < 0.6:
            return
        try:
            await self.lifecycle.move(MoveRequest(noun, subject, name, "person", due=self.later() or None))
            self.world.done[f"{noun} {name}"] += 1
        except (IllegalMove, StaleLease):
            self.world.done["moves refused"] += 1

    async def make(self) -> None:
        if len(self.world.runs) < 40:
            budget = self.random.choice((None, None, 40))
            shop = await self.records.sources.add(NewSource("shop", "https://a.example", budget=250))
            source_id = self.random.choice((None, None, shop.id))
            run = await self.records.runs.add(NewRun(new_id(), RunKind.CRAWL, "{}", source_id=source_id, budget=budget))
            self.world.runs.append(run.id)
        if len(self.world.schedules) < 10:
            interval = self.random.choice((None, 60_000))
            schedule = await self.records.schedules.add(
                NewSchedule(new_id(), "https://a.example/", interval_ms=interval)
            )
            self.world.schedules.append(schedule.id)

    async def admit(self) -> None:
        if self.world.runs:
            found = self.found(self.random.choice(self.world.runs), 30)
            admitted = await self.lifecycle.admit(found, [HostSetting(task.host, 1000, 1) for task in found])
            self.world.admitted += admitted.new


class Scheduler(Actor):
    """A scheduler that starts schedules and runs under leases, and ends them with the token; sometimes too late."""

    def __init__(self, *args: object) -> None:
        super().__init__(*args)  # type: ignore[arg-type]
        self.held: list[tuple[Noun, int, int]] = []
        self.old: list[tuple[Noun, int, int]] = []

    def ways(self) -> Sequence[Callable[[], Awaitable[None]]]:
        return (*[self.start] * 3, self.end, self.end, self.renew, self.let_go, self.say_again)

    async def start(self) -> None:
        noun: Noun = self.random.choice(("run", "schedule"))
        things = self.world.runs if noun == "run" else self.world.schedules
        if things:
            subject = self.random.choice(things)
            name = "start" if noun == "schedule" else self.random.choice(("start", "start", "adopt"))
            order = MoveRequest(noun, subject, name, "scheduler", owner=self.number, lease_ms=TTL)
            try:
                standing = await self.lifecycle.move(order)
            except (IllegalMove, StaleLease):
                return
            self.world.leases[noun, subject, standing.token] += 1
            self.held.append((noun, subject, standing.token))

    async def end(self) -> None:
        if self.held:
            noun, subject, token = self.held.pop(0)
            ends = {"run": ("fail", "interrupt"), "schedule": ("succeed", "fail", "retry_later", "interrupt")}[noun]
            if noun == "run" and self.random.random() < 0.85:
                await self.lifecycle.free_run(subject, token)
            else:
                await self._order(MoveRequest(noun, subject, self.random.choice(ends), "worker", token=token))
                if noun == "schedule" and self.random.random() < 0.7:
                    await self._order(MoveRequest(noun, subject, "recur", "scheduler"))
            self.old.append((noun, subject, token))

    async def _order(self, order: MoveRequest) -> None:
        try:
            await self.lifecycle.move(order)
        except (IllegalMove, StaleLease):
            self.world.done["moves refused"] += 1

    async def renew(self) -> None:
        for noun, subject, token in self.held[:2]:
            await self.lifecycle.renew_one(noun, subject, token, TTL)

    async def let_go(self) -> None:
        if self.held and self.random.random() < 0.3:
            self.held.pop()

    async def say_again(self) -> None:
        if self.old:
            await self._stale(*self.random.choice(self.old))

    async def _stale(self, noun: Noun, subject: int, token: int) -> None:
        self.world.done["stale moves"] += 1
        try:
            await self.lifecycle.move(MoveRequest(noun, subject, "fail", "worker", token=token, reason="stale"))
        except (StaleLease, IllegalMove):
            pass
        else:
            self.world.faults.append(f"{self.name}: a stale move of {noun} {subject} was not refused")
        await self.refused("a stale renewal", self.lifecycle.renew_one(noun, subject, token, TTL))
        if noun == "run":
            await self.refused("a stale letting go", self.lifecycle.free_run(subject, token))

    async def stale_again(self) -> None:
        for held in self.random.sample(self.old, min(3, len(self.old))):
            await self._stale(*held)


class Upkeep(Actor):
    """The upkeep, which lets time pass, releases lapsed leases, and takes living workers for dead."""

    def ways(self) -> Sequence[Callable[[], Awaitable[None]]]:
        return (*[self.pass_time] * 3, *[self.reap] * 3, self.bury)

    async def pass_time(self) -> None:
        self.world.clock.advance(self.random.choice((0.1, 0.1, 1, 1, 1, 5, 5, TTL / 2000, TTL / 1000 + 1)))

    async def reap(self) -> None:
        for what, amount in (await self.lifecycle.reap(50)).items():
            self.world.done[f"{what} reaped"] += amount

    async def bury(self) -> None:
        if self.random.random() < 0.2:
            self.world.done["disowned"] += await self.lifecycle.release_all(self.random.randint(1, 12))
