"""Parsing apart from fetching: pages are read from the archive, no request is made."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

import msgspec

from longline.engine.archive.page_reader import PageReader
from longline.engine.engine_clock import engine_time
from longline.engine.frontier.admission import Admission, AdmissionCache
from longline.engine.frontier.plan_cache import PlanCache
from longline.engine.lifecycle.moves import Lifecycle
from longline.engine.parse.page_parser import PageParser, Share
from longline.engine.parse.parser_results import Parsed
from longline.engine.parse.report_additions import Contributor, ReportedPage, additions_of
from longline.model.archive.warc import DamagedRecord
from longline.model.errors import NotFound, Unavailable
from longline.model.fetch.content_encoding import Undecodable
from longline.model.frontier.reasons import INTERNAL, OK, PARSER_ERROR
from longline.model.frontier.retries import rest_after_parser, retry_rules, retry_seconds, state_after
from longline.model.frontier.task import PARSE, ClaimedTask, Outcome
from longline.model.runs.crawl_plan import CrawlPlan
from longline.model.search.item import NewItem
from longline.model.states import TaskState
from longline.model.urls.url import parse
from longline.ports.blobs import Blobs
from longline.ports.clock import Clock
from longline.ports.records.archive import PageStore
from longline.ports.records.frontier.frontier import ReportBatch, Reported, TaskLease

log = logging.getLogger(__name__)

Done = tuple[TaskLease, Outcome, Parsed]


@dataclass(frozen=True, slots=True)
class ParseWorkerParts:
    """The parts of a parse worker, which parses `at_once` pages of a batch in parallel. Times are seconds.

    `in_words` means that items are indexed with their report. `contributors` add rows to reports, and `observe` is
    called with each outcome that was written.
    """

    lifecycle: Lifecycle
    pages: PageStore
    plans: PlanCache
    blobs: Blobs
    parser: PageParser
    clock: Clock
    owner: int
    lease: float = 30.0
    batch: int = 64
    at_once: int = 4
    idle_poll: float = 0.5
    in_words: bool = False
    contributors: Sequence[Contributor] = ()
    observe: Callable[[CrawlPlan, Outcome], None] | None = None


class ParseWorker:
    """A worker that claims pages for parsing, parses them and reports them."""

    def __init__(self, parts: ParseWorkerParts) -> None:
        self._parts = parts
        self._archive = PageReader(parts.pages, parts.blobs)
        self._verdicts = AdmissionCache()
        self._renewed = 0.0

    async def run(self, stop: asyncio.Event) -> None:
        """Work until `stop` is set; a batch that was begun is finished."""
        while not stop.is_set():
            try:
                busy = await self.once()
            except Unavailable as error:
                log.warning("parsing paused, engine unavailable", extra={"error": str(error)})
                busy = False
            if not busy:
                with suppress(TimeoutError):
                    await asyncio.wait_for(stop.wait(), self._parts.idle_poll)

    async def once(self) -> bool:
        """Parse one batch; return False when there was nothing to do."""
        p = self._parts
        self._renewed = p.clock.monotonic()
        leases = await p.lifecycle.take(PARSE, p.owner, p.batch, round(p.lease * 1000))
        await self._deliver(await self._parse_all(leases))
        return bool(leases)

    async def _deliver(self, done: list[Done]) -> None:
        """Report a batch; find by halving the page that spoils the report, and fail only that page."""
        while done:
            try:
                reported = await self._give(done)
            except Unavailable:
                raise
            except Exception:
                if len(done) == 1 and done[0][1].reason == INTERNAL:
                    raise
                log.exception("report of parsed pages cannot be written, splitting it")
                if len(done) > 1:
                    await self._deliver(done[: len(done) // 2])
                    done = done[len(done) // 2 :]
                else:
                    lease = done[0][0]
                    done = [(lease, await self._failed(lease.task, "the parsed page could not be stored"), Parsed())]
                continue
            # Tasks that were paused, cancelled or restarted meanwhile are no longer ours to report.
            done = [d for d in done if d[0].task.id not in reported.gone] if reported.refused else []

    async def _parse_all(self, leases: list[TaskLease]) -> list[Done]:
        """Parse a few pages at a time, so that all processes have work and few pages are in memory."""
        gate = asyncio.Semaphore(self._parts.at_once)

        async def one(lease: TaskLease) -> Done:
            async with gate:
                outcome, parsed = await self._parse(lease)
            await self._renew(leases)
            return lease, outcome, parsed

        # No page is left running when another fails.
        made = await asyncio.gather(*map(one, leases), return_exceptions=True)
        if failed := next((d for d in made if isinstance(d, BaseException)), None):
            raise failed
        return [d for d in made if not isinstance(d, BaseException)]

    async def _renew(self, leases: list[TaskLease]) -> None:
        p = self._parts
        if p.clock.monotonic() - self._renewed > p.lease / 3:
            self._renewed = p.clock.monotonic()
            held = [(lease.task.id, lease.token) for lease in leases]
            await p.lifecycle.renew_taken(p.owner, held, round(p.lease * 1000))

    async def _give(self, done: list[Done]) -> Reported:
        plans = [await self._parts.plans.get(lease.task.run_id) for lease, _, _ in done]
        admission, items = await asyncio.to_thread(self._made, done, plans)
        pages = [ReportedPage(o.task, plan, parsed) for (_, o, parsed), plan in zip(done, plans, strict=True)]
        additions = await additions_of(self._parts.contributors, pages)
        batch = ReportBatch(
            admit=[*admission.tasks, *additions.tasks],
            refused=admission.refused,
            without_item=admission.without_item,
            items=items,
            refused_urls=admission.refused_urls,
            links=additions.links,
            findings=additions.findings,
            finds=additions.finds,
        )
        given = [(lease.token, outcome) for lease, outcome, _ in done]
        reported = await self._parts.lifecycle.give(given, batch, [*admission.hosts, *additions.hosts])
        if not reported.refused:
            additions.written()
            self._observe(done, plans)
            await asyncio.to_thread(self._verdicts.note_stored, admission.refused_urls)
        if not reported.refused and not reported.admitted.over_budget:
            await asyncio.to_thread(self._verdicts.mark_known, admission.tasks)
        return reported

    def _observe(self, done: Sequence[Done], plans: Sequence[CrawlPlan]) -> None:
        if self._parts.observe is not None:
            for (_, outcome, _), plan in zip(done, plans, strict=True):
                self._parts.observe(plan, outcome)

    def _made(self, done: Sequence[Done], plans: Sequence[CrawlPlan]) -> tuple[Admission, list[NewItem]]:
        """Return the admission of the pages' links, and their items. Takes too long for the event loop."""
        admission = Admission(self._verdicts)
        for (lease, _, parsed), plan in zip(done, plans, strict=True):
            admission.admit_page(lease.task, parsed, plan)
        in_words = self._parts.in_words
        items = [i for _, o, parsed in done if o.page for i in parsed.items_of(o.task, o.page.url, in_words=in_words)]
        return admission, items

    async def _parse(self, lease: TaskLease) -> tuple[Outcome, Parsed]:
        try:
            return await self._parsed(lease)
        except Unavailable:
            raise
        except Exception as error:
            # Without an outcome the page would be claimed first again, and no page behind it would ever be parsed.
            log.exception("unexpected error in a parse task", extra={"task": lease.task.id})
            return await self._failed(lease.task, repr(error)), Parsed()

    async def _parsed(self, lease: TaskLease) -> tuple[Outcome, Parsed]:
        now = self._parts.clock.now()
        try:
            page, facts = await self._archive.page(lease.task.id)
        except (NotFound, DamagedRecord, Undecodable) as error:
            return Outcome(lease.task, TaskState.FAILED, "page_lost", now, error=str(error)), Parsed()
        page.config = (await self._parts.plans.get(lease.task.run_id)).config_at(lease.task.depth)
        parsed = await self._parts.parser.parse(page, Share(parse(lease.task.url).host, lease.task.run_id))
        if parsed.error:
            return await self._parser_failed(lease, parsed.error), parsed
        named = msgspec.structs.replace(facts, title=parsed.title)
        return Outcome(lease.task, TaskState.COMPLETED, OK, now, status=facts.status, page=named), parsed

    async def _parser_failed(self, lease: TaskLease, error: str) -> Outcome:
        """Return the outcome of a failed parser: the plan may ask for another fetch, or for another parse."""
        plan, task, clock = await self._parts.plans.get(lease.task.run_id), lease.task, self._parts.clock
        limit, fetches = retry_rules(task, plan).max_attempts, lease.attempt_before
        rest = rest_after_parser(plan.retries.parser, fetches, task.attempt, limit)
        failed = Outcome(task, rest, PARSER_ERROR, clock.now(), error=error)
        if rest == TaskState.FAILED:
            return failed
        recrawled = rest == TaskState.PENDING
        attempt = fetches if recrawled else task.attempt
        pause = retry_seconds(attempt, plan.retries.delay_seconds, plan.retries.max_delay_seconds)
        due = engine_time(clock, clock.monotonic() + pause)
        # The next fetch counts on from the last one.
        counted = msgspec.structs.replace(task, attempt=attempt)
        return msgspec.structs.replace(failed, task=counted, due=due, attempts=attempt)

    async def _failed(self, task: ClaimedTask, error: str) -> Outcome:
        """Return the outcome of an unexpected error: the page is parsed again, while the plan has attempts left."""
        plan, clock = await self._parts.plans.get(task.run_id), self._parts.clock
        retries, failed = plan.retries, Outcome(task, TaskState.FAILED, INTERNAL, clock.now(), error=error)
        if state_after(INTERNAL, task.attempt, retry_rules(task, plan).max_attempts) == TaskState.FAILED:
            return failed
        pause = retry_seconds(task.attempt, retries.delay_seconds, retries.max_delay_seconds)
        due = engine_time(clock, clock.monotonic() + pause)
        return msgspec.structs.replace(failed, became=TaskState.DOWNLOADED, due=due)
