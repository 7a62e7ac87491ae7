"""Bots, their schedules and their tasks. `BotTaskStore` writes states and is for `engine/lifecycle/moves.py` alone."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from longline.model.bots.bot import (
    AnswerVerdict,
    BotActivity,
    BotAnswer,
    BotPolicyRow,
    BotRow,
    BotTaskRow,
    BotTotals,
    Deletion,
    NewBot,
    NewBotPolicy,
    NewBotTask,
    Planned,
    PolicyStats,
    Pull,
    Pulled,
    Repair,
    ResultFilter,
    ResultRow,
    ScheduleFilter,
    Swept,
    TaskFilter,
)
from longline.model.bots.rate_limit import TokenBucket
from longline.ports.records.frontier import HostSetting


class BotStore(Protocol):
    """Remembers bots and what they found."""

    async def register(self, bot: NewBot) -> BotRow | None:
        """Register a bot; None when one of that name is registered."""
        ...

    async def get(self, names: Sequence[str]) -> dict[str, BotRow]:
        """Those of these bots that are known, registered or not."""
        ...

    async def find(self, *, registered: bool = True, limit: int = 50, offset: int = 0) -> list[BotRow]:
        """Bots by name."""
        ...

    async def change(self, bot: NewBot) -> BotRow | None:
        """Write a bot anew, all but its figures; None when there is none of that name."""
        ...

    async def reset(self, name: str) -> BotRow | None:
        """Set a bot's figures to zero."""
        ...

    async def activity(self, since: int, limit: int = 200) -> list[BotActivity]:
        """What bots did, the latest first; the hour of `since` and later ones are summed up."""
        ...

    async def totals(self, since: int) -> BotTotals:
        """Return the sums over all bots of the hour of `since` and later ones."""
        ...

    async def spend(self, times: Mapping[int, int]) -> dict[int, TokenBucket]:
        """Count how often bots come, by their ids; what became of it, for those whose pace is limited."""
        ...

    async def forget_answers(self, before: int) -> None:
        """Let go of the answers that were kept for repeats before this time."""
        ...


class BotPolicyStore(Protocol):
    """Remembers schedules for bots, and the URLs that a domain's schedule is spread over."""

    async def add(self, schedule: NewBotPolicy) -> BotPolicyRow | None:
        """Make a schedule; None when the URL, or the name within the domain, is taken."""
        ...

    async def get(self, uid: str) -> BotPolicyRow | None:
        """One schedule."""
        ...

    async def find(self, wanted: ScheduleFilter, *, limit: int = 50, offset: int = 0) -> list[BotPolicyRow]:
        """Schedules, newest first."""
        ...

    async def change(self, schedule: BotPolicyRow) -> bool:
        """Write a schedule anew, all but its state and outcomes; False when URL or name are taken."""
        ...

    async def figures(self) -> PolicyStats:
        """How the schedules stand, all together."""
        ...

    async def learn(self, urls: Sequence[tuple[str, str]]) -> int:
        """Remember (host, URL) pairs; how many were new."""
        ...


class BotOverviewStore(Protocol):
    """Looks up bots' tasks and results."""

    async def tasks(self, wanted: TaskFilter, *, limit: int = 50, offset: int = 0) -> list[BotTaskRow]:
        """Tasks, newest first."""
        ...

    async def task(self, task_id: int) -> BotTaskRow | None:
        """One task."""
        ...

    async def results(self, wanted: ResultFilter, *, limit: int = 50, offset: int = 0) -> list[ResultRow]:
        """Results, newest first."""
        ...

    async def result(self, *, uid: str | None = None, task_id: int | None = None) -> ResultRow | None:
        """One result, by its own id or by its task's."""
        ...

    async def states(self) -> dict[str, int]:
        """How many tasks of bots stand where."""
        ...

    async def retries(self) -> dict[int, int]:
        """How many tasks were tried again how often."""
        ...


class BotTaskStore(Protocol):
    """Hands tasks to bots and takes their answers. Each call is one transaction."""

    async def pull(self, pulls: Sequence[Pull]) -> list[Pulled]:
        """Lease tasks for all who came together, best priority first, then the oldest."""
        ...

    async def submit(self, answers: Sequence[BotAnswer], keep_ms: int) -> list[AnswerVerdict]:
        """Take answers, each on its own merits, all in one commit; no task may be among them twice."""
        ...

    async def extend(self, task_id: int, created_at: int, bot: str) -> AnswerVerdict:
        """Let a lease run anew from now, for as long as it did at first."""
        ...

    async def sweep(self, limit: int, *, retry: bool, dry: bool) -> Swept:
        """Move tasks whose lease lapsed out of the hand; `dry` only says what would happen."""
        ...

    async def repair(self, tasks: Sequence[tuple[int, int]], repair: Repair) -> int:
        """Move tasks, each (id, creation time), because a person says so; how many were moved."""
        ...

    async def delete(self, task_id: int, created_at: int) -> Deletion | None:
        """Delete a task that no bot holds, and its result; None when there is no such task."""
        ...

    async def add(self, tasks: Sequence[NewBotTask], hosts: Sequence[HostSetting]) -> list[int]:
        """Make tasks of no schedule; their ids."""
        ...

    async def plan(self, limit: int, delay_ms: int, *, dry: bool) -> Planned:
        """Make a task for each due schedule that has no open one."""
        ...

    async def drop(self, uid: str) -> list[str] | None:
        """Forget a schedule and its results, cancelling what is open; the keys of their pages, or None."""
        ...
