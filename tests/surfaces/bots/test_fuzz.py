"""Random requests get an answer of the contract: a refusal in its envelope, never an internal error."""

import json
from typing import Any
from uuid import uuid4

import pytest

from tests.surfaces.bots.running import Door, data, error

HUGE = 10**400
NOT_TEXT: list[Any] = [7, 1.5, True, [], {}, HUGE, "a\0b"]
NOT_WHOLE: list[Any] = ["x", "5", 1.5, True, [], {}, 10**30, -(10**30), HUGE, 0, -1]
NOT_FLAG: list[Any] = ["true", 0, 1, 1.5, [], {}, HUGE, "\0"]
NOT_MAPPING: list[Any] = ["{}", 7, 1.5, True, [], HUGE]
NOT_TEXTS: list[Any] = ["a", 7, True, {}, [7], [None], [[]], HUGE]
NOT_TIME: list[Any] = ["soon", "", 7, 1.5, True, [], {}, HUGE, "9999-99-99", "0001-01-01T00:00:00+23:59", "\0"]
NOT_URL: list[Any] = [*NOT_TEXT, "", "x", "ftp://example.com/", "http://", "https://exa mple.com/", "x" * 3000]
NOT_UUID: list[Any] = ["", "x", 7, 1.5, True, [], {}, HUGE, "\0", "f" * 33]
NOT_MONEY: list[Any] = ["", "x", "NaN", "Infinity", "1e-99999999", "1e99999999", True, [], {}, HUGE, -1, 1e300, "\0"]
ZERO_IS_FINE = [odd for odd in NOT_WHOLE if odd != 0]

BOT = {"bot_id": NOT_TEXT, "api_token": NOT_TEXT}
POLICY: dict[str, list[Any]] = {
    "url": NOT_URL,
    "frequency_hours": NOT_WHOLE,
    "priority": NOT_WHOLE,
    "max_retries": ZERO_IS_FINE,
    "retry_backoff_minutes": NOT_WHOLE,
    "timeout_minutes": NOT_WHOLE,
    "enabled": NOT_FLAG,
    "next_run_at": NOT_TIME,
    "crawl_config": NOT_MAPPING,
}
REGISTERED: dict[str, list[Any]] = {
    "name": NOT_TEXT,
    "description": NOT_TEXT,
    "enabled": NOT_FLAG,
    "max_jobs_per_pull": NOT_WHOLE,
    "custom_lock_ttl_seconds": ZERO_IS_FINE,
    "rate_limit_per_minute": ZERO_IS_FINE,
    "priority_boost": [odd for odd in ZERO_IS_FINE if odd != -1],
    "allowed_domains": NOT_TEXTS,
    "token_expires_at": NOT_TIME,
}
CHORE = {"limit": NOT_WHOLE, "dry_run": NOT_FLAG}
JOB = str(uuid4())

ENDPOINTS: list[tuple[str, str, dict[str, Any], dict[str, list[Any]]]] = [
    ("POST", "pull/", {"bot_id": "b"}, {**BOT, "max_jobs": NOT_WHOLE, "domain": NOT_TEXT}),
    (
        "POST",
        "submit/",
        {"bot_id": "b", "job_id": JOB, "success": True, "price": 1, "currency": "USD"},
        {
            **BOT,
            "job_id": NOT_UUID,
            "success": NOT_FLAG,
            "price": NOT_MONEY,
            "currency": [*NOT_TEXT, "", "USDA", "ÄÖÜ"],
            "title": NOT_TEXT,
            "in_stock": NOT_FLAG,
            "raw_html": [odd for odd in NOT_TEXT if not isinstance(odd, str)],
            "parsed_data": NOT_MAPPING,
        },
    ),
    (
        "POST",
        "submit/",
        {"bot_id": "b", "job_id": JOB, "success": False},
        {"error_msg": [odd for odd in NOT_TEXT if not isinstance(odd, str)]},
    ),
    ("POST", "heartbeat/", {"bot_id": "b", "job_id": JOB}, {**BOT, "job_id": NOT_UUID}),
    ("POST", "admin/policies", {"url": "https://example.com/"}, POLICY),
    ("POST", "admin/policies", {"domain": "example.com", "name": "n"}, {"domain": NOT_TEXT, "name": NOT_TEXT}),
    ("PATCH", "admin/policies/{policy}", {}, POLICY),
    (
        "POST",
        "admin/jobs",
        {"url": "https://example.com/"},
        {name: POLICY[name] for name in ("url", "priority", "max_retries", "timeout_minutes")},
    ),
    *(("POST", f"admin/jobs/{n}", {}, {"ids": NOT_TEXTS}) for n in ("mark-pending", "mark-expired", "reset-lock")),
    ("POST", "admin/bots", {"bot_id": "new"}, {"bot_id": NOT_TEXT, **REGISTERED}),
    ("PATCH", "admin/bots/b1", {}, REGISTERED),
    ("POST", "admin/create-jobs", {}, CHORE),
    ("POST", "admin/expire-locks", {}, {**CHORE, "auto_retry": NOT_FLAG}),
    ("POST", "admin/urls", {}, {"urls": [*NOT_TEXTS, ["x"], ["https://example.com/\0"]]}),
]

