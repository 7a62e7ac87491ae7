"""Bots, their schedules and their tasks. `BotTaskStore` writes states and is for `engine/lifecycle/` alone."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from longline.model.bots.bot import BotActivity, BotRow, BotTotals, NewBot
from longline.model.bots.bot_policy import BotPolicyRow, NewBotPolicy, Planned, PolicyFilter, PolicyStats
from longline.model.bots.bot_task import (
    AnswerVerdict,
    BotAnswer,
    BotTaskRow,
    Deletion,
    NewBotTask,
    Pull,
    Pulled,
    Repair,
    ResultFilter,
    ResultRow,
    Swept,
    TaskFilter,
)
from longline.model.states import Actor
from longline.model.token_bucket import TokenBucket
from longline.ports.records.frontier.frontier import HostSetting


class BotStore(Protocol):
    """Bots and their figures."""

    async def register(self, bot: NewBot) -> BotRow | None:
        """Register a bot; return None when the name is registered."""
        ...

    async def get(self, names: Sequence[str]) -> dict[str, BotRow]:
        """Return the known bots among these names, registered or not."""
        ...

    async def find(self, *, registered: bool = True, limit: int = 50, offset: int = 0, after: str = "") -> list[BotRow]:
        """Return bots by name; `after` continues a list behind a name."""
        ...

    async def change(self, bot: NewBot) -> BotRow | None:
        """Replace a bot's row except its figures; return None for an unknown name."""
        ...

    async def reset(self, name: str) -> BotRow | None:
        """Set a bot's figures to zero."""
        ...

    async def activity(self, since: int, limit: int = 200) -> list[BotActivity]:
        """Return the figures of bots, latest first, summed over the hour of `since` and later hours."""
        ...

    async def totals(self, since: int) -> BotTotals:
        """Return the sums over all bots of the hour of `since` and later hours."""
        ...

    async def spend(self, times: Mapping[int, int]) -> dict[int, TokenBucket]:
        """Charge requests of bots, by bot id, to token buckets; return the buckets of bots with a limited pace."""
        ...

    async def forget_answers(self, before: int) -> None:
        """Delete the answers kept for repeated submissions before this time."""
        ...


class BotPolicyStore(Protocol):
    """Schedules for bots, and the URLs that a domain's schedule is spread over."""

    async def add(self, schedule: NewBotPolicy, actor: Actor = "person") -> BotPolicyRow | None:
        """Make a schedule, and its event; return None when the URL, or the name within the domain, is taken."""
        ...

    async def get(self, uid: str) -> BotPolicyRow | None:
        """Return one schedule."""
        ...

    async def find(self, wanted: PolicyFilter, *, limit: int = 50, offset: int = 0) -> list[BotPolicyRow]:
        """Return schedules, newest first."""
        ...

    async def change(self, schedule: BotPolicyRow) -> bool:
        """Replace a schedule's row except its state and outcomes; return False when URL or name are taken."""
        ...

    async def figures(self) -> PolicyStats:
        """Return figures over all schedules."""
        ...

    async def add_urls(self, urls: Sequence[tuple[str, str]]) -> int:
        """Save (host, URL) pairs; return the number of new pairs."""
        ...


class BotOverviewStore(Protocol):
    """Tasks and results of bots, for reading."""

    async def tasks(self, wanted: TaskFilter, *, limit: int = 50, offset: int = 0) -> list[BotTaskRow]:
        """Return tasks, newest first."""
        ...

    async def task(self, task_id: int) -> BotTaskRow | None:
        """Return one task."""
        ...

    async def results(self, wanted: ResultFilter, *, limit: int = 50, offset: int = 0) -> list[ResultRow]:
        """Return results, newest first."""
        ...

    async def newest_results(self, *, before: str | None = None, limit: int = 50) -> list[ResultRow]:
        """Return results, newest first, from behind the one with this id."""
        ...

    async def result(self, *, uid: str | None = None, task_id: int | None = None) -> ResultRow | None:
        """Return one result, by its own id or by its task's."""
        ...

    async def states(self) -> dict[str, int]:
        """Return the number of bot tasks in each state."""
        ...

    async def retries(self) -> dict[int, int]:
        """Return the number of bot tasks for each number of retries."""
        ...


class BotTaskStore(Protocol):
    """The queue of bot tasks: leases and answers. Each call is one transaction."""

    async def pull(self, pulls: Sequence[Pull]) -> list[Pulled]:
        """Lease tasks for a batch of pulls, best priority first, then oldest."""
        ...

    async def submit(self, answers: Sequence[BotAnswer], keep_ms: int) -> list[AnswerVerdict]:
        """Write answers in one commit, each judged by itself; a task may appear only once."""
        ...

    async def extend(self, task_id: int, created_at: int, bot: str) -> AnswerVerdict:
        """Renew a lease from now, for its original duration."""
        ...

    async def sweep(self, limit: int, *, retry: bool, dry: bool) -> Swept:
        """Take lapsed tasks back from their bots; with `dry` only return the counts."""
        ...

    async def repair(self, tasks: Sequence[tuple[int, int]], repair: Repair) -> list[int]:
        """Move tasks, each (id, creation time), at a person's request; return the ids of the moved ones."""
        ...

    async def delete(self, task_id: int, created_at: int) -> Deletion | None:
        """Delete a task that no bot holds, and its result; return None for an unknown task."""
        ...

    async def add(self, tasks: Sequence[NewBotTask], hosts: Sequence[HostSetting]) -> list[int]:
        """Make tasks without a schedule; return their ids."""
        ...

    async def plan(self, limit: int, delay_ms: int, *, dry: bool) -> Planned:
        """Make a task for each due schedule without an open task."""
        ...

    async def drop(self, uid: str) -> list[str] | None:
        """Delete a schedule and its results, cancel its open tasks; return the keys of their pages, or None."""
        ...
