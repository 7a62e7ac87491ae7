"""The standing frontier: submitted URLs, each fetched once under its host's politeness."""

from typing import NamedTuple

from longline.engine.frontier.standing_runs import StandingRuns
from longline.engine.lifecycle.moves import Lifecycle, MoveRequest
from longline.engine.lifecycle.politeness_key import PolitenessKey
from longline.model.errors import BadInput, NotFound, Unavailable
from longline.model.frontier.standing_frontier import (
    REMOVED,
    SCOPE,
    StandingUrl,
    UrlQuery,
    host_of,
    url_hash,
)
from longline.model.frontier.task import NewTask
from longline.model.ids import task_id_of
from longline.model.runs.run import STANDING_KINDS, RunKind
from longline.model.signal_topics import WORK_TOPIC
from longline.model.urls.url import parse
from longline.ports.records import Records
from longline.ports.records.frontier.frontier import HostSetting
from longline.ports.signals import Signals


class OverBudget(BadInput):
    """The budget of the URL's source is used up."""


class SubmittedUrl(NamedTuple):
    """A submitted URL: its id, its creation time, and whether it is new."""

    id: int
    created_at: int
    new: bool


def kind_of(origin: str) -> RunKind:
    """Return the kind of the standing runs of an origin."""
    if origin not in STANDING_KINDS:
        raise BadInput(f"origin must be one of {', '.join(STANDING_KINDS)}")
    return STANDING_KINDS[origin]


class StandingFrontier:
    """The URLs of the standing frontier: submitted, looked up, retried and removed.

    A standing run is never started and therefore never ends; workers claim its tasks like all others.
    """

    def __init__(
        self,
        records: Records,
        lifecycle: Lifecycle,
        politeness: PolitenessKey,
        signals: Signals,
        runs: StandingRuns,
    ) -> None:
        self._runs, self._standing, self._lifecycle, self._signals = runs, records.standing, lifecycle, signals
        self._politeness = politeness

    async def submit(self, text: str, source: str, origin: str, priority: int) -> SubmittedUrl:
        """Submit a URL; a waiting URL moves forward, a removed URL is restarted, any other ended URL stays ended."""
        url, key = parse(text), url_hash(text)
        run_id, plan = await self._runs.get(kind_of(origin), source)
        new = NewTask(url.href, host_of(url), key, scope=SCOPE, run_id=run_id, priority=priority, due=self._runs.due)
        polite = HostSetting(new.host, plan.politeness.delay_ms, plan.politeness.concurrency)
        tasks, hosts = await self._politeness.place([new], [polite])
        admitted = await self._lifecycle.admit(tasks, hosts)
        if admitted.over_budget:
            raise OverBudget(f"the budget of source {source} is used up: it takes in no more URLs")
        found = await self._standing.known(tasks[0].host, key)
        if found is None:
            raise Unavailable(f"{url.href} was not stored")
        if found.removed:
            await self._restart(found.task_id)
        if found.removed or not admitted.new:
            await self._standing.advance(found.task_id, priority, self._runs.due)
        row = await self.get(found.id)
        await self._wake_workers()
        return SubmittedUrl(row.id, row.created_at, bool(admitted.new) or found.removed)

    async def find(self, query: UrlQuery, limit: int, offset: int) -> tuple[list[StandingUrl], int]:
        """Return matching URLs, and their total number."""
        return await self._standing.find(query, limit=limit, offset=offset)

    async def counts(self) -> dict[str, int]:
        """Return the number of URLs at each rest."""
        return await self._standing.counts()

    async def get(self, url_id: int) -> StandingUrl:
        """Return the URL with this row id."""
        row = await self._standing.get(url_id)
        if row is None:
            raise NotFound("URL", url_id)
        return row

    async def get_by_uid(self, uid: str) -> StandingUrl:
        """Return the URL with this public id."""
        found = task_id_of(uid)
        row = await self._standing.get(found[0]) if found else None
        if found is None or row is None or row.created_at != found[1]:
            raise NotFound("URL", uid)
        return row

    async def retry(self, uid: str) -> None:
        """Retry a URL that was given up."""
        row = await self.get_by_uid(uid)
        if row.rest != "given_up":
            raise NotFound("URL", uid)
        await self._restart(row.task_id)
        await self._wake_workers()

    async def remove(self, uid: str) -> None:
        """Remove a URL; it may be submitted again."""
        row = await self.get_by_uid(uid)
        await self._lifecycle.move(MoveRequest("task", row.task_id, "cancel", "person", reason=REMOVED))

    async def _restart(self, task_id: int) -> None:
        await self._lifecycle.move(MoveRequest("task", task_id, "restart", "person", due=self._runs.due))

    async def _wake_workers(self) -> None:
        await self._signals.send(WORK_TOPIC)
