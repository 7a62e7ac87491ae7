"""The stages of one URL: fetch, parse, keep, up to the wait for its report.

The reporter then admits the links of the page, and chores index its items.
"""

import logging
from dataclasses import dataclass, field

import msgspec

from longline.engine.archive.non_html_objects import PageObjects
from longline.engine.archive.page_reader import Earlier, PageReader
from longline.engine.archive.page_records import keep_page
from longline.engine.downloads.downloader import DownloadStage, give_up
from longline.engine.downloads.file_places import FilePlace
from longline.engine.fetch.fetcher import NOT_MODIFIED, Fetched, Fetcher
from longline.engine.fetch.request_sender import LeaseLost
from longline.engine.frontier.leased_hosts import LeasedHost, TaskWithdrawn, TooSoon
from longline.engine.frontier.plan_cache import PlanCache
from longline.engine.metrics import MetricCounters
from longline.engine.parse.page_parser import PageParser, Share
from longline.engine.parse.parser_results import Parsed
from longline.engine.worker.finished_task import Finished
from longline.model.archive.warc import Original, payload_digest
from longline.model.errors import Unavailable
from longline.model.frontier.reasons import INTERNAL, OK
from longline.model.frontier.retries import MAX_CLAIMS
from longline.model.frontier.task import ClaimedTask
from longline.model.runs.crawl_plan import CrawlPlan
from longline.plugins import Page
from longline.ports.clock import Clock

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Pipeline:
    """The stages of one worker; without a `parser` pages are kept for another process to parse.

    With `in_words` items are indexed with their report.
    """

    plans: PlanCache
    fetcher: Fetcher
    parser: PageParser | None
    archive: PageReader
    clock: Clock
    in_words: bool = False
    downloads: DownloadStage | None = None
    metrics: MetricCounters = field(default_factory=MetricCounters)
    objects: PageObjects | None = None

    @property
    def waiting(self) -> int:
        """Return how many pages wait to be parsed elsewhere."""
        return self.parser.waiting if self.parser is not None else 0

    async def run(self, host: LeasedHost, task: ClaimedTask, place: FilePlace | None = None) -> Finished:
        """Fetch, parse and keep one task; raise only errors that mean that the task was not begun.

        A file may leave its `place` before it is stored.
        """
        plan, original, began_at, page = CrawlPlan(()), None, self.clock.now(), None
        try:
            plan = await self.plans.get(task.run_id)
            host.apply_politeness(plan.politeness.delay_ms / 1000, plan.politeness.concurrency, self.clock.monotonic())
            if task.claims > MAX_CLAIMS:
                lost = Fetched("worker_lost", self.clock.now(), error="every worker that tried this page was lost")
                return self._finished(host, task, plan, lost, began_at)
            if task.download is not None:
                return await self._download(host, task, plan, began_at, place)
            fetched, page, original = await self._fetch(host, task, plan)
            if self.objects is not None and plan.objects:
                await self.objects.store(plan, fetched)
            parsed = await self._parse(host, task, page, plan)
        except (LeaseLost, TaskWithdrawn, TooSoon, Unavailable):
            raise
        except Exception as error:
            log.exception("unexpected error in a task", extra={"url": task.url})
            failed = Fetched(INTERNAL, self.clock.now(), error=repr(error))
            return self._finished(host, task, plan, failed, began_at)
        kept = keep_page(fetched, parsed.title if parsed else "", task.earlier if original else None, original)
        archived = page.url if page is not None and kept is None else None
        return Finished(host, task, plan, fetched, parsed, kept, self.in_words, archived, began_at)

    def _finished(
        self, host: LeasedHost, task: ClaimedTask, plan: CrawlPlan, fetched: Fetched, began_at: int
    ) -> Finished:
        """Return a task that ended without a page."""
        result = give_up(host, plan) if task.download is not None else None
        return Finished(host, task, plan, fetched, Parsed(), None, began_at=began_at, download=result)

    async def _download(
        self, host: LeasedHost, task: ClaimedTask, plan: CrawlPlan, began_at: int, place: FilePlace | None
    ) -> Finished:
        """Download one file into the object store."""
        if self.downloads is None:
            raise Unavailable("this worker downloads no files")
        self.metrics.downloads += 1
        try:
            done = await self.downloads.run(host, task, plan, place)
        finally:
            self.metrics.downloads -= 1
        return Finished(host, task, plan, done.fetched, Parsed(), None, began_at=began_at, download=done.result)

    async def _fetch(
        self, host: LeasedHost, task: ClaimedTask, plan: CrawlPlan
    ) -> tuple[Fetched, Page | None, Original | None]:
        """Fetch a page; return with it the earlier record that holds its body, when the page has not changed.

        An earlier record is trusted only after it was read: a page that has not changed since its record was lost or
        damaged is fetched whole.
        """
        fetched = await self.fetcher.fetch(host, task, plan)
        earlier = await self._earlier(task, fetched)
        if earlier is None and _unchanged(fetched):
            again = await self.fetcher.fetch(host, msgspec.structs.replace(task, known=None), plan)
            fetched = msgspec.structs.replace(again, asked=fetched.asked + again.asked)
        if earlier is not None and fetched.response is not None:
            page = earlier.page if fetched.same_as else _page(fetched)
            return fetched, page, earlier.original
        if earlier is not None:
            return fetched, earlier.page, None  # the task has that page already, which another parser may read anew
        return fetched, _page(fetched), None

    async def _earlier(self, task: ClaimedTask, fetched: Fetched) -> Earlier | None:
        """Return the earlier page if the fetched page is the same, byte for byte, and its record is readable."""
        known, response = task.known, fetched.response
        if known is None or fetched.reason != OK:
            return None
        same = _unchanged(fetched) or (
            task.earlier is not None and response is not None and payload_digest(response.body) == known.digest
        )
        return await self.archive.earlier(known) if same else None

    async def _parse(self, host: LeasedHost, task: ClaimedTask, page: Page | None, plan: CrawlPlan) -> Parsed | None:
        if page is None or not plan.parse.enabled:
            return Parsed()
        page.config = plan.config_at(task.depth)
        share = Share(host.lease.host, task.run_id)
        return await self.parser.parse(page, share) if self.parser is not None else None


def _unchanged(fetched: Fetched) -> bool:
    """Return whether the server answered that the known page has not changed (304)."""
    return fetched.reason == OK and fetched.status == NOT_MODIFIED


def _page(fetched: Fetched) -> Page | None:
    """Return the page to be parsed, or None when the fetch brought no page."""
    response = fetched.response
    if fetched.reason != OK or response is None:
        return None
    return Page(response.url, fetched.body, status=response.status, headers=response.headers)
