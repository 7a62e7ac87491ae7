"""A platform with fake engines, served over real HTTP."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
from litestar import Litestar

from longline.model.errors import Unavailable
from longline.services.callers.tokens import Tokens
from longline.services.health import Check, Health
from longline.services.metrics.task_and_run_counts import Counts
from longline.surfaces.app import AppParts, build_app
from longline.surfaces.server.http_server import HttpServer
from tests.services.clock import HandClock


class Engine:
    """An engine that can be stopped."""

    def __init__(self) -> None:
        self.up = True
        self.found: dict[str, int] = {}

    async def check(self) -> str:
        if not self.up:
            raise Unavailable("engine at 10.1.2.3:5432 is down")
        return "Engine 1.0"

    async def counts(self) -> dict[str, int]:
        await self.check()
        return self.found


class Stage:
    """The parts that a test may move."""

    def __init__(self, *, metrics_open: bool = True) -> None:
        self.clock = HandClock()
        self.database, self.objects = Engine(), Engine()
        self.tokens = Tokens("s" * 64, self.clock.now)
        records: Any = self.database
        checks = [Check("database", self.database.check, critical=True), Check("objects", self.objects.check)]
        health = Health(checks, self.clock)
        self.app: Litestar = build_app(AppParts("1.2.3", health, self.tokens, Counts(records, records), metrics_open))


@asynccontextmanager
async def serving(app: Litestar) -> AsyncIterator[httpx.AsyncClient]:
    """Yield a client of the application on a free port."""
    server = HttpServer()
    address = await server.start(app, "127.0.0.1", 0)
    try:
        async with httpx.AsyncClient(base_url=address, verify=False, timeout=60) as client:
            yield client
    finally:
        await server.stop()


@pytest.fixture
def stage() -> Stage:
    return Stage()


@pytest.fixture
async def client(stage: Stage) -> AsyncIterator[httpx.AsyncClient]:
    async with serving(stage.app) as client:
        yield client
