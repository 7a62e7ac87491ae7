"""Seeding: runs that nobody holds, begun with URLs that we found ourselves."""

import asyncio
from collections.abc import Iterable

import msgspec

from longline.engine.frontier.admit import seed
from longline.engine.frontier.standing_runs import StandingRuns
from longline.engine.lifecycle.moves import Lifecycle, MoveRequest
from longline.model.frontier.standing_frontier import SCOPE, host_of, url_hash
from longline.model.frontier.task import NewTask, TaskRow
from longline.model.ids import new_id
from longline.model.runs.bounds import Bounds, bounds_of
from longline.model.runs.plan import CrawlPlan
from longline.model.runs.run import NewRun, RunRow
from longline.model.url import BadUrl, Url, parse
from longline.ports.records.frontier import HostSetting, TaskStore
from longline.ports.records.runs import RunStore

MOST_TASKS = 1000
"""No run that was begun here has more to look through."""


class RunToMake(msgspec.Struct, frozen=True):
    """A run to be made: its kind says what for, and `plan` how its URLs are fetched."""

    kind: str
    plan: CrawlPlan
    source_id: int | None


class Seeder:
    """Begins runs, and looks up how they went."""

    def __init__(self, lifecycle: Lifecycle, runs: RunStore, tasks: TaskStore, standing: StandingRuns) -> None:
        self._lifecycle, self._runs, self._tasks, self._standing = lifecycle, runs, tasks, standing

    async def ask(self, wanted: RunToMake) -> int:
        """Fetch the seeds of the plan, whether or not they were fetched before; the run."""
        for url in wanted.plan.seeds:
            parse(url)  # a run is begun only for what can be fetched
        run = await self._begin(wanted)
        seeds = [seed(url, run.id, wanted.plan) for url in wanted.plan.seeds]
        await self._lifecycle.admit([task for task, _ in seeds], [host for _, host in seeds])
        return run.id

    async def feed(
        self, kind: str, source_id: int, urls: Iterable[str], priority: int, hosts: tuple[str, ...] = ()
    ) -> int:
        """Give the URLs to the standing frontier, where each is fetched once; how many were new there.

        What is no URL of ours, or is on none of the hosts where there are any, is left out.
        """
        run_id, plan = await self._standing.of(kind, source_id)
        bounds = bounds_of(msgspec.structs.replace(plan, hosts=hosts))
        due = self._standing.due

        def tasks_of_urls() -> list[NewTask]:
            found = (url for text in urls if (url := _within(text, bounds)))
            return [
                NewTask(url.href, host_of(url), url_hash(url.href), SCOPE, run_id, priority=priority, due=due)
                for url in found
            ]

        # A sitemap may list fifty thousand.
        tasks = await asyncio.to_thread(tasks_of_urls)
        polite = [HostSetting(host, plan.delay_ms, plan.concurrency) for host in {task.host for task in tasks}]
        return (await self._lifecycle.admit(tasks, polite)).new if tasks else 0

    async def tasks_of(self, run_id: int) -> list[TaskRow]:
        """The tasks of a run in the order of its seeds; those that redirects led to come last, and stand for them."""
        run = await self._runs.get(run_id)
        if run is None:
            return []
        order = {url: place for place, url in enumerate(CrawlPlan.read(run.plan).seeds)}
        found = [
            task for task in await self._tasks.find(run_id=run_id, limit=MOST_TASKS) if task.reason != "redirected"
        ]
        return sorted(found, key=lambda task: (order.get(task.url, len(order)), task.id))

    async def _begin(self, wanted: RunToMake) -> RunRow:
        plan = wanted.plan
        run = await self._runs.add(
            NewRun(new_id(), wanted.kind, plan.text(), plan.seeds[0], source_id=wanted.source_id)
        )
        await self._lifecycle.move(MoveRequest("run", run.id, "start", "planner", reason=wanted.kind))
        return run


def _within(text: str, bounds: Bounds) -> Url | None:
    try:
        url = parse(text)
    except BadUrl:
        return None
    return url if bounds.refusal(url) is None else None
