"""Access to the catalogue API: tokens, roles, rate limits, and the answers of each refusal."""

import asyncio

import httpx
import jwt
import pytest

from longline.settings import jwt_secret
from tests.surfaces.catalogue.running import Admin, error, token

PATH = "/api/v1/admin/crawler/sources"


async def _answer(admin: Admin, authorization: str | None) -> httpx.Response:
    headers = {} if authorization is None else {"Authorization": authorization}
    async with httpx.AsyncClient(base_url=admin.stage.address, verify=False) as client:
        return await client.get(PATH, headers=headers)


async def test_a_request_without_a_token(admin: Admin):
    assert error(await _answer(admin, None)) == (401, "UNAUTHORIZED", "Authentication required")


@pytest.mark.parametrize("header", ["Basic abc", "Bearer", "abc"])
async def test_a_header_of_another_form(admin: Admin, header: str):
    assert error(await _answer(admin, header)) == (401, "UNAUTHORIZED", "Invalid authorization format")


async def test_an_expired_token(admin: Admin):
    past = jwt.encode({"sub": "ada", "role": "admin", "exp": 1_700_000_000}, jwt_secret(admin.stage.settings), "HS256")
    answer = await _answer(admin, f"Bearer {past}")
    assert error(answer)[:2] == (401, "TOKEN_EXPIRED")


@pytest.mark.parametrize("broken", ["abc", "a.b.c"])
async def test_a_token_that_is_none(admin: Admin, broken: str):
    assert error(await _answer(admin, f"Bearer {broken}"))[:2] == (401, "TOKEN_INVALID")


async def test_a_token_with_another_signature(admin: Admin):
    found = token(admin.stage)
    forged = found[:-4] + ("AAAA" if not found.endswith("AAAA") else "BBBB")
    assert error(await _answer(admin, f"Bearer {forged}"))[:2] == (401, "TOKEN_INVALID")


@pytest.mark.parametrize("role", ["moderator", "member", "banned", "service"])
async def test_roles_below_admin(admin: Admin, role: str):
    answer = await _answer(admin, f"Bearer {token(admin.stage, role)}")
    assert error(answer) == (403, "FORBIDDEN", "Insufficient permissions")


async def test_a_token_in_the_query_is_not_read(admin: Admin):
    async with httpx.AsyncClient(base_url=admin.stage.address, verify=False) as client:
        answer = await client.get(PATH, params={"token": token(admin.stage)})
    assert error(answer) == (401, "UNAUTHORIZED", "Authentication required")


async def test_the_token_is_checked_before_the_body(admin: Admin):
    async with httpx.AsyncClient(base_url=admin.stage.address, verify=False) as client:
        answer = await client.post(
            PATH, content=b"{", headers={"Authorization": f"Bearer {token(admin.stage, 'member')}"}
        )
    assert error(answer)[:2] == (403, "FORBIDDEN")


async def test_every_response_tells_the_rate_limit(admin: Admin):
    answers = [await admin.ask("GET", "crawler/sources") for _ in range(2)]
    limits = [int(answer.headers["X-RateLimit-Limit"]) for answer in answers]
    left = [int(answer.headers["X-RateLimit-Remaining"]) for answer in answers]
    assert limits == [300, 300]
    assert left[0] - left[1] in (0, 1)  # the bucket fills while the two are sent
    assert answers[0].headers["X-RateLimit-Reset"].isdecimal()


async def test_changes_have_a_limit_of_their_own(admin: Admin):
    asked = (admin.ask("PUT", "settings/site.name", {"value": "x"}) for _ in range(200))
    answers = await asyncio.gather(*asked)
    refused = [answer for answer in answers if answer.status_code == 429]
    assert refused
    status, code, text = error(refused[-1])
    wait = refused[-1].headers["Retry-After"]
    assert (status, code, text) == (429, "RATE_LIMITED", f"Too many requests. Please try again in {wait} seconds.")
    assert (await admin.ask("GET", "crawler/sources")).status_code == 200


async def test_the_request_id_is_echoed(admin: Admin):
    answer = await admin.client.get(PATH, headers={"X-Request-ID": "my-own-id"})
    assert answer.headers["X-Request-ID"] == "my-own-id"
    assert (await admin.ask("GET", "crawler/sources")).headers["X-Request-ID"]


async def test_unknown_paths_and_methods_are_answered_in_this_form(admin: Admin):
    assert error(await admin.ask("GET", "crawler/nothing"))[:2] == (404, "NOT_FOUND")
    assert error(await admin.ask("PUT", "crawler/sources"))[:2] == (405, "METHOD_NOT_ALLOWED")


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "odd", 404),
        ("DELETE", "crawler/sources", 405),
        ("PUT", "crawler/jobs", 405),
        ("GET", "crawler/sources/%00", 400),
        ("GET", "crawler/sources/999999", 404),
        ("POST", "crawler/sources", 400),
    ],
)
async def test_every_error_tells_the_rate_limit_and_the_request_id(admin: Admin, method: str, path: str, status: int):
    answer = await admin.ask(method, path)
    assert error(answer)[0] == status
    assert int(answer.headers["X-RateLimit-Limit"]) in (60, 300)
    assert int(answer.headers["X-RateLimit-Remaining"]) >= 0
    assert answer.headers["X-RateLimit-Reset"].isdecimal()
    assert answer.headers["X-Request-ID"]


MAINTENANCE = (503, "SERVICE_UNAVAILABLE", "The service is under maintenance. Please try again later.")


@pytest.mark.parametrize("value", ["true", " TRUE "])
async def test_maintenance_mode_serves_admins_alone(admin: Admin, value: str):
    await admin.ask("PUT", "settings/site.maintenance_mode", {"value": value})
    for authorization in (None, *(f"Bearer {token(admin.stage, role)}" for role in ("moderator", "member", "banned"))):
        answer = await _answer(admin, authorization)
        assert error(answer) == MAINTENANCE
        assert answer.headers["Retry-After"] == "3600"
        assert answer.headers["X-RateLimit-Limit"]
    # The bearer of a wrong token may be an admin, and gets the reason.
    assert error(await _answer(admin, "Bearer abc"))[:2] == (401, "TOKEN_INVALID")
    assert error(await _answer(admin, "Basic abc"))[:2] == (401, "UNAUTHORIZED")
    assert (await admin.ask("GET", "crawler/sources")).status_code == 200
    await admin.source()
    await admin.ask("PUT", "settings/site.maintenance_mode", {"value": "false"})
    assert error(await _answer(admin, None))[:2] == (401, "UNAUTHORIZED")


@pytest.mark.parametrize("value", ["false", "1", "yes", "", None])
async def test_other_values_are_no_maintenance(admin: Admin, value: str | None):
    await admin.ask("PUT", "settings/site.maintenance_mode", {"value": value})
    assert error(await _answer(admin, None))[:2] == (401, "UNAUTHORIZED")
