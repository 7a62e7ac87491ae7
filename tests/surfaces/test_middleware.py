import logging
import re

import httpx
import msgspec
import pytest
from litestar import Litestar
from litestar.exceptions import InternalServerException

from longline.model.callers.caller import Caller
from longline.model.callers.roles import OPERATORS
from longline.model.errors import BadInput, IllegalMove, LonglineError, NotFound, StaleLease, Unavailable
from longline.services.callers.callers import Callers
from longline.services.callers.tokens import Tokens
from longline.surfaces.access import DoorAccess
from longline.surfaces.door import PUBLIC, Door, OperationGroup
from longline.surfaces.error_format import ErrorFormat
from longline.surfaces.operation import operation
from longline.surfaces.routing import route_of
from longline.surfaces.server.request_id import REQUEST_ID
from tests.surfaces.conftest import Stage, serving

FAILURES = {
    "bad": BadInput("depth must be a number"),
    "none": NotFound("run", 7, "there is no run 7"),
    "move": IllegalMove("run", "cancel", "completed", ("reopen",)),
    "stale": StaleLease("the lease is no longer held"),
    "down": Unavailable("cannot reach db.internal:5432"),
    "known": LonglineError("something we know but nobody mapped: hunter2"),
    "bug": RuntimeError("hunter2"),
    "framework": InternalServerException("hunter2"),
}

INTERNAL = {
    "error": "Internal server error",
    "code": "INTERNAL_ERROR",
    "message": "An unexpected error occurred",
}


class Shape(msgspec.Struct, frozen=True):
    """A body."""

    a: int


@operation("GET", "/fail/{how}", "Fail", access="public")
async def fail(how: str) -> None:
    raise FAILURES[how]


@operation("GET", "/guarded", "Return the caller")
async def guarded(identity: Caller) -> dict[str, str]:
    return {"sub": identity.subject, "role": identity.role}


@operation("GET", "/streamed", "Return the caller of a stream", access="stream")
async def streamed(identity: Caller) -> dict[str, str]:
    return {"sub": identity.subject, "role": identity.role}


@operation("GET", "/whoami", "Return the id of the request", access="public")
async def whoami() -> dict[str, str]:
    return {"request_id": REQUEST_ID.get()}


@operation("POST", "/shape", "Return the body", access="public")
async def shape(body: Shape) -> Shape:
    return body


def with_routes(stage: Stage) -> Litestar:
    """Return the application with a few operations for the tests."""
    group = OperationGroup("tests", "For tests.", (fail, guarded, streamed, whoami, shape))
    access = DoorAccess(Callers(stage.tokens), "tests")
    accesses = {"public": PUBLIC, "token": access.of(OPERATORS), "stream": access.of_streams(OPERATORS)}
    door = Door("tests", "Tests", ("/",), ErrorFormat(), (group,), accesses)
    for endpoint in door.endpoints():
        stage.app.register(route_of(endpoint))
    return stage.app


async def test_an_api_key_is_asked_for_with_every_token():
    stage = Stage()
    stage.tokens = Tokens("s" * 64, stage.clock.now, "me:secret")
    bearing = {"authorization": f"Bearer {stage.tokens.issue('admin', 'me', 60)}"}
    async with serving(with_routes(stage)) as client:
        for shown in ({}, {"x-api-key": "me:other"}, {"x-api-key": "secret"}):
            answer = await client.get("/guarded", headers=bearing | shown)
            assert (answer.status_code, answer.json()) == (401, {"error": "invalid API key"})
        answer = await client.get("/guarded", headers={"x-api-key": "me:secret"})
        assert (answer.status_code, answer.json()) == (401, {"error": "missing authorization"})
        assert (await client.get("/guarded", headers=bearing | {"x-api-key": "me:secret"})).status_code == 200
        assert (await client.get("/health")).status_code == 200


@pytest.fixture
async def doors(stage: Stage):
    async with serving(with_routes(stage)) as client:
        yield client


# Request ids


async def test_a_request_id_is_echoed(doors: httpx.AsyncClient):
    answer = await doors.get("/whoami", headers={"X-Request-ID": "abc-123"})
    assert answer.headers["x-request-id"] == "abc-123"
    assert answer.json() == {"request_id": "abc-123"}


@pytest.mark.parametrize(("length", "echoed"), [(128, True), (129, False), (0, False)])
async def test_a_request_id_has_a_limit(doors: httpx.AsyncClient, length: int, echoed: bool):
    answer = await doors.get("/whoami", headers={"X-Request-ID": "x" * length})
    given = answer.headers["x-request-id"]
    assert given == "x" * length if echoed else re.fullmatch("[0-9a-f]{32}", given)


async def test_requests_without_an_id_get_different_ones(doors: httpx.AsyncClient):
    ids = {(await doors.get("/whoami")).headers["x-request-id"] for _ in range(3)}
    assert len(ids) == 3
    assert all(re.fullmatch("[0-9a-f]{32}", one) for one in ids)


@pytest.mark.parametrize("path", ["/nowhere", "/fail/bug", "/guarded"])
async def test_every_answer_carries_an_id(doors: httpx.AsyncClient, path: str):
    answer = await doors.get(path, headers={"X-Request-ID": "me"})
    assert answer.headers.get_list("x-request-id") == ["me"]


