"""One URL's way through the stages: fetch, parse, keep, up to where it waits to be reported.

What a page leads to goes on from there: the reporter admits its links, and the chores make an index of its items.
"""

import logging
from dataclasses import dataclass

import msgspec

from longline.engine.archive import Archive
from longline.engine.fetch import Fetched, Fetcher
from longline.engine.frontier import HeldHost, TooSoon
from longline.engine.keep import keep_page
from longline.engine.parse import Parsed, Parser
from longline.engine.plans import Plans
from longline.engine.reporter import Finished
from longline.engine.sender import LeaseLost
from longline.model.errors import Unavailable
from longline.model.fate import OK
from longline.model.plan import CrawlPlan
from longline.model.task import ClaimedTask
from longline.plugins import Page
from longline.ports.clock import Clock

log = logging.getLogger(__name__)

MOST_CLAIMS = 16
"""How often a task is claimed for one attempt before it counts as what kills its workers.

Most tasks in the hand of a worker that dies were not even begun, so it takes more than a few.
"""


@dataclass(frozen=True, slots=True)
class Pipeline:
    """The stages of one worker; without a `parser` pages are kept for somebody else to parse.

    `in_words` says that items are indexed with their report.
    """

    plans: Plans
    fetcher: Fetcher
    parser: Parser | None
    archive: Archive
    clock: Clock
    in_words: bool = False

    async def run(self, host: HeldHost, task: ClaimedTask) -> Finished:
        """Everything that can be done for a task at once; raises only what says that it was not begun."""
        plan = CrawlPlan(())
        try:
            plan = await self.plans.get(task.run_id)
            host.heed(plan.delay_ms / 1000, plan.concurrency, self.clock.monotonic())
            if task.claims > MOST_CLAIMS:
                lost = Fetched("worker_lost", self.clock.now(), error="every worker that tried this page was lost")
                return Finished(host, task, plan, lost, Parsed(), None)
            task, fetched, page = await self._fetch(host, task, plan)
            parsed = await self._parse(page, plan, task.depth)
        except (LeaseLost, TooSoon, Unavailable):
            raise
        except Exception as error:
            log.exception("a task failed in a way nobody foresaw", extra={"url": task.url})
            fetched, parsed = Fetched("internal", self.clock.now(), error=repr(error)), Parsed()
        kept = keep_page(fetched, parsed.title if parsed else "", task.earlier)
        return Finished(host, task, plan, fetched, parsed, kept, self.in_words)

    async def _fetch(
        self, host: HeldHost, task: ClaimedTask, plan: CrawlPlan
    ) -> tuple[ClaimedTask, Fetched, Page | None]:
        fetched = await self.fetcher.fetch(host, task, plan)
        page = await self._page(fetched)
        if page is None and fetched.same_as is not None:
            # It has not changed since, and what it was then is lost: ask as if for the first time.
            task = msgspec.structs.replace(task, known=None)
            again = await self.fetcher.fetch(host, task, plan)
            fetched = msgspec.structs.replace(again, asked=fetched.asked + again.asked)
            page = await self._page(fetched)
        return task, fetched, page

    async def _page(self, fetched: Fetched) -> Page | None:
        """The page to be parsed: the one that came or, when it has not changed, the one of before."""
        response = fetched.response
        if fetched.same_as is not None:
            return await self.archive.find(fetched.same_as.task_id)
        if fetched.reason != OK or response is None:
            return None
        return Page(response.url, fetched.body, status=response.status, headers=response.headers)

    async def _parse(self, page: Page | None, plan: CrawlPlan, depth: int) -> Parsed | None:
        if page is None or not plan.parse:
            return Parsed()
        page.config = plan.config_at(depth)
        return await self.parser.parse(page) if self.parser is not None else None
