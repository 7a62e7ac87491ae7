"""The runs of the standing frontier: one for each origin and source, never started, and so never ended."""

from typing import NamedTuple

import msgspec

from longline.engine.directory import DOWNLOADS, FILES, HTML, delay_ms, reading
from longline.model.errors import Unavailable
from longline.model.frontier import ASLEEP
from longline.model.ids import new_id
from longline.model.plan import CrawlPlan
from longline.model.run import NewRun, RunRow
from longline.model.source import CrawlSource
from longline.ports.clock import Clock
from longline.ports.directory import Directory
from longline.ports.records.runs import Runs

MOST_KNOWN = 10_000
KNOWN_SECONDS = 300.0
"""How long it is believed what a source says, and what it is called."""

MINUTE = 60.0


class StandingRules(msgspec.Struct, frozen=True):
    """How polite the standing frontier is, how often it tries, and what is made of its pages; if it fetches at all."""

    delay_ms: int = 1000
    robots: bool = True
    attempts: int = 3
    max_redirects: int = 5
    readability: bool = False
    awake: bool = True


class StandingRun(NamedTuple):
    """A run and its plan."""

    id: int
    plan: CrawlPlan


class StandingRuns:
    """Finds the standing run of an origin and a source, or makes it."""

    def __init__(self, runs: Runs, directory: Directory, rules: StandingRules, clock: Clock) -> None:
        self._runs, self._directory, self._rules, self._clock = runs, directory, rules, clock
        self._known: dict[tuple[str, str], StandingRun] = {}
        self._called: dict[int, str] = {}
        self._forget_at = 0.0

    @property
    def due(self) -> int:
        """When what is given is due: at once, or when somebody wakes it."""
        return 0 if self._rules.awake else ASLEEP

    async def renew(self) -> int:
        """Let every run go by the rules as they are now, and by what its source says now; how many had others.

        What is under way goes on as it was begun. A directory that is away leaves the plans as they are.
        """
        renewed = 0
        for run in await self._runs.standing():
            plan = standing_plan(await self._directory.get(run.seed), self._rules)
            if CrawlPlan.read(run.plan) != plan:
                renewed += await self._runs.replan(run.id, plan.text())
        return renewed

    async def of(self, kind: str, source_id: int) -> StandingRun:
        """The run of that kind and the source of that number."""
        self._forget()
        if source_id not in self._called:
            self._called[source_id] = await self._directory.called(source_id)
        return await self.get(kind, self._called[source_id])

    async def get(self, kind: str, source: str) -> StandingRun:
        """The run of that kind and that source, as the source wants it to be."""
        self._forget()
        if (kind, source) not in self._known:
            run = await self._runs.first(kind, source)
            self._known[kind, source] = await (self._renewed(run) if run else self._made(kind, source))
        return self._known[kind, source]

    def _forget(self) -> None:
        now = self._clock.monotonic()
        if now >= self._forget_at or len(self._known) + len(self._called) >= MOST_KNOWN:
            self._known.clear()
            self._called.clear()
            self._forget_at = now + KNOWN_SECONDS

    async def _made(self, kind: str, source: str) -> StandingRun:
        plan = standing_plan(await self._directory.get(source), self._rules)
        run = await self._runs.ensure(NewRun(new_id(), kind, plan.text(), source, source_id=plan.source_id))
        return StandingRun(run.id, CrawlPlan.read(run.plan))

    async def _renewed(self, run: RunRow) -> StandingRun:
        """The run by what its source says now; where nobody says anything it stays as it is."""
        before = CrawlPlan.read(run.plan)
        try:
            source = await self._directory.get(run.seed)
        except Unavailable:
            return StandingRun(run.id, before)
        plan = standing_plan(source, self._rules) if source else before
        if plan != before:
            await self._runs.replan(run.id, plan.text())
        return StandingRun(run.id, plan)


def standing_plan(source: CrawlSource | None, rules: StandingRules) -> CrawlPlan:
    """How single URLs are fetched, for a source that may be unknown."""
    return CrawlPlan(
        (),
        max_depth=0,
        robots=rules.robots,
        delay_ms=delay_ms(source.rate_limit) if source and source.rate_limit else rules.delay_ms,
        max_attempts=rules.attempts,
        max_redirects=rules.max_redirects,
        content_types=HTML,
        never=(FILES, DOWNLOADS),
        retry_seconds=MINUTE,
        insistent=True,
        lenient=True,
        source_id=source.id if source else None,
        source_name=source.name if source else "",
        render=source.dynamic if source else False,
        parsing=reading(source, readability=rules.readability),
    )
