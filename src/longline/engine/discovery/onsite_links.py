"""Links of pages to their own site, submitted to the standing frontier as well."""

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress

from longline.engine.frontier.standing_runs import StandingRuns
from longline.engine.parse.report_additions import ReportAdditions, ReportedPage
from longline.model.discovery.link import FIRST_DEPTH
from longline.model.errors import Unavailable
from longline.model.frontier.standing_frontier import SCOPE, host_of, url_hash
from longline.model.frontier.task import DEFAULT_PRIORITY, NewTask
from longline.model.runs.crawl_bounds import bounds_of
from longline.model.runs.run import RunKind
from longline.model.urls.url import BadUrl, Url, parse
from longline.ports.records.frontier.frontier import HostSetting

log = logging.getLogger(__name__)

CONTENT_PRIORITY = DEFAULT_PRIORITY - 10


class OnsiteLinks:
    """A contributor to reports that submits links; `promises` decides by the URL if a page may be content."""

    def __init__(self, runs: StandingRuns, promises: Callable[[str], bool]) -> None:
        self._runs, self._promises = runs, promises

    async def contribute(self, pages: Sequence[ReportedPage], additions: ReportAdditions) -> None:
        """Add the links of pages as tasks; a source manager that is away is only logged."""
        try:
            for page in pages:
                if page.parsed and page.plan.source_id is not None and page.task.scope != SCOPE:
                    await self._submit(page, page.plan.source_id, additions)
        except Unavailable as error:
            log.warning("links not submitted to the frontier", extra={"error": str(error)})

    async def _submit(self, page: ReportedPage, source_id: int, additions: ReportAdditions) -> None:
        run = await self._runs.of(RunKind.STANDING_SPIDER, source_id)
        tasks = await asyncio.to_thread(self._tasks, page, run.id)
        politeness, hosts = run.plan.politeness, {task.host for task in tasks}
        additions.tasks += tasks
        additions.hosts += [HostSetting(host, politeness.delay_ms, politeness.concurrency) for host in hosts]

    def _tasks(self, page: ReportedPage, run_id: int) -> list[NewTask]:
        """Return the links of a page as tasks. Many links take too long for the event loop."""
        return [self._task(url, page, run_id) for url in _on_site(page)]

    def _task(self, url: Url, page: ReportedPage, run_id: int) -> NewTask:
        return NewTask(
            url.href,
            host_of(url),
            url_hash(url.href),
            SCOPE,
            run_id,
            depth=page.task.depth + FIRST_DEPTH + 1,
            priority=CONTENT_PRIORITY if self._promises(url.href) else DEFAULT_PRIORITY,
            due=self._runs.due,
            parent_id=page.task.id,
        )


def _on_site(page: ReportedPage) -> Iterable[Url]:
    bounds = bounds_of(page.plan.bounds)
    for text in page.parsed.links if page.parsed else ():
        with suppress(BadUrl):
            url = parse(text)
            if bounds.refusal(url) is None:
                yield url