# The access log


async def test_every_request_is_logged_without_its_query(doors: httpx.AsyncClient, caplog: pytest.LogCaptureFixture):
    with caplog.at_level(logging.INFO, "longline.access"):
        await doors.get("/fail/none?token=hunter2", headers={"X-Request-ID": "me"})
    (line,) = (vars(record) for record in caplog.records if record.name == "longline.access")
    assert (line["method"], line["path"], line["route"], line["status"]) == ("GET", "/fail/none", "/fail/{how}", 404)
    assert line["duration_ms"] > 0
    assert line["client"] == "127.0.0.1"
    ours = [vars(record) for record in caplog.records if record.name.startswith("longline")]
    assert "hunter2" not in str(ours)


# The bearer guard


async def test_a_token_opens_the_door(doors: httpx.AsyncClient, stage: Stage):
    token = stage.tokens.issue("admin", "ann", 60)
    answer = await doors.get("/guarded", headers={"Authorization": f"Bearer {token}"})
    assert answer.json() == {"sub": "ann", "role": "admin"}


async def test_a_token_in_the_query_opens_streams_alone_without_a_header(doors: httpx.AsyncClient, stage: Stage):
    token = stage.tokens.issue("admin", "ann", 60)
    assert (await doors.get("/streamed", params={"token": token})).status_code == 200
    answer = await doors.get("/guarded", params={"token": token})
    assert (answer.status_code, answer.json()) == (401, {"error": "missing authorization"})


@pytest.mark.parametrize("header", ["", "Bearer", "Basic YTpi", "nonsense", "Bearer x.y.z"])
async def test_a_wrong_header_is_never_mended_by_the_query(doors: httpx.AsyncClient, stage: Stage, header: str):
    token = stage.tokens.issue("admin", "ann", 60)
    answer = await doors.get("/streamed", params={"token": token}, headers={"Authorization": header})
    assert answer.status_code == 401
    assert answer.json() == {"error": "invalid token"}


async def test_two_headers_are_one_too_many(doors: httpx.AsyncClient, stage: Stage):
    good = ("Authorization", f"Bearer {stage.tokens.issue('admin', 'ann', 60)}")
    assert (await doors.get("/guarded", headers=[good, good])).status_code == 401


async def test_no_token_is_told_apart_from_a_wrong_one(doors: httpx.AsyncClient):
    answer = await doors.get("/guarded")
    assert answer.status_code == 401
    assert answer.json() == {"error": "missing authorization"}
    assert answer.headers["www-authenticate"] == "Bearer"
    assert (await doors.get("/streamed?token=x")).json() == {"error": "invalid token"}


async def test_an_expired_token_is_invalid(doors: httpx.AsyncClient, stage: Stage):
    token = stage.tokens.issue("admin", "ann", 60)
    await stage.clock.sleep(60)
    answer = await doors.get("/guarded", headers={"Authorization": f"Bearer {token}"})
    assert (answer.status_code, answer.json()) == (401, {"error": "invalid token"})


# Errors


@pytest.mark.parametrize(
    ("how", "status", "body"),
    [
        ("bad", 400, {"error": "depth must be a number"}),
        ("none", 404, {"error": "there is no run 7"}),
        ("move", 409, {"error": "cannot cancel a run that is completed; legal now: reopen"}),
        ("stale", 409, {"error": "the lease is no longer held"}),
        ("down", 503, {"error": "Service temporarily unavailable"}),
        ("known", 500, INTERNAL),
        ("bug", 500, INTERNAL),
        ("framework", 500, INTERNAL),
    ],
)
async def test_errors_become_answers(doors: httpx.AsyncClient, how: str, status: int, body: dict[str, str]):
    answer = await doors.get(f"/fail/{how}")
    assert (answer.status_code, answer.json()) == (status, body)


async def test_a_bug_is_logged_with_its_stack_and_not_shown_to_the_caller(
    doors: httpx.AsyncClient, caplog: pytest.LogCaptureFixture
):
    answer = await doors.get("/fail/bug")
    assert "hunter2" not in answer.text
    (record,) = (record for record in caplog.records if record.levelno == logging.ERROR)
    assert record.exc_info
    assert str(record.exc_info[1]) == "hunter2"


async def test_refusals_of_the_framework_have_the_platforms_error_format(doors: httpx.AsyncClient):
    nowhere = await doors.get("/nowhere")
    assert (nowhere.status_code, nowhere.json()) == (404, {"error": "Not Found"})
    method = await doors.delete("/health")
    assert (method.status_code, method.json()) == (405, {"error": "Method Not Allowed"})
    assert set(method.headers["allow"].replace(" ", "").split(",")) >= {"GET", "HEAD"}
    number = await doors.post("/shape", json={"a": "many"})
    assert (number.status_code, number.json()) == (400, {"error": "a must be an integer"})
    body = await doors.post("/shape", content=b"{not json", headers={"Content-Type": "application/json"})
    assert body.status_code == 400
    assert list(body.json()) == ["error"]
