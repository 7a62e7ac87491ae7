"""Seeding: runs that nobody holds, begun with URLs that somebody found; each ends with its last task."""

from collections.abc import Iterable, Sequence

import msgspec

from longline.engine.admit import seed
from longline.engine.lifecycle import Lifecycle, Order
from longline.model.bounds import bounds_of
from longline.model.ids import new_id
from longline.model.plan import CrawlPlan
from longline.model.run import NewRun, RunRow
from longline.model.scope import STANDING
from longline.model.task import NewTask, TaskRow
from longline.model.url import BadUrl, dedupe_key, interval_form, parse
from longline.ports.records.frontier import Admitted, HostSetting
from longline.ports.records.runs import Runs
from longline.ports.records.tasks import Tasks

MOST_TASKS = 1000
"""No run that was begun here has more to look through."""


class Wanted(msgspec.Struct, frozen=True):
    """A run to be made: its kind says what for, and `plan` how its URLs are fetched."""

    kind: str
    plan: CrawlPlan
    source_id: int


class Seeder:
    """Begins runs, and looks up how they went."""

    def __init__(self, lifecycle: Lifecycle, runs: Runs, tasks: Tasks) -> None:
        self._lifecycle, self._runs, self._tasks = lifecycle, runs, tasks

    async def ask(self, wanted: Wanted) -> int:
        """Fetch the seeds of the plan, whether or not they were fetched before; the run."""
        run = await self._begin(wanted)
        seeds = [seed(url, run.id, wanted.plan) for url in wanted.plan.seeds]
        await self._admit(run, [task for task, _ in seeds], [host for _, host in seeds])
        return run.id

    async def feed(self, wanted: Wanted, urls: Iterable[str], priority: int) -> int:
        """Fetch those of the URLs that the standing frontier has never seen; how many those were.

        What is no URL of ours, or lies outside of the plan's bounds, is left out.
        """
        places = [place for url in urls if (place := _standing(url, wanted.plan))]
        known = await self._tasks.known(STANDING, [(host, key) for _, host, key in places])
        fresh = [place for place in places if place[1:] not in known]
        if not fresh:
            return 0
        run = await self._begin(wanted)
        tasks = [NewTask(url, host, key, STANDING, run.id, priority=priority) for url, host, key in fresh]
        plan = wanted.plan
        hosts = {host: HostSetting(host, plan.delay_ms, plan.concurrency) for _, host, _ in fresh}
        return (await self._admit(run, tasks, list(hosts.values()))).new

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

    async def _begin(self, wanted: Wanted) -> RunRow:
        first = next(iter(wanted.plan.seeds), "")
        run = await self._runs.add(NewRun(new_id(), wanted.kind, wanted.plan.text(), first, source_id=wanted.source_id))
        await self._lifecycle.move(Order("run", run.id, "start", "planner", reason=wanted.kind))
        return run

    async def _admit(self, run: RunRow, tasks: Sequence[NewTask], hosts: Sequence[HostSetting]) -> Admitted:
        admitted = await self._lifecycle.admit(tasks, hosts)
        if not admitted.new:
            # Somebody else was first with all of them: without tasks nothing would ever end the run.
            await self._lifecycle.move(Order("run", run.id, "finish", "upkeep", reason="nothing new"))
        return admitted


def _standing(text: str, plan: CrawlPlan) -> tuple[str, str, bytes] | None:
    """URL, host and key in the standing frontier, where spellings that lead to the same page are the same."""
    try:
        url = parse(text)
        if bounds_of(plan).refusal(url) is not None:
            return None
        return url.href, url.host, dedupe_key(interval_form(url.href))
    except BadUrl:
        return None
