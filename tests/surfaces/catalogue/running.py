"""The catalogue API on a real server; only this module of the folder imports longline's wiring."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from itertools import count
from typing import Any

import asyncpg
import httpx
import msgspec

from longline.engine.lifecycle.moves import MoveRequest
from longline.services.callers.tokens import Tokens
from longline.settings import jwt_secret
from longline.wiring.serve import _work
from tests.surfaces.products.running import Stage

Json = dict[str, Any]
_NUMBERS = count(1)


@dataclass(frozen=True)
class Admin:
    """A client with the token of an admin; each has a user of its own, so that their rate limits are separate."""

    client: httpx.AsyncClient
    stage: Stage
    user: str

    async def ask(self, method: str, path: str, body: Any = None, **params: Any) -> httpx.Response:
        """Send a request below `/api/v1/admin/`."""
        return await self.client.request(method, f"/api/v1/admin/{path}", json=body, params=params)

    async def get(self, path: str, **params: Any) -> Any:
        """Return the data of an object or of a list without pages."""
        return data(await self.ask("GET", path, **params))

    async def page(self, path: str, **params: Any) -> tuple[list[Json], Json]:
        """Return the entries of a list, and its numbers."""
        answer = await self.ask("GET", path, **params)
        assert answer.status_code == 200, answer.text
        assert set(answer.json()) == {"data", "meta"}
        return answer.json()["data"], answer.json()["meta"]

    async def source(self, name: str = "Example", **more: Any) -> Json:
        """Register a source."""
        slug = name.lower().replace(" ", "-")
        body = {"name": name, "slug": slug, "baseurl": f"https://{slug}.example"} | more
        found: Json = data(await self.ask("POST", "crawler/sources", body), 201)
        return found

    async def comic(self, title: str = "A Comic", **more: Any) -> Json:
        """Make a comic."""
        found: Json = data(await self.ask("POST", "comics", {"title": title} | more), 201)
        return found

    async def mapping(self, comic: Json, source: Json, external: str = "x1", **more: Any) -> Json:
        """Link a comic to a source."""
        url = f"https://example.com/{external}"
        body = {"sourceid": source["id"], "sourceid_ext": external, "sourceurl": url} | more
        found: Json = data(await self.ask("POST", f"comics/{comic['id']}/sources", body), 201)
        return found

    async def job(self, source: Json, **more: Any) -> Json:
        """Trigger a job."""
        found: Json = data(await self.ask("POST", "crawler/jobs", {"sourceid": source["id"]} | more), 201)
        return found

    async def audit(self) -> list[Json]:
        """Return the audit entries of this user, oldest first."""
        found, _ = await self.page("auditlog", actorid=self.user, limit=500)
        return found[::-1]


def data(answer: httpx.Response, status: int = 200) -> Any:
    """Return the data of a success."""
    assert answer.status_code == status, answer.text
    assert set(answer.json()) == {"data"}, answer.text
    return answer.json()["data"]


def error(answer: httpx.Response) -> tuple[int, str, str]:
    """Return the status, the code and the text of a failure."""
    told = answer.json()
    assert set(told) in ({"error", "code"}, {"error", "code", "details"}), told
    for each in told.get("details", ()):
        assert set(each) == {"field", "message"}
    return answer.status_code, told["code"], told["error"]


def fields(answer: httpx.Response) -> list[str]:
    """Return the names of the fields that a failure is about."""
    return [each["field"] for each in answer.json()["details"]]


def token(stage: Stage, role: str = "admin", user: str = "") -> str:
    """Return a token of a user."""
    return Tokens(jwt_secret(stage.settings), stage.platform.clock.now).issue(
        role, user or f"user{next(_NUMBERS)}", 10**6
    )


@asynccontextmanager
async def visiting(stage: Stage) -> AsyncIterator[Admin]:
    """Yield a client with the token of a fresh admin."""
    user = f"user{next(_NUMBERS)}"
    headers = {"Authorization": f"Bearer {token(stage, user=user)}"}
    async with httpx.AsyncClient(base_url=stage.address, verify=False, headers=headers, timeout=60) as client:
        yield Admin(client, stage, user)


class WorkingStage(Stage):
    """A server with workers and upkeep in the same process."""

    async def _start(self) -> None:
        await super()._start()
        self._stop = asyncio.Event()
        roles = frozenset({"fetch", "parse", "upkeep"})
        self._working = asyncio.create_task(_work(self.platform, roles, self._stop, leashed=False))

    def close(self) -> None:
        """Stop the workers, then the server."""
        self.call(self._finish())
        super().close()

    async def _finish(self) -> None:
        self._stop.set()
        await self._working


def write(stage: Stage, statement: str) -> None:
    """Change rows of the database behind the server, for states that only time would bring."""
    database = stage.settings.database
    if database.startswith("sqlite"):
        with closing(sqlite3.connect(database.removeprefix("sqlite:///"), timeout=30)) as connection:
            connection.execute(statement)
            connection.commit()
    else:
        stage.call(_execute(database, statement))


async def _execute(database: str, statement: str) -> None:
    connection = await asyncpg.connect(database)
    await connection.execute(statement)
    await connection.close()


async def start_job(stage: Stage, job_id: str) -> None:
    """Let a queued job run, as the starter would."""
    await _moved(stage, job_id, MoveRequest("run", 0, "start", "scheduler"))


async def end_job(stage: Stage, job_id: str, error: str | None) -> None:
    """End a running job: done, or failed with an error."""
    name = "finish" if error is None else "fail_judged"
    await _moved(stage, job_id, MoveRequest("run", 0, name, "upkeep", reason=error, error=error))


async def _moved(stage: Stage, job_id: str, order: MoveRequest) -> None:
    async def work() -> None:
        found = await stage.platform.records.catalogues.runs.get(job_id)
        assert found is not None
        await stage.platform.lifecycle.move(msgspec.structs.replace(order, subject=found.run.id))

    await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work(), stage.loop))
