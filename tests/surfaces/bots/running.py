"""The bots' door on a real server, with a clock that tests move: the only part here that knows our code."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import httpx

from longline.drivers.blobs import open_blobs
from longline.drivers.records import open_records
from longline.services.counts import Counts
from longline.services.health import Health
from longline.services.tokens import Tokens
from longline.settings import Settings
from longline.surfaces.app import Parts, build_app
from longline.surfaces.server import HttpServer
from longline.testing.clock import FakeClock
from longline.wiring.bots import bot_parts, bot_upkeep

URL = "https://example.com/product/123"


@dataclass(frozen=True)
class Door:
    """A running door, and who asks."""

    client: httpx.AsyncClient
    clock: FakeClock
    house: Any
    admin: dict[str, str]
    anybody: dict[str, str]

    @property
    def now(self) -> datetime:
        """The server's time."""
        return datetime.fromtimestamp(self.clock.now() / 1000, UTC)

    def after(self, **span: float) -> str:
        """A time from now, as the contract writes it."""
        at = self.now + timedelta(**span)
        form = "milliseconds" if at.microsecond else "seconds"
        return at.isoformat(timespec=form).replace("+00:00", "Z")

    async def ask(self, path: str, **body: Any) -> httpx.Response:
        return await self.client.post(f"/api/crawl/{path}/", json=body)

    async def pull(self, bot: str = "bot-001", **more: Any) -> dict[str, Any]:
        """Pull, which must work; the data."""
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
        """A one-off job; its id."""
        return str((await self.post("jobs", url=url, **more))["id"])

    async def held(self, bot: str = "bot-001", **more: Any) -> str:
        """A one-off job that is locked by a bot."""
        job = await self.job(**more)
        pulled = await self.pull(bot)
        assert [j["job_id"] for j in pulled["jobs"]] == [job]
        return job

    async def status(self, job: str) -> str:
        return str((await self.get(f"jobs/{job}"))["status"])


def data(answer: httpx.Response, status: int) -> dict[str, Any]:
    """What a success brought."""
    assert answer.status_code == status, answer.text
    told = answer.json()
    assert set(told) == {"success", "data"}
    assert told["success"] is True
    found: dict[str, Any] = told["data"]
    return found


def error(answer: httpx.Response) -> tuple[int, str, Any]:
    """What a failure said."""
    told = answer.json()
    assert set(told) == {"success", "error", "detail"}, told
    assert told["success"] is False
    return answer.status_code, told["error"], told["detail"]


@asynccontextmanager
async def running(database: str, **settings: Any) -> AsyncIterator[Door]:
    """A door on an empty database."""
    clock = FakeClock()
    records = await open_records(database, clock)
    try:
        await records.schema.migrate()
        # Of the house only what the bots' side of it asks for.
        house: Any = SimpleNamespace(
            settings=Settings(**settings), clock=clock, records=records, blobs=open_blobs("memory:///")
        )
        tokens = Tokens("s" * 64, clock.now)
        counts = Counts(records.tasks, records.runs)
        parts = Parts("1.2.3", Health([], clock), tokens, counts, metrics_open=True, bots=bot_parts(house))
        server = HttpServer()
        address = await server.start(build_app(parts), "127.0.0.1", 0)
        admin, other = (f"Bearer {tokens.issue(role, 'me', 10**8)}" for role in ("admin", "viewer"))
        try:
            async with httpx.AsyncClient(base_url=address, timeout=30) as client:
                yield Door(client, clock, house, {"Authorization": admin}, {"Authorization": other})
        finally:
            await server.stop()
    finally:
        await records.schema.close()


async def sweep(door: Door) -> int:
    """What the upkeep loop does."""
    return await bot_upkeep(door.house).sweep()


async def plan(door: Door) -> int:
    """What the upkeep loop does."""
    return await bot_upkeep(door.house).plan()


async def migrate(database: str) -> None:
    """Make the tables."""
    records = await open_records(database, FakeClock())
    await records.schema.migrate()
    await records.schema.close()
