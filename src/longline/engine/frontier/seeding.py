"""Seeding: runs without a holder, begun with URLs that the engine found."""

import asyncio
from collections.abc import Iterable

import msgspec

from longline.engine.frontier.admission import seed
from longline.engine.frontier.standing_runs import StandingRuns
from longline.engine.lifecycle.moves import Lifecycle
from longline.model.frontier.standing_frontier import SCOPE, host_of, url_hash
from longline.model.frontier.task import NewTask, TaskRow
from longline.model.ids import new_id
from longline.model.runs.crawl_bounds import Bounds, bounds_of
from longline.model.runs.crawl_plan import CrawlPlan
from longline.model.runs.run import NewRun, RunKind
from longline.model.urls.url import BadUrl, Url, parse
from longline.ports.records.frontier.frontier import HostSetting, TaskStore
from longline.ports.records.runs.runs import RunStore

MAX_TASKS = 1000
"""Largest number of tasks that are read of one run; no run of a seeder has more."""


NO_RUN_ID = 0
"""Run of seeds whose run is made together with them."""


class RunToMake(msgspec.Struct, frozen=True):
    """A run to be made: `kind` is its purpose, and `plan` says how its URLs are fetched."""

    kind: RunKind
    plan: CrawlPlan
    source_id: int | None


class Seeder:
    """A service that begins runs and returns their tasks."""

    def __init__(self, lifecycle: Lifecycle, runs: RunStore, tasks: TaskStore, standing: StandingRuns) -> None:
        self._lifecycle, self._runs, self._tasks, self._standing = lifecycle, runs, tasks, standing

    async def ask(self, wanted: RunToMake) -> int:
        """Begin a run of the plan's seeds, whether or not they were fetched before; return its id."""
        plan = wanted.plan
        run = NewRun(new_id(), wanted.kind, plan.text(), plan.seeds[0], source_id=wanted.source_id)
        return await self._lifecycle.runs.begin(run, [seed(url, NO_RUN_ID, plan) for url in plan.seeds], wanted.kind)

    async def feed(
        self, kind: RunKind, source_id: int, urls: Iterable[str], priority: int, hosts: tuple[str, ...] = ()
    ) -> int:
        """Admit URLs to the standing frontier, where each is fetched once; return how many were new.

        Invalid URLs, URLs out of the plan's bounds and, with `hosts`, URLs on other hosts are left out.
        """
        tasks, polite = await self.standing_tasks(kind, source_id, urls, priority, hosts)
        return (await self._lifecycle.admit(tasks, polite)).new if tasks else 0

    async def standing_tasks(
        self, kind: RunKind, source_id: int, urls: Iterable[str], priority: int, hosts: tuple[str, ...] = ()
    ) -> tuple[list[NewTask], list[HostSetting]]:
        """Return URLs as tasks of the standing frontier, with the settings of their hosts; see `feed`."""
        run_id, plan = await self._standing.of(kind, source_id)
        bounds = bounds_of(msgspec.structs.replace(plan.bounds, hosts=hosts))
        due = self._standing.due

        def tasks_of_urls() -> list[NewTask]:
            found = (url for text in urls if (url := _within(text, bounds)))
            return [
                NewTask(url.href, host_of(url), url_hash(url.href), SCOPE, run_id, priority=priority, due=due)
                for url in found
            ]

        # In a thread: a sitemap may list fifty thousand URLs.
        tasks = await asyncio.to_thread(tasks_of_urls)
        politeness, found = plan.politeness, {task.host for task in tasks}
        return tasks, [HostSetting(host, politeness.delay_ms, politeness.concurrency) for host in found]

    async def tasks_of(self, run_id: int) -> list[TaskRow]:
        """Return the tasks of a run in the order of its seeds; redirect targets come last, in place of their seeds."""
        run = await self._runs.get(run_id)
        if run is None:
            return []
        order = {url: place for place, url in enumerate(CrawlPlan.read(run.plan).seeds)}
        found = [task for task in await self._tasks.find(run_id=run_id, limit=MAX_TASKS) if task.reason != "redirected"]
        return sorted(found, key=lambda task: (order.get(task.url, len(order)), task.id))


def _within(text: str, bounds: Bounds) -> Url | None:
    try:
        url = parse(text)
    except BadUrl:
        return None
    return url if bounds.refusal(url) is None else None
