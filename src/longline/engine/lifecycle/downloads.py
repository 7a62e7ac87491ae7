"""Creation of runs of downloads, and the replay of downloads that were given up."""

from collections.abc import Sequence

from longline.engine.lifecycle.politeness_key import PolitenessKey
from longline.engine.lifecycle.runs import Call
from longline.model.downloads.dead_letter import DeadLetterFilter
from longline.model.downloads.download import NewDownload
from longline.model.frontier.task import DEFAULT_PRIORITY, NewTask
from longline.model.runs.crawl_plan import CrawlPlan
from longline.model.runs.run import NewRun
from longline.model.states import Actor, move
from longline.model.storable_text import storable
from longline.model.urls.url import BadUrl, parse
from longline.ports.records import Records
from longline.ports.records.downloads import PlacedDownload
from longline.ports.records.frontier.frontier import HostSetting, TaskChange

NO_HOST = ""
"""Host of URLs that cannot be requested: their tasks fail at the first claim."""

NO_RUN_ID = 0
"""Run and scope of tasks whose run is made together with them."""

REPLAY_BATCH_SIZE = 500
"""Number of dead letters that are replayed in one transaction."""


class DownloadLifecycle:
    """The beginnings of runs of downloads, and the replay of dead letters."""

    def __init__(self, records: Records, politeness: PolitenessKey, call_workers: Call | None = None) -> None:
        self._store, self._frontier = records.download_runs, records.frontier
        self._politeness, self._call_workers = politeness, call_workers

    async def place(self, downloads: Sequence[NewDownload], plan: CrawlPlan) -> list[PlacedDownload]:
        """Return downloads with their tasks, and make sure that the hosts of the tasks exist.

        A URL that cannot be requested becomes a task too.
        """
        placed = [PlacedDownload(await self._task(one), one) for one in downloads]
        polite = plan.politeness
        hosts = {one.task.host: HostSetting(one.task.host, polite.delay_ms, polite.concurrency) for one in placed}
        if NO_HOST in hosts:
            hosts[NO_HOST] = HostSetting(NO_HOST, 0, polite.concurrency)
        await self._frontier.ensure_hosts(list(hosts.values()))
        return placed

    async def begin(self, run: NewRun, downloads: Sequence[NewDownload], plan: CrawlPlan, reason: str) -> int:
        """Make a run and admit its downloads, both or neither; return its id."""
        run_id = await self._store.begin(run, await self.place(downloads, plan), reason)
        await self.call_workers()
        return run_id

    async def admit(self, run_id: int, downloads: Sequence[NewDownload], plan: CrawlPlan) -> int:
        """Admit further downloads to a run, each resource once; return how many were new."""
        admitted = await self._store.admit(run_id, await self.place(downloads, plan))
        if admitted:
            await self.call_workers()
        return admitted

    async def replay(self, wanted: DeadLetterFilter, *, actor: Actor = "person", reason: str = "replay") -> int:
        """Open the tasks of dead letters again, with no attempt counted, and their runs; return how many tasks.

        Letters whose run is gone or was cancelled stay as they are.
        """
        rule = move("task", "restart")
        change = TaskChange(rule.name, rule.was, rule.became, actor, reason)
        replayed, after = 0, 0
        while True:
            moves, last = await self._store.replay(change, wanted, after, REPLAY_BATCH_SIZE)
            replayed += sum(one.became is not None for one in moves)
            if not last:
                break
            after = last
        if replayed:
            await self.call_workers()
        return replayed

    async def call_workers(self) -> None:
        """Signal workers that there may be work."""
        if self._call_workers is not None:
            await self._call_workers()

    async def _task(self, download: NewDownload) -> NewTask:
        try:
            url = parse(download.url)
            href, host = url.href, await self._politeness.key(url)
        except BadUrl:
            href, host = storable(download.url), NO_HOST
        return NewTask(
            href,
            host,
            download.task_key,
            NO_RUN_ID,
            NO_RUN_ID,
            priority=DEFAULT_PRIORITY if download.priority is None else download.priority,
            single=True,
            max_attempts=download.max_attempts,
        )
