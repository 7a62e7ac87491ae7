"""A platform whose scheduler and worker act only on a test's call, served over real HTTP."""

import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import msgspec

from longline.drivers.signals.local import LocalSignals
from longline.engine.lifecycle.politeness_key import PolitenessKey
from longline.engine.parse.page_parser import PageParser
from longline.engine.runs.retention import Retention
from longline.engine.schedules.scheduler import Scheduler
from longline.model.frontier.task import ClaimedTask, Outcome, PageFacts, RequestMade
from longline.model.states import TaskState
from longline.ports.records import Records
from longline.ports.records.frontier.frontier import ReportBatch, WrittenSegment
from longline.ports.records.schedules import PageChangeStore
from longline.services.callers.tokens import Tokens
from longline.services.health import Health
from longline.services.metrics.task_and_run_counts import Counts
from longline.settings import Settings
from longline.surfaces.app import AppParts, build_app
from longline.testing.clock import FakeClock
from longline.wiring.doors.intervals import interval_services
from longline.wiring.platform import Platform, load_parsers
from longline.wiring.subjects.runs import retention
from longline.wiring.subjects.schedules import scheduler
from tests.drivers.records.world import claim, host_report
from tests.surfaces.conftest import serving

SECRET = "s" * 64
MINUTE, HOUR, DAY = 60.0, 3600.0, 86_400.0
Json = dict[str, Any]


def seconds(text: str) -> float:
    """Return a time of an answer in seconds."""
    return datetime.fromisoformat(text).timestamp()


