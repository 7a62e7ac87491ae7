"""Probes of candidates: a first look, so that a person decides with facts.

A probe is a run with one task, so that it waits its host's turn and keeps to robots.txt like any other task.
"""

import logging

from longline.engine.feeds.feed_poller import BATCH_SIZE, FeedParts, polling
from longline.engine.frontier.seeding import RunToMake
from longline.html.parse_cost import TooComplex
from longline.model.discovery.candidate import CandidateRow, ProbeResult, risk_of
from longline.model.runs.run import RunKind
from longline.model.states import TaskState
from longline.plugins.feed_links import feed_links
from longline.ports.records.discovery import CandidateStore

log = logging.getLogger(__name__)


class CandidateProbe:
    """A probe of candidates."""

    def __init__(self, parts: FeedParts, candidates: CandidateStore) -> None:
        self._parts, self._candidates = parts, candidates

    async def once(self) -> int:
        """Submit probed candidates to a person, then begin to probe new ones; return the number of both."""
        seen = await self._candidates.probed(BATCH_SIZE)
        for candidate in seen:
            await self._judge(candidate)
        fresh = await self._candidates.fresh(BATCH_SIZE)
        for candidate in fresh:
            plan = polling(self._parts.plan, [candidate.home])
            run_id = await self._parts.seeder.ask(RunToMake(RunKind.CANDIDATE_PROBE, plan, None))
            await self._candidates.look(candidate.id, run_id)
        return len(seen) + len(fresh)

    async def _judge(self, candidate: CandidateRow) -> None:
        glimpse = await self._fetch_once(candidate)
        risk = risk_of(candidate.home, glimpse)
        if await self._candidates.judge(candidate.id, glimpse, risk):
            log.info("candidate awaits review", extra={"identity": candidate.identity, "risk": risk})

    async def _fetch_once(self, candidate: CandidateRow) -> ProbeResult:
        tasks = await self._parts.seeder.tasks_of(candidate.look_id or 0)
        if not tasks:
            return ProbeResult("nothing came")
        task = tasks[-1]
        page = await self._parts.find(task.id) if task.state == TaskState.COMPLETED else None
        try:
            title, feeds = (page.title, feed_links(page)) if page else ("", [])
        except TooComplex:
            title, feeds = "", []
        return ProbeResult(task.reason or "ok", task.status, title, feeds[0] if feeds else None)
