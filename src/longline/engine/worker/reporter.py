"""Report: finished tasks are kept as one segment and reported as one batch, all or nothing.

When part of a batch came under a lost lease, the database refuses the whole batch; batch and segment are made again
without that part, so that the archive holds exactly the pages that rows name.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from longline.engine.archive.segment_writer import SegmentWriter, StoredSegment
from longline.engine.engine_clock import engine_time
from longline.engine.fetch.fetcher import Fetched
from longline.engine.frontier.admission import Admission, AdmissionCache
from longline.engine.lifecycle.moves import Lifecycle
from longline.engine.loop_supervisor import peak_memory_mb
from longline.engine.parse.parser_results import Parsed
from longline.engine.parse.report_additions import Contributor, ReportAdditions, additions_of
from longline.engine.worker.finished_task import Finished, FinishedBatch
from longline.model.errors import NeedsOperator, Unavailable
from longline.model.frontier import reasons
from longline.model.frontier.host import HostReport
from longline.model.frontier.retries import (
    attempts_before_next,
    pause_before_retry,
)
from longline.model.frontier.standing_frontier import key_in
from longline.model.frontier.task import NewTask, Outcome, PageFacts, RenamedUrl
from longline.model.states import TaskState
from longline.ports.clock import Clock
from longline.ports.records.frontier.frontier import HostSetting, ReportBatch, Reported

log = logging.getLogger(__name__)

RETRIED = frozenset({TaskState.PENDING, TaskState.DOWNLOADED})
"""Rests in which a task waits for its next attempt."""


MAX_LINKS_AT_ONCE = 2000
"""Links that are remembered before other work gets its turn."""

MAX_SECONDS_AT_ONCE = 0.005
"""Seconds for which links are judged before other work gets its turn."""

FIRST_PAUSE_SECONDS, MAX_PAUSE_SECONDS = 0.2, 5.0
"""Seconds between two tries while an engine is unavailable: the first pause and the longest."""


Delivered = list[tuple[FinishedBatch, Reported]]
"""Batches as they were reported, each with the changes that its report made."""

ReportObserver = Callable[[Sequence[Finished]], Awaitable[None]]
"""A function that is called with the tasks of each report, after the report was written."""


@dataclass(frozen=True, slots=True)
class ReportParts:
    """Contributors that add rows to each report, and observers that see each report after it was written."""

    observers: Sequence[ReportObserver] = ()
    contributors: Sequence[Contributor] = ()


class Reporter:
    """The writer of finished tasks into durable segments and rows."""

    def __init__(
        self,
        lifecycle: Lifecycle,
        keeper: SegmentWriter,
        clock: Clock,
        parts: ReportParts | None = None,
    ) -> None:
        self._lifecycle, self._keeper, self._clock = lifecycle, keeper, clock
        self._parts = parts or ReportParts()
        self._verdicts = AdmissionCache()
        self.trouble: Unavailable | None = None
        self.leaving = False
        self._cpu_seconds = time.process_time()

    async def deliver(self, batch: FinishedBatch) -> Delivered:
        """Write a report, then call the observers with each part of it that was written."""
        delivered = await self._deliver(batch.without_superseded())
        for written, _ in delivered:
            for observe in self._parts.observers:
                await observe(written.finished)
        return delivered

    async def _deliver(self, finished_batch: FinishedBatch, *, whole: bool = False) -> Delivered:
        """Report, and retry while an engine is unavailable; results under leases that lapse meanwhile are refused.

        `trouble` is the last failure until a report succeeds. A worker that is `leaving` does not wait
        for an engine that needs its operator.
        """
        pause, has_failed = FIRST_PAUSE_SECONDS, False
        while finished_batch:
            try:
                done = [await self.report(finished_batch)]
            except Unavailable as error:
                log.warning("report failed, will retry", extra={"error": str(error)})
                has_failed, self.trouble = True, error
                if self.leaving and isinstance(error, NeedsOperator):
                    raise
                await self._clock.sleep(pause)
                pause = min(pause * 2, MAX_PAUSE_SECONDS)
                continue
            except Exception:
                if whole:
                    raise
                log.exception("report cannot be written, splitting it")
                has_failed = True
                done = await self._deliver_halves(finished_batch)
            self.trouble = None
            if has_failed:
                await self._delete_orphaned_segments()
            return done
        return []

    async def _deliver_halves(self, finished_batch: FinishedBatch) -> Delivered:
        """Find by halving the task that spoils a report, and fail only that task."""
        if len(finished_batch.finished) > 1:
            first, second = finished_batch.halves()
            return [*await self._deliver(first), *await self._deliver(second)]
        unstorable = [
            replace(f, fetched=_unstorable(f.fetched), parsed=Parsed(), page=None) for f in finished_batch.finished
        ]
        return await self._deliver(replace(finished_batch, finished=unstorable), whole=True)

    async def _delete_orphaned_segments(self) -> None:
        """Delete segments that no row names; a failed report may have left one."""
        try:
            await self._keeper.clear()
        except Unavailable as error:
            log.warning("orphaned segments not deleted", extra={"error": str(error)})

    async def report(self, finished_batch: FinishedBatch) -> tuple[FinishedBatch, Reported]:
        """Keep and report; return the batch as it was reported, and the changes that the report made."""
        stored: StoredSegment | None = None
        await asyncio.to_thread(_build_records, finished_batch.finished)
        cpu_ms, memory_mb = self._spent_ms(), peak_memory_mb()
        while True:
            stored = await self._store_segment(finished_batch, stored)
            admission = await self._admission(finished_batch.finished)
            additions = await self._additions(finished_batch.finished)
            batch = ReportBatch(
                reports=self._host_reports(finished_batch, stored),
                admit=[*admission.tasks, *additions.tasks],
                refused=admission.refused,
                without_item=admission.without_item,
                segment=stored.written if stored else None,
                redirects=stored.redirects if stored else (),
                items=[item for f in finished_batch.finished for item in f.items],
                refused_urls=admission.refused_urls,
                cpu_ms=cpu_ms,
                memory_mb=memory_mb,
                links=additions.links,
                link_details=additions.link_details,
                findings=additions.findings,
                finds=additions.finds,
            )
            hosts = [*admission.hosts, *additions.hosts, *_target_hosts(finished_batch.finished)]
            reported = await self._lifecycle.report(batch, hosts)
            if not reported.refused:
                additions.written()
                self._verdicts.note_stored(admission.refused_urls)
                if not reported.admitted.over_budget:
                    await self._mark_links_known(admission.tasks)
                return finished_batch, reported
            log.warning(
                "part of a report came after its lease was lost",
                extra={"hosts": len(reported.stale), "tasks": len(reported.gone)},
            )
            for host_id in reported.stale:
                self._mark_lost(finished_batch, host_id)
            finished_batch = finished_batch.without(reported)

    async def _additions(self, finished: Sequence[Finished]) -> ReportAdditions:
        contributors = self._parts.contributors
        return await additions_of(contributors, [f.as_reported for f in finished] if contributors else ())

    def _spent_ms(self) -> int:
        """Return the processor time of this process since the last report, in milliseconds."""
        before, self._cpu_seconds = self._cpu_seconds, time.process_time()
        return round((self._cpu_seconds - before) * 1000)

    def _mark_lost(self, finished_batch: FinishedBatch, host_id: int) -> None:
        for finished in finished_batch.finished:
            if finished.host.lease.host_id == host_id:
                finished.host.lost = True

    async def _store_segment(self, finished_batch: FinishedBatch, stored: StoredSegment | None) -> StoredSegment | None:
        pages = [f.page for f in finished_batch.finished if f.page is not None]
        redirects = [redirect for f in finished_batch.finished for redirect in f.redirects]
        if stored is None:
            return await self._keeper.write(pages, redirects) if pages or redirects else None
        if pages or redirects:
            return await self._keeper.rewrite(stored, pages, redirects)
        await self._keeper.discard(stored)
        return None

    async def _admission(self, finished: Sequence[Finished]) -> Admission:
        """Judge the links of pages, with pauses for other work; the links of a heavy page in a thread.

        A thread for every report would cost a tenth of the crawl's speed: thread and event loop wait for each other.
        """
        admission, begun = Admission(self._verdicts), self._clock.monotonic()
        for f in finished:
            if f.heavy_links:
                await asyncio.to_thread(_admit_links_at_once, admission, f)
                continue
            for _ in _admit_links_in_steps(admission, f):
                if self._clock.monotonic() - begun > MAX_SECONDS_AT_ONCE:
                    await asyncio.sleep(0)
                    begun = self._clock.monotonic()
        return admission

    async def _mark_links_known(self, tasks: Sequence[NewTask]) -> None:
        """Remember links that the database knows now, with pauses for other work."""
        for start in range(0, len(tasks), MAX_LINKS_AT_ONCE):
            self._verdicts.mark_known(tasks[start : start + MAX_LINKS_AT_ONCE])
            await asyncio.sleep(0)

    def _host_reports(self, finished_batch: FinishedBatch, stored: StoredSegment | None) -> list[HostReport]:
        places = iter(stored.facts if stored else ())
        outcomes: dict[int, list[Outcome]] = {host_id: [] for host_id in finished_batch.unstarted}
        unstarted = finished_batch.unstarted
        hosts = {host_id: leased_host for host_id, (leased_host, _) in unstarted.items()}
        for f in finished_batch.finished:
            hosts[f.host.lease.host_id] = f.host
            facts = next(places) if f.page is not None else None
            outcomes.setdefault(f.host.lease.host_id, []).append(self._outcome(f, facts))
        return [
            HostReport(
                host_id,
                hosts[host_id].lease.token,
                tuple(ended),
                unstarted=unstarted[host_id][1] if host_id in unstarted else (),
                not_before=self._engine_time(hosts[host_id].next_start),
                release=host_id in finished_batch.released,
                pace=hosts[host_id].pace.changed(self._engine_time),
            )
            for host_id, ended in outcomes.items()
        ]

    def _engine_time(self, moment: float) -> int:
        return engine_time(self._clock, moment)

    def _outcome(self, f: Finished, facts: PageFacts | None) -> Outcome:
        became, redirected = f.rest, f.fetched.redirected_to
        waits = became in RETRIED and redirected is None
        strayed = f.plan.single and (f.task.home_id is not None or f.fetched.moved_to is not None)
        return Outcome(
            task=f.task,
            became=became,
            reason=f.reason,
            at=f.fetched.at,
            status=f.fetched.status,
            due=self._engine_time(self._clock.monotonic() + pause_before_retry(f.task, f.plan, f.fetched.retry_after))
            if waits
            else 0,
            error=f.error,
            page=facts,
            renamed=_new_url(f),
            asked=f.requests,
            redirected=redirected,
            strayed=strayed,
            described=f.parsed.title if f.archived is not None and f.parsed is not None else None,
            attempts=attempts_before_next(f.task, became, redirected),
            began_at=f.began_at,
            proxy_id=f.fetched.proxy_id,
            download=f.download,
        )


def _target_hosts(finished: Sequence[Finished]) -> list[HostSetting]:
    """Return the hosts to which single tasks move on."""
    hosts = {f.fetched.redirected_to.host: f.plan.politeness for f in finished if f.fetched.redirected_to is not None}
    return [HostSetting(host, polite.delay_ms, polite.concurrency) for host, polite in hosts.items()]


def _build_records(finished: Sequence[Finished]) -> None:
    for f in finished:
        f.prepare()


def _new_url(f: Finished) -> RenamedUrl | None:
    """Return the new URL of a page that has moved, else None."""
    url = f.fetched.moved_to if not f.plan.single else None
    return RenamedUrl(url, key_in(f.task.scope, url)) if url is not None and f.page is not None else None


def _unstorable(fetched: Fetched) -> Fetched:
    return Fetched(reasons.INTERNAL, fetched.at, status=fetched.status, error="the fetched page could not be stored")


def _admit_links_at_once(admission: Admission, finished: Finished) -> None:
    """Add the links of one page without a pause."""
    for _ in _admit_links_in_steps(admission, finished):
        pass


def _admit_links_in_steps(admission: Admission, finished: Finished) -> Iterator[None]:
    """Add the links of one page in steps, after each of which other work may have its turn."""
    task, plan, parsed = finished.task, finished.plan, finished.parsed
    if parsed is not None:
        yield from admission.admit_page_steps(task, parsed, plan)
    if finished.fetched.elsewhere is not None:
        admission.admit_redirect(task, finished.fetched.elsewhere, plan)
    admission.admit_sitemaps(task, finished.fetched.sitemaps, plan)
