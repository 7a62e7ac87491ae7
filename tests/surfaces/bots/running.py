"""The bots' door on a real server, with a clock that tests advance; only this module imports longline's wiring."""

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any, TypeVar

import httpx
import msgspec

from longline.drivers.blobs import open_blobs
from longline.drivers.records import open_records
from longline.services.callers.tokens import Tokens
from longline.services.health import Health
from longline.services.metrics.task_and_run_counts import Counts
from longline.settings import Settings
from longline.surfaces.app import AppParts, build_app
from longline.surfaces.server.http_server import HttpServer
from longline.testing.clock import FakeClock
from longline.wiring.doors.bots import bot_services, bot_task_upkeep
from tests.drivers.records.migrated import delete_rows

Result = TypeVar("Result")

URL = "https://example.com/product/123"


@dataclass(frozen=True)
class Door:
    """A running door, and the client that sends the requests."""

    client: httpx.AsyncClient
    clock: FakeClock
    stage: "Stage"
    admin: dict[str, str]
    anybody: dict[str, str]

    @property
    def now(self) -> datetime:
        """Return the server's time."""
        return datetime.fromtimestamp(self.clock.now() / 1000, UTC)

    def after(self, **span: float) -> str:
        """Return a time relative to now in the format of the contract."""
        at = self.now + timedelta(**span)
        form = "milliseconds" if at.microsecond else "seconds"
        return at.isoformat(timespec=form).replace("+00:00", "Z")

    async def ask(self, path: str, **body: Any) -> httpx.Response:
        return await self.client.post(f"/api/crawl/{path}/", json=body)

    async def pull(self, bot: str = "bot-001", **more: Any) -> dict[str, Any]:
        """Pull, which must succeed, and return the data."""
        return data(await self.ask("pull", bot_id=bot, **more), 200)

    async def submit(self, job: str, bot: str = "bot-001", **more: Any) -> httpx.Response:
        said = {"success": True, "price": 99.99, "currency": "USD"} if "success" not in more else {}
        return await self.ask("submit", bot_id=bot, job_id=job, **{**said, **more})

    async def fail(self, job: str, bot: str = "bot-001", error: str = "Timeout: page did not load") -> dict[str, Any]:
        return data(await self.submit(job, bot, success=False, error_msg=error), 200)

    async def manage(self, method: str, path: str, **more: Any) -> httpx.Response:
        return await self.client.request(method, f"/api/crawl/admin/{path}", headers=self.admin, **more)

    async def get(self, path: str) -> dict[str, Any]:
        return data(await self.manage("GET", path), 200)

    async def post(self, path: str, status: int = 201, **body: Any) -> dict[str, Any]:
        return data(await self.manage("POST", path, json=body), status)

    async def policy(self, url: str = URL, **more: Any) -> dict[str, Any]:
        return await self.post("policies", url=url, **more)

    async def job(self, url: str = URL, **more: Any) -> str:
        """Create a one-off job and return its id."""
        return str((await self.post("jobs", url=url, **more))["id"])

    async def held(self, bot: str = "bot-001", **more: Any) -> str:
        """Create a one-off job, lock it for a bot and return its id."""
        job = await self.job(**more)
        pulled = await self.pull(bot)
        assert [j["job_id"] for j in pulled["jobs"]] == [job]
        return job

    async def status(self, job: str) -> str:
        return str((await self.get(f"jobs/{job}"))["status"])


def data(answer: httpx.Response, status: int) -> dict[str, Any]:
    """Return the data of a success."""
    assert answer.status_code == status, answer.text
    told = answer.json()
    assert set(told) == {"success", "data"}
    assert told["success"] is True
    found: dict[str, Any] = told["data"]
    return found


def error(answer: httpx.Response) -> tuple[int, str, Any]:
    """Return the status, the code and the details of a failure."""
    told = answer.json()
    assert set(told) == {"success", "error", "detail"}, told
    assert told["success"] is False
    return answer.status_code, told["error"], told["detail"]


class Stage:
    """A server in a thread and loop of its own, so that one serves many tests."""

    def __init__(self, database: str, clock: Any = None, port: int = 0, **settings: Any) -> None:
        self.database, self.clock, self._port = database, clock or FakeClock(), port
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._records = self.call(open_records(database, self.clock))
        self.call(self._records.schema.migrate())
        # Only the parts of the platform that the bots' door uses.
        self.platform: Any = SimpleNamespace(
            settings=Settings(**settings), clock=self.clock, records=self._records, blobs=open_blobs("memory:///")
        )
        self._tokens = Tokens("s" * 64, self.clock.now)
        self._server = HttpServer()
        self.address = self.call(self._start())

    async def _start(self) -> str:
        counts = Counts(self._records.tasks, self._records.runs)
        health = Health([], self.clock)
        parts = AppParts("1.2.3", health, self._tokens, counts, metrics_open=True, bots=bot_services(self.platform))
        return await self._server.start(build_app(parts), "127.0.0.1", self._port)

    def call(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Call a function in the server's loop, and block until it returns."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(60)

    def bearer(self, role: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._tokens.issue(role, 'me', 10**8)}"}

    def empty(self) -> None:
        """Empty the database and reset the rate limits."""
        self.clock.advance(120)
        if self.database.startswith("sqlite"):
            with closing(sqlite3.connect(self.database.removeprefix("sqlite:///"), timeout=30)) as connection:
                connection.executescript("".join(f"DELETE FROM {table};" for table in TABLES))
        else:
            self.call(delete_rows(self.database, TABLES))

    def close(self) -> None:
        self.call(self._server.stop())
        self.call(self._records.schema.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


TABLES = (
    *("bot_answers", "bot_results", "bot_tasks", "bot_hosts", "bot_urls", "bot_schedules", "bot_hours", "bots"),
    *("offers", "tasks", "fates", "events", "runs", "schedules", "line", "hosts"),
)
"""The tables that these tests fill, referencing tables first."""


@asynccontextmanager
async def visiting(stage: Stage) -> AsyncIterator[Door]:
    """Yield a client of the door."""
    async with httpx.AsyncClient(base_url=stage.address, verify=False, timeout=60) as client:
        yield Door(client, stage.clock, stage, stage.bearer("admin"), stage.bearer("viewer"))


@asynccontextmanager
async def running(database: str, **settings: Any) -> AsyncIterator[Door]:
    """Yield a door of its own on an empty database."""
    stage = Stage(database, **settings)
    try:
        async with visiting(stage) as door:
            yield door
    finally:
        stage.close()


def store_pattern(door: Door, uid: str, pattern: str) -> None:
    """Write a pattern that the door would refuse, as an older release could have done."""

    async def write() -> None:
        schedules = door.stage.platform.records.bot_schedules
        await schedules.change(msgspec.structs.replace(await schedules.get(uid), pattern=pattern))

    door.stage.call(write())


def sweep(door: Door) -> int:
    """Take back the lapsed locks, as the upkeep loop does, and return their number."""
    return door.stage.call(bot_task_upkeep(door.stage.platform).sweep())


def plan(door: Door) -> int:
    """Make the jobs of due policies, as the upkeep loop does, and return their number."""
    return door.stage.call(bot_task_upkeep(door.stage.platform).plan())
