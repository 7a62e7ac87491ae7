"""A whole platform behind its door: real engines, real HTTP, and runs that tests start and end."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx

from longline.model.frontier.host import HostReport
from longline.model.frontier.task import Outcome
from longline.model.ids import new_id, task_id_of
from longline.model.logs.run_log import NewLogEntry
from longline.model.runs.run import NewRun, RunKind, RunRow
from longline.model.schedules.schedule import NewSchedule, ScheduleRow
from longline.model.states import TaskState
from longline.ports.records.frontier.frontier import Change, ClaimRequest, ReportBatch
from longline.services.callers.tokens import Tokens
from longline.settings import Settings, jwt_secret
from longline.wiring import Platform, open_platform
from longline.wiring.platform import migrate_tables
from longline.wiring.serve import _serving
from longline.wiring.subjects.logs import run_log_keeper
from tests.drivers.records.peek import Peek


@dataclass(frozen=True)
class Event:
    """One server-sent event."""

    name: str
    data: Any
    id: str | None


@dataclass(frozen=True)
class Door:
    """The address, a token for it, and the platform behind it."""

    address: str
    token: str
    platform: Platform

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}

    def client(self) -> httpx.AsyncClient:
        return httpx.AsyncClient(base_url=self.address, verify=False, headers=self.headers, timeout=60)

    async def job(self, url: str = "https://a.example/") -> ScheduleRow:
        return await self.platform.records.schedules.add(NewSchedule(new_id(), url))

    async def run(self, job: ScheduleRow) -> RunRow:
        """Start an execution."""
        run = await self.platform.records.runs.add(NewRun(new_id(), RunKind.CRAWL, "{}", schedule_id=job.id))
        await self.platform.records.moves.apply(Change("run", run.id, "start", "queued", "running", "scheduler"))
        return run

    async def say(self, run: RunRow, *texts: str, level: str = "info", fields: str | None = None) -> None:
        now = self.platform.clock.now()
        entries = [NewLogEntry(run.id, now, level, "fetch", text, fields) for text in texts]
        await self.platform.records.logs.append(entries, {})
        await self.platform.signals.send("logs", str(run.id))

    async def end(self, run: RunRow, move: str = "cancel", became: str = "cancelled") -> None:
        """End the execution, and close and archive its log."""
        await self.stop(run, move, became)
        await run_log_keeper(self.platform, grace_ms=0).once()

    async def stop(self, run: RunRow, move: str = "cancel", became: str = "cancelled") -> None:
        """End the execution, and leave its log open."""
        await self.platform.records.moves.apply(Change("run", run.id, move, "running", became, "person", error="why"))

    async def finish(self, uid: str, became: str, reason: str, status: int | None = None, error: str = "") -> None:
        """Claim a URL as a worker and report its end."""
        found = task_id_of(uid)
        assert found
        frontier = self.platform.records.frontier
        reports = []
        for lease in await frontier.claim(ClaimRequest(7, 100, 100, 30_000)):
            mine = [task for task in lease.tasks if task.id == found[0]]
            others = tuple(task for task in lease.tasks if task.id != found[0])
            facts: dict[str, Any] = {"at": self.platform.clock.now(), "status": status, "error": error or None}
            outcomes = tuple(Outcome(task, TaskState(became), reason, **facts) for task in mine)
            reports.append(HostReport(lease.host_id, lease.token, outcomes, unstarted=others, release=True))
        assert not (await frontier.report(ReportBatch(reports=reports))).refused

    async def peek(self, sql: str) -> Any:
        """Return the one value of a query, sent to the database directly."""
        looking = Peek(self.platform.settings.database)
        try:
            return await looking.value(sql)
        finally:
            await looking.close()

    @asynccontextmanager
    async def stream(self, path: str, last: str | None = None, **params: str) -> AsyncIterator[AsyncIterator[Event]]:
        """Yield the events of a stream without heartbeats."""
        headers = self.headers | ({"Last-Event-ID": last} if last else {})
        async with (
            httpx.AsyncClient(base_url=self.address, verify=False, headers=headers, timeout=60) as client,
            client.stream("GET", path, params=params) as answer,
        ):
            assert answer.status_code == 200, await answer.aread()
            assert answer.headers["content-type"] == "text/event-stream"
            yield events(answer)


async def events(answer: httpx.Response) -> AsyncIterator[Event]:
    """Yield events as a browser parses them."""
    fields: dict[str, str] = {}
    async for line in answer.aiter_lines():
        if line and not line.startswith(":"):
            name, _, value = line.partition(": ")
            fields[name] = value
        elif not line and fields:
            yield Event(fields["event"], json.loads(fields["data"]), fields.get("id"))
            fields = {}


async def take(stream: AsyncIterator[Event], amount: int) -> list[Event]:
    """Return the next events, that many."""
    return [await asyncio.wait_for(anext(stream), 60) for _ in range(amount)]


async def rest(stream: AsyncIterator[Event]) -> list[Event]:
    """Return the events until the stream ends."""

    async def read() -> list[Event]:
        return [event async for event in stream]

    return await asyncio.wait_for(read(), 60)


@asynccontextmanager
async def open_door(settings: Settings) -> AsyncIterator[Door]:
    """Yield the door of a platform with these settings."""
    async with open_platform(settings) as platform:
        await migrate_tables(platform, may_migrate=True)
        found: list[str] = []
        async with _serving(platform, found.append):
            token = Tokens(jwt_secret(settings), platform.clock.now).issue("admin", "me", 3600)
            yield Door(found[0], token, platform)
