"""A running `longline up` on each engine, used from outside: an address and a secret for tokens."""

import json
import os
import subprocess
import time
import uuid
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import jwt
import pytest

from tests.servers import PostgresServer
from tests.servers.process import free_ports
from tests.servers.program import Program

Json = dict[str, Any]
SECRET = "a secret of an outsider, forty characters"
UNKNOWN = "01963a7e-5b2c-7def-8123-456789abcdef"
FAR = "2099-01-01T00:00:00Z"
_NUMBERS = count(1)


def unique() -> str:
    """Return a unique word."""
    return f"n{next(_NUMBERS)}-{uuid.uuid4().hex[:6]}"


def token(role: Any = "admin", seconds: int = 3600, key: str = SECRET, algorithm: str = "HS256", **more: Any) -> str:
    """Return a token of a fresh user, since users have limits."""
    now = int(time.time())
    claims = {"sub": unique(), "username": "ada", "role": role, "iat": now, "exp": now + seconds, "jti": unique()}
    return jwt.encode(claims | more, key, algorithm)


class World:
    """A running platform, with a source, a comic, their mapping and a queued job."""

    def __init__(self, address: str) -> None:
        self.client = httpx.Client(base_url=address, timeout=60)
        self.names: Json = {}

    def ask(self, method: str, path: str, body: Any = None, *, raw: bytes | None = None, **how: Any) -> httpx.Response:
        """Send a request; names in braces stand for ids."""
        given = {"Authorization": f"Bearer {token()}", "Content-Type": "application/json"} | how.pop("headers", {})
        content = raw if raw is not None else b"" if body is None else json.dumps(body).encode()
        headers = {name: value for name, value in given.items() if value is not None}
        path = f"/api/v1/admin/{path.format(**self.names)}"
        return self.client.request(method, path, content=content, headers=headers, **how)

    def make(self, path: str, body: Json) -> Json:
        """Make a thing."""
        answer = self.ask("POST", path, body)
        assert answer.status_code == 201, answer.text
        found: Json = answer.json()["data"]
        return found

    def source(self, **more: Any) -> Json:
        """Register a source."""
        name = unique()
        return self.make("crawler/sources", {"name": name, "slug": name, "baseurl": f"https://{name}.example"} | more)

    def settle(self) -> None:
        """Make the things that the checks name."""
        self.names["source"] = self.source()["id"]
        self.names["comic"] = self.make("comics", {"title": unique()})["id"]
        self.names["taken"] = unique()
        self.names["mapping"] = self.make("comics/{comic}/sources", self.mapping(sourceid_ext=self.names["taken"]))[
            "id"
        ]
        self.names["job"] = self.make("crawler/jobs", {"sourceid": self.names["source"], "scheduledat": FAR})["id"]

    def mapping(self, **more: Any) -> Json:
        """Return the body of a mapping."""
        body = {"sourceid": self.names["source"], "sourceid_ext": unique(), "sourceurl": "https://a.example/x"}
        return body | more


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def world(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """The platform of one engine."""
    folder = tmp_path_factory.mktemp("outsider")
    if request.param == "sqlite":
        yield from _running(folder, {})
        return
    server: PostgresServer = request.getfixturevalue("postgres_server")
    with server.fresh_database() as url:
        yield from _running(folder, {"LONGLINE_DATABASE": url})


def _running(folder: Path, more: dict[str, str]) -> Iterator[World]:
    [port] = free_ports(1)
    told = {"LONGLINE_DATA": str(folder), "AUTH_JWT_SECRET": SECRET, "LONGLINE_LOG_LEVEL": "error"}
    program = Program(
        ["up", "--port", str(port)], os.environ | told | more, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    found = World(f"http://127.0.0.1:{port}")
    try:
        until = time.monotonic() + 120
        while not _answers(found):
            assert time.monotonic() < until, "the platform does not answer"
            time.sleep(0.2)
        found.settle()
        yield found
    finally:
        found.client.close()
        program.kill()
        program.wait()


def _answers(found: World) -> bool:
    try:
        return found.ask("GET", "crawler/sources").status_code == 200
    except httpx.TransportError:
        return False


def refused(answer: httpx.Response, status: int, code: str, text: str | None = None, field: str | None = None) -> None:
    """Check an error, its envelope and its headers."""
    told = answer.json()
    assert (answer.status_code, told["code"]) == (status, code), answer.text
    assert set(told) in ({"error", "code"}, {"error", "code", "details"})
    assert text is None or told["error"] == text
    assert field is None or field in [each["field"] for each in told["details"]]
    for name in ("X-Request-ID", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"):
        assert name in answer.headers