def shown(at: float) -> str:
    """Return seconds in the format of an answer."""
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Stage:
    """The parts that a test may move. Schedulers have numbers; the first one is there from the start."""

    def __init__(self, platform: Platform, client: httpx.AsyncClient, clock: FakeClock) -> None:
        self.platform, self.client, self.clock = platform, client, clock
        self.schedulers: dict[int, Scheduler] = {}
        self.bodies: dict[str, str] = {}
        self.statuses: dict[str, int] = {}
        self.made = 0

    @property
    def now(self) -> float:
        return self.clock.now() / 1000

    def scheduler(self, number: int = 1) -> Scheduler:
        return self.schedulers.setdefault(number, scheduler(self.platform, number))

    async def ask(self, method: str, path: str, body: Any = None, expect: int = 200) -> Any:
        """Return the decoded answer, which must have this status."""
        answer = await self.client.request(method, path, json=body)
        assert answer.status_code == expect, f"{method} {path}: {answer.status_code} {answer.text}"
        return answer.json() if answer.content else None

    async def source(self, name: str = "news", **more: Any) -> str:
        """Make a source and return its id."""
        body = {"name": name, "url": f"https://{name}.example/", "rate_limit": "1s"} | more
        found: str = (await self.ask("POST", "/api/v1/sources", body, 201))["id"]
        return found

    async def job(self, source_id: str | None = "", **more: Any) -> Json:
        """Make a job, of a fresh source by default."""
        name = "news"
        if source_id == "":
            name, self.made = f"s{self.made}", self.made + 1
            source_id = await self.source(name)
        body = {"source_id": source_id, "url": f"https://{name}.example/"} | more
        found: Json = await self.ask("POST", "/api/v1/jobs", {k: v for k, v in body.items() if v is not None}, 201)
        return found

    async def recurring(self, count: int = 30, unit: str = "minutes", **more: Any) -> Json:
        """Make a recurring job of a source of its own."""
        return await self.job(
            more.pop("source_id", ""), interval_minutes=count, interval_type=unit, schedule_enabled=True, **more
        )

    async def jobs(self) -> list[Json]:
        found: list[Json] = (await self.ask("GET", "/api/v1/jobs?limit=250"))["jobs"]
        return found

    async def get(self, job: Json) -> Json:
        found: Json = await self.ask("GET", f"/api/v1/jobs/{job['id']}")
        return found

    async def runs(self, job: Json) -> list[Json]:
        """Return the executions of a job, oldest first."""
        found = await self.ask("GET", f"/api/v1/jobs/{job['id']}/executions?limit=250")
        return list(reversed(found["executions"]))

    async def poll(self, number: int = 1) -> int:
        """Let a scheduler start the due jobs."""
        return await self.scheduler(number).poll()

    async def work(self, number: int = 1, *, look: bool = True) -> None:
        """Let a worker fetch all claimable tasks, and the scheduler end finished runs, unless `look` is false."""
        leases = await claim(self.platform.records)
        for lease in leases.values():
            segment = await self.platform.records.segments.begin(f"warc/{lease.host}-{lease.token}", 1)
            outcomes = [self._fetched(task) for task in lease.tasks]
            batch = ReportBatch(
                reports=[host_report(lease, outcomes)],
                segment=WrittenSegment(segment, len(outcomes), 1) if any(o.page for o in outcomes) else None,
            )
            assert not (await self.platform.lifecycle.report(batch)).refused
        if look:
            await self.scheduler(number).follow()

    def _fetched(self, task: ClaimedTask) -> Outcome:
        body = self.bodies.get(task.url, "a page")
        at, status = self.clock.now(), self.statuses.get(task.url)
        if body in ("robots", "content_type", "challenge"):
            asked = () if body == "robots" else (RequestMade(status, 5, reason=body),)
            return Outcome(task, TaskState.SKIPPED, body, at=at, status=status, asked=asked)
        if body == "http_4xx":
            asked = (RequestMade(404, 5, reason=body, error="HTTP 404"),)
            return Outcome(task, TaskState.FAILED, body, at=at, status=404, error="HTTP 404", asked=asked)
        digest = f"sha256:{hashlib.sha256(body.encode()).hexdigest()}"
        page = PageFacts(0, 9, digest, 200, "text/html", len(body), at, 5, task.url, "T", None, None)
        asked = (RequestMade(200, 5, len(body)),)
        return Outcome(task, TaskState.COMPLETED, "ok", at=at, status=200, page=page, asked=asked)

    async def run(self, number: int = 1) -> int:
        """Run one round: the due jobs are started and worked."""
        started = await self.poll(number)
        await self.work(number)
        return started

    def retention(self) -> Retention:
        return retention(self.platform)

    def advance(self, by: float) -> None:
        self.clock.advance(by)

    def until(self, at: float) -> None:
        """Let time pass up to a moment."""
        self.clock.advance(at - self.now)


@asynccontextmanager
async def opened(
    records: Records,
    clock: FakeClock,
    folder: Path,
    http: Any = None,
    page_changes: PageChangeStore | None = None,
    **changes: Any,
) -> AsyncIterator[Stage]:
    """Yield the opened platform."""
    nothing: Any = None
    source_manager = changes.pop("source_manager", None)
    settings = msgspec.structs.replace(Settings(data=folder, jwt_secret=SECRET), **changes)
    parsers = load_parsers(settings)
    platform = Platform(
        settings=settings,
        clock=clock,
        records=records,
        blobs=nothing,
        signals=LocalSignals(),
        http=http,
        presence=nothing,
        politeness=PolitenessKey(),
        vault=nothing,
        parsers=parsers,
        parser=PageParser(parsers),
        search=nothing,
        page_change_store=page_changes or records.page_changes,
        cache=nothing,
        source_manager=source_manager,
    )
    tokens = Tokens(SECRET, clock.now)
    counts = Counts(records.tasks, records.runs)
    parts = AppParts("1", Health([], clock), tokens, counts, intervals=interval_services(platform))
    async with serving(build_app(parts)) as client:
        client.timeout = httpx.Timeout(60)
        client.headers["authorization"] = f"Bearer {tokens.issue('admin', 'me', 400 * DAY)}"
        yield Stage(platform, client, clock)