NOT_OBJECTS = [
    *(b"{", b"nonsense", b"[]", b"7", b"null", b'"x"', b"\xff\xfe", b"\0", b'{"bot_id": "b",}', b"[" * 100_000),
    b'{"bot_id": "\\ud800", "url": "\\ud800"}',
    b'{"bot_id": "\xed\xa0\x80", "url": "\xed\xa0\x80"}',
    b'{"bot_id": "b"} {"bot_id": "b"}',
    b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
]


async def send(door: Door, method: str, path: str, body: bytes) -> tuple[int, str, Any]:
    answer = await door.client.request(method, f"/api/crawl/{path}", content=body, headers=door.admin)
    return error(answer)


@pytest.fixture
async def policy(door: Door) -> str:
    await door.post("bots", bot_id="b1")
    return str((await door.policy("https://example.com/standing"))["id"])


async def test_every_field_of_every_request(door: Door, policy: str):
    for method, path, good, fields in ENDPOINTS:
        for field, odds in fields.items():
            for odd in odds:
                sent = json.dumps({**good, field: odd}).encode()
                told = await send(door, method, path.format(policy=policy), sent)
                assert told[:2] == (400, "validation_error"), (path, field, odd, told)


async def test_bodies_other_than_objects_are_refused(door: Door, policy: str):
    for method, path in {(method, path) for method, path, _, _ in ENDPOINTS}:
        for odd in NOT_OBJECTS:
            told = await send(door, method, path.format(policy=policy), odd)
            assert told[:2] == (400, "validation_error"), (path, odd[:40], told)


async def test_ids_that_are_none(door: Door):
    for odd in ("%00", "x", "%ED%A0%80", "0" * 500, "..%2f"):
        for noun in ("policies", "jobs", "results"):
            assert error(await door.manage("GET", f"{noun}/{odd}"))[0] == 404, (noun, odd)
        for method, path in (("PATCH", "policies/{}"), ("DELETE", "policies/{}"), ("PATCH", "bots/{}")):
            assert error(await door.manage(method, path.format(odd), json={}))[0] == 404, (path, odd)
        for path in ("bots/{}/rotate-token", "bots/{}/reset-statistics"):
            assert error(await door.manage("POST", path.format(odd)))[0] == 404, (path, odd)
        assert (await door.post("jobs/reset-lock", 200, ids=[odd, "\0"])) == {"changed": 0}


async def test_queries_that_are_wrong(door: Door):
    for noun in ("policies", "jobs", "results", "bots"):
        for query in ("limit=0", "limit=201", "limit=x", "limit=" + "9" * 30, "offset=-1", "offset=" + "9" * 30):
            assert error(await door.manage("GET", f"{noun}?{query}"))[:2] == (400, "validation_error"), (noun, query)
    for query in ("search=%00", "bot_id=%00", "status=%00", "priority=%00"):
        assert error(await door.manage("GET", f"jobs?{query}"))[:2] == (400, "validation_error"), query
    assert error(await door.manage("GET", "results?currency=%00"))[:2] == (400, "validation_error")


async def test_the_largest_numbers_that_may_be(door: Door):
    most = 2**31 - 1
    numbers: dict[str, Any] = {
        "frequency_hours": most,
        "retry_backoff_minutes": most,
        "timeout_minutes": most,
        "max_retries": most,
    }
    policy = await door.policy(**numbers)
    await door.post("create-jobs", 200)
    [job] = (await door.pull())["jobs"]
    assert data(await door.submit(job["job_id"]), 201)["policy_next_run"] == "9999-12-31T23:59:59Z"
    assert (await door.get(f"policies/{policy['id']}"))["next_run_at"] == "9999-12-31T23:59:59Z"


async def test_a_header_that_is_odd(door: Door):
    job = await door.held()
    for odd in (b"", b"k" * 256, b"\xff" * 256):
        said = {"bot_id": "bot-001", "job_id": job, "success": True, "price": 1, "currency": "USD"}
        answer = await door.client.post("/api/crawl/submit/", json=said, headers=[(b"Idempotency-Key", odd)])
        assert error(answer)[:2] == (400, "validation_error"), odd
    for odd in (b"Bearer \xff", b"Bearer", b"Basic x"):
        answer = await door.client.post("/api/crawl/pull/", json={"bot_id": "x"}, headers=[(b"Authorization", odd)])
        assert answer.status_code == 200, "an unknown bot needs no token"


async def test_unknown_paths_and_methods_get_404_and_405(door: Door):
    for method in ("GET", "PUT", "PATCH", "DELETE"):
        for path in ("pull/", "pull", "submit/", "heartbeat/"):
            answer = await door.client.request(method, f"/api/crawl/{path}")
            assert error(answer)[:2] == (405, "method_not_allowed"), (method, path)
    for path in ("nothing", "pull/x", "admin/nothing", "", "admin"):
        assert error(await door.client.post(f"/api/crawl/{path}"))[:2] == (404, "not_found"), path
    assert (await door.client.get("/api/crawler")).json() == {"error": "Not Found"}, "another door has its own words"
