"""The rate limits that an API declares, and the headers that show them."""

from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest

from longline.model.callers.rate_limit import CHANGING_METHODS, RateLimit, RateLimitPolicy
from longline.model.callers.roles import ADMINS
from longline.model.timestamps import written
from longline.ports.records import Records
from longline.services.callers.callers import Callers
from longline.services.callers.rate_limits import RateLimits
from longline.services.callers.tokens import Tokens
from longline.surfaces.access import DoorAccess
from longline.surfaces.door import Door, Endpoint, HttpRequest, HttpResponse, OperationGroup
from longline.surfaces.error_format import ErrorFormat
from longline.surfaces.openapi import openapi_document
from longline.surfaces.operation import Content, operation
from longline.surfaces.rate_limiter import HEADERS, ResetFormat
from longline.surfaces.routing import to_framework
from longline.surfaces.sse import EventStream
from longline.testing.clock import FakeClock
from tests.drivers.records.fixtures import *  # noqa: F403 - fixtures are found by their names

POLICY = RateLimitPolicy((RateLimit(5), RateLimit(2, name="writes", methods=CHANGING_METHODS)), (RateLimit(3),))
NOW = FakeClock().now()

pytestmark = pytest.mark.parametrize("records_url", ["sqlite"], indirect=True)


@operation("GET", "/shelf", "Read")
async def read() -> dict[str, int]:
    return {}


@operation("PUT", "/shelf", "Write")
async def write() -> dict[str, int]:
    return {}


@operation("GET", "/open", "Read without credentials", access="public")
async def read_openly() -> dict[str, int]:
    return {}


async def _frames() -> AsyncIterator[bytes]:
    yield b""


@operation("GET", "/fault", "Fail")
async def fault() -> dict[str, int]:
    raise ZeroDivisionError


@operation("GET", "/stream", "Follow", answers={200: Content("text/event-stream")})
async def follow() -> EventStream:
    return EventStream(_frames(), lambda: None)


class Stage:
    """A small API with rate limits, and a caller."""

    def __init__(self, records: Records, reset_format: ResetFormat = "unix") -> None:
        self.tokens = Tokens("s" * 64, lambda: NOW)
        callers = Callers(self.tokens, None, RateLimits(records.rate_limits, FakeClock(NOW)))
        access = DoorAccess(callers, "shelves", limits=POLICY, reset_format=reset_format)
        self.door = Door(
            name="shelves",
            title="Shelves",
            prefixes=("/shelf",),
            format=ErrorFormat(),
            groups=(OperationGroup("all", "All.", (read, write, read_openly, fault, follow)),),
            access={"token": access.of(ADMINS), "public": access.public()},
        )
        self._endpoints: dict[str, Endpoint] = {each.operation.name: each for each in self.door.endpoints()}

    async def ask(self, name: str, subject: str | None = "ann", client: str = "192.0.2.1") -> HttpResponse:
        """Return the response to a request of this caller."""
        token = b"wrong" if subject is None else self.tokens.issue("admin", subject, 60).encode()
        request = HttpRequest({}, b"", [(b"authorization", b"Bearer " + token)], client=client)
        return await self._endpoints[name].answer(request)


def told(response: HttpResponse) -> tuple[Any, ...]:
    return (response.status, *(response.headers[name] for name in HEADERS))


async def test_every_response_tells_the_limit_and_the_refusal_is_that_of_the_api(records: Records):
    stage = Stage(records)
    first = await stage.ask("read")
    assert told(first) == (200, "5", "4", str(NOW // 1000 + 12))
    for _ in range(4):
        last = await stage.ask("read")
    assert told(last) == (200, "5", "0", str(NOW // 1000 + 60))
    refused = await stage.ask("read")
    assert told(refused) == (429, "5", "0", str(NOW // 1000 + 60))
    assert refused.headers["Retry-After"] == "12"
    assert isinstance(refused.body, bytes)
    assert msgspec.json.decode(refused.body) == {"error": "Rate limit exceeded, try again in 12 seconds"}
    assert (await stage.ask("read", "bob")).status == 200, "callers have limits of their own"


async def test_the_reset_may_be_a_text(records: Records):
    response = await Stage(records, "iso").ask("read")
    assert response.headers["X-RateLimit-Reset"] == written(NOW + 12_000)


async def test_changes_have_a_limit_of_their_own(records: Records):
    stage = Stage(records)
    assert [told(await stage.ask("write"))[:3] for _ in range(3)] == [(200, "2", "1"), (200, "2", "0"), (429, "2", "0")]
    assert told(await stage.ask("read"))[:3] == (200, "5", "2")


async def test_wrong_credentials_and_public_operations_count_for_the_address(records: Records):
    stage = Stage(records)
    found = [told(await stage.ask(name, None))[:3] for name in ("read", "read_openly", "read", "read")]
    assert found == [(401, "3", "2"), (200, "3", "1"), (401, "3", "0"), (429, "3", "0")]
    assert (await stage.ask("read", None, client="192.0.2.2")).status == 401


async def test_faults_and_streams_tell_the_limit_too(records: Records):
    stage = Stage(records)
    assert told(await stage.ask("fault"))[:2] == (500, "5")
    stream = to_framework(await stage.ask("follow"))
    assert stream.headers["X-RateLimit-Remaining"] == "3"


async def test_the_headers_are_in_the_document(records: Records):
    document = openapi_document("1", [Stage(records).door])
    for path in document["paths"].values():
        for described in path.values():
            assert all(set(HEADERS) <= set(response["headers"]) for response in described["responses"].values())
