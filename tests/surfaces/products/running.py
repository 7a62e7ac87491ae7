"""The product-tasks door on a real server; only this module of the folder imports longline's wiring."""

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import httpx

from longline.services.callers.tokens import Tokens
from longline.settings import Settings, jwt_secret
from longline.wiring import Platform, open_platform
from longline.wiring.platform import migrate_tables
from longline.wiring.serve import _serving
from tests.drivers.records.migrated import delete_rows
from tests.drivers.records.peek import TABLES as ALL_TABLES

Result = TypeVar("Result")
Json = dict[str, Any]

KEPT = {"migrations", "turns", "places", "engine_clock", "audit", "workers", "sqlite_sequence"}
"""Tables that are not emptied between two tests."""


@dataclass(frozen=True)
class Door:
    """A running door, and a client of it."""

    client: httpx.AsyncClient
    stage: "Stage"

    @property
    def platform(self) -> Platform:
        """Return the platform behind the door."""
        return self.stage.platform

    async def ask(self, method: str, path: str, body: Any = None, **params: Any) -> httpx.Response:
        return await self.client.request(method, f"/api/{path}", json=body, params=params)

    async def get(self, path: str, **params: Any) -> Any:
        """Send a GET and return the data of its answer."""
        return data(await self.ask("GET", path, **params))

    async def list(self, path: str, **params: Any) -> tuple[list[Json], Json]:
        """Return the entries of a list and its pagination."""
        answer = await self.ask("GET", path, **params)
        assert answer.status_code == 200, answer.text
        told = answer.json()
        assert set(told) == {"success", "data", "pagination"}
        assert set(told["pagination"]) == {"page", "per_page", "total", "total_pages"}
        return told["data"], told["pagination"]

    async def write(self, method: str, path: str, body: Any = None, status: int = 200) -> Any:
        """Send a change and return the data of its answer, which has a message."""
        answer = await self.ask(method, path, body)
        assert answer.status_code == status, answer.text
        told = answer.json()
        assert set(told) == {"success", "data", "message"}, told
        assert told["success"] is True
        assert told["message"]
        return told["data"]

    async def domain(self, name: str = "shop.example", **more: Any) -> Json:
        body = {"domain_name": name, "base_url": f"https://{name}", "parser_name": "product"} | more
        found: Json = await self.write("POST", "admin/domains", body, 201)
        return found

    async def proxy(self, host: str = "10.0.0.1", port: int = 8080, **more: Any) -> Json:
        found: Json = await self.write("POST", "admin/proxies", {"proxy_url": host, "proxy_port": port} | more, 201)
        return found

    def call(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Do something in the server's loop."""
        return self.stage.call(work)


def data(answer: httpx.Response, status: int = 200) -> Any:
    """Return the data of a success."""
    assert answer.status_code == status, answer.text
    told = answer.json()
    assert set(told) == {"success", "data"}, told
    assert told["success"] is True
    return told["data"]


def error(answer: httpx.Response) -> tuple[int, str, str]:
    """Return the status, the code and the message of a failure."""
    told = answer.json()
    assert set(told) == {"success", "error"}, told
    assert told["success"] is False
    assert set(told["error"]) == {"code", "message", "details"}, told
    return answer.status_code, told["error"]["code"], told["error"]["message"]


def details(answer: httpx.Response) -> Json:
    """Return the details of a failure."""
    error(answer)
    found: Json = answer.json()["error"]["details"]
    return found


class Stage:
    """A server in a thread and loop of its own, so that one serves many tests."""

    def __init__(self, folder: Path, database: str = "", **settings: Any) -> None:
        self.settings = Settings(data=folder, database=database, port=0, **settings)
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self._thread.start()
        self._stack = AsyncExitStack()
        self.platform: Platform
        self.address = ""
        self.call(self._start())

    async def _start(self) -> None:
        self.platform = await self._stack.enter_async_context(open_platform(self.settings))
        await migrate_tables(self.platform, may_migrate=True)
        found: list[str] = []
        await self._stack.enter_async_context(_serving(self.platform, found.append))
        self.address = found[0]

    def call(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Call a function in the server's loop, and block until it returns."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(120)

    def bearer(self, role: str) -> dict[str, str]:
        token = Tokens(jwt_secret(self.settings), self.platform.clock.now).issue(role, "me", 10**6)
        return {"Authorization": f"Bearer {token}"}

    def empty(self) -> None:
        """Delete every row that a test has made."""
        if self.settings.database.startswith("sqlite"):
            path = self.settings.database.removeprefix("sqlite:///")
            with closing(sqlite3.connect(path, timeout=30)) as connection:
                found = connection.execute(
                    "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE '%fts5%'"
                )
                names = [name for (name,) in found if name not in KEPT and not name.startswith(("texts", "vocabulary"))]
                connection.executescript("".join(f"DELETE FROM {name};" for name in names))
        else:
            tables = [table for table in ALL_TABLES if table not in KEPT]
            self.call(delete_rows(self.settings.database, tables))

    def close(self) -> None:
        self.call(self._stack.aclose())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()


@asynccontextmanager
async def visiting(stage: Stage, headers: dict[str, str] | None = None) -> AsyncIterator[Door]:
    """Yield a client of the door."""
    async with httpx.AsyncClient(base_url=stage.address, verify=False, headers=headers, timeout=60) as client:
        yield Door(client, stage)


@asynccontextmanager
async def running(folder: Path, database: str = "", **settings: Any) -> AsyncIterator[Door]:
    """Yield a door of its own on an empty database."""
    stage = Stage(folder, database, **settings)
    try:
        async with visiting(stage) as door:
            yield door
    finally:
        stage.close()
