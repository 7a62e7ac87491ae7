"""Random input to this door gets an answer of the contract, never an internal error, on either engine."""

import hashlib
import itertools
import json
from collections.abc import Iterator
from typing import Any

import httpx
import msgspec
import pytest

from longline.settings import Settings
from tests.surfaces.intervals.platform import Door, open_door

BODIES: dict[str, dict[str, Any]] = {
    "POST /api/v1/jobs": {
        "url": "https://a.example/",
        "source_id": "1",
        "source_name": "n",
        "interval_minutes": 5,
        "interval_type": "hours",
        "schedule_enabled": True,
        "adaptive_scheduling": True,
        "max_retries": 3,
        "retry_backoff_seconds": 60,
        "metadata": {"a": 1},
        "type": "crawl",
        "schedule_time": "x",
        "priority": 50,
    },
    "PUT /api/v1/jobs/{job}": {"status": "paused", "url": "https://a.example/", "metadata": {}, "interval_minutes": 5},
    "POST /api/v1/sources": {
        "name": "n",
        "url": "https://a.example/",
        "rate_limit": "1s",
        "max_depth": 2,
        "selectors": {},
        "article_url_patterns": ["x"],
        "rules": {"allow": ["x"]},
        "enabled": False,
        "feed_url": "https://a.example/feed",
        "identity_key": "k",
        "ingestion_mode": "feed",
        "feed_poll_interval_minutes": 15,
        "time": ["x"],
        "priority": "high",
    },
    "PUT /api/v1/sources/{source}": {"name": "m", "url": "https://a.example/", "rate_limit": 5, "enabled": True},
    "PATCH /api/v1/sources/{source}/disable": {"reason": "r"},
    "PATCH /api/v1/sources/{source}/feed-disable": {"reason": "r"},
    "POST /api/v1/sources/test-crawl": {"url": "http://127.0.0.1:1/", "selectors": {}},
    "POST /api/v1/sources/fetch-metadata": {"url": "http://127.0.0.1:1/"},
    "POST /api/v1/frontier": {"url": "https://a.example/", "source_id": "1", "origin": "manual", "priority": 5},
    "POST /api/v1/discovered-links/{job}/create-job": {"source_id": "1", "source_name": "n"},
    "PATCH /api/v1/discovered-domains/a.example/state": {"status": "ignored", "notes": "n"},
    "POST /api/v1/discovered-domains/bulk-state": {"domains": ["a.example"], "status": "ignored", "notes": "n"},
    "POST /api/internal/v1/fetch": {"url": "http://127.0.0.1:1/", "timeout": 1},
}
"""Every endpoint that takes a body, with a body of all fields."""

DEEP: Any = "x"
for _ in range(400):
    DEEP = [DEEP]

LONG = "".join(hashlib.sha256(bytes([n])).hexdigest() for n in range(200))
"""An incompressible text: an engine cannot shorten it for an index."""

ODD: tuple[Any, ...] = (
    *(None, True, 0, -1, 10**9, 10**12, 2**63, -(2**63) - 1, 1e308, 0.5, [], [None], {}, {"a": {"b": []}}, DEEP),
    *(
        "",
        " ",
        "x",
        "\0",
        "a\0b",
        "\ud800",
        "x" * 100_000,
        LONG,
        "http://",
        "http://[",
        "http://a:99999/",
        "//a",
        "%00",
    ),
    *("https://a.example/\ud800", "https://a.example/\0", "javascript:1", "undefined", "2024-01-01", "' OR 1=1 --"),
)
"""Values of every type; no field accepts all of them."""

RAW = (
    b"",
    b"{",
    b"[]",
    b"null",
    b"1",
    b'"x"',
    b"\xff\xfe",
    b"[" * 100_000,
    b'{"a":' * 50_000,
    b'{"url":"\xed\xa0\x80"}',
)
"""Bodies that are no objects, or not even JSON."""

IDS = (
    "undefined",
    "x",
    "0",
    "-1",
    "9" * 40,
    LONG,
    "%00",
    "a%00b",
    "%F0%9F",
    "..%2f",
    "00000000-0000-7000-8000-000000000000",
)

PATHS = (
    "GET /api/v1/jobs/{}",
    "DELETE /api/v1/jobs/{}",
    "POST /api/v1/jobs/{}/pause",
    "POST /api/v2/jobs/{}/force-run",
    "GET /api/v1/jobs/{}/executions",
    "GET /api/v1/jobs/{}/stats",
    "GET /api/v1/executions/{}",
    "GET /api/v1/jobs/{}/logs",
    "GET /api/v1/jobs/{}/logs/view",
    "GET /api/v1/jobs/{}/logs/download",
    "GET /api/v1/jobs/{}/logs/stream/v2",
    "GET /api/v1/frontier/{}",
    "POST /api/v1/frontier/{}/retry",
    "DELETE /api/v1/frontier/{}",
    "GET /api/v1/discovered-links/{}",
    "DELETE /api/v1/discovered-links/{}",
    "GET /api/v1/discovered-domains/{}",
    "GET /api/v1/discovered-domains/{}/links",
    "GET /api/v1/sources/{}",
    "DELETE /api/v1/sources/{}",
    "PATCH /api/v1/sources/{}/enable",
    "GET /api/v1/sources/by-identity?identity_key={}",
)
"""Every endpoint with an id in its path."""

LISTS = (
    "/api/v1/jobs",
    "/api/v1/jobs/{job}/executions",
    "/api/v1/jobs/{job}/logs",
    "/api/v1/frontier",
    "/api/v1/discovered-links",
    "/api/v1/discovered-domains",
    "/api/v1/sources",
    "/api/v1/backfill/validation-report",
)
FIGURES = ("0", "-1", "x", "9" * 30, "1e3", "%ff", "0.5", "")
WORDS = ("%00", "%ff", "%25", "_", "x" * 5000, LONG, "'", "%5c", "a,b,,c")
ASKED = ("status", "source_id", "search", "sort_by", "sort_order", "sort", "order", "host", "origin", "enabled", "page")


def bodies(whole: dict[str, Any]) -> Iterator[bytes]:
    """Yield the body with each of its fields odd in turn, then bodies that are no JSON object."""
    yield from RAW
    for name, value in itertools.product(whole, ODD):
        # Careless clients send lone surrogates as escapes.
        yield json.dumps(whole | {name: value}).encode()


@pytest.fixture
async def door(settings: Settings) -> Any:
    async with open_door(msgspec.structs.replace(settings, internal_secret="open sesame", scheduler=False)) as door:
        yield door


async def known(client: httpx.AsyncClient) -> dict[str, str]:
    """Return the ids of an existing source and job."""
    source = await client.post("/api/v1/sources", json={"name": "known", "url": "https://known.example/"})
    job = {"url": "https://known.example/", "source_id": "none", "interval_minutes": 5, "schedule_enabled": True}
    made = await client.post("/api/v1/jobs", json=job)
    return {"source": source.json()["id"], "job": made.json()["id"]}


@pytest.mark.parametrize("endpoint", BODIES)
async def test_odd_bodies_are_answered(door: Door, endpoint: str):
    method, path = endpoint.split()
    statuses = set()
    async with door.client() as client:
        client.headers["X-Internal-Secret"] = "open sesame"
        path = path.format(**await known(client))
        for body in bodies(BODIES[endpoint]):
            answer = await client.request(method, path, content=body, headers={"content-type": "application/json"})
            assert answer.status_code < 500 or answer.status_code == 502, (endpoint, body[:300], answer.text)
            statuses.add(answer.status_code)
            if answer.status_code >= 400:
                assert answer.json()["error"], (endpoint, body[:300])
    assert 400 in statuses or "create-job" in path


async def test_odd_ids_are_answered(door: Door):
    async with door.client() as client:
        for endpoint, odd in itertools.product(PATHS, IDS):
            method, path = endpoint.format(odd).split(" ", 1)
            answer = await client.request(method, path)
            assert answer.status_code < 500, (method, path, answer.text)


async def test_odd_questions_are_answered(door: Door):
    async with door.client() as client:
        there = await known(client)
        for path in LISTS:
            odd = [f"{name}={figure}" for name in ("limit", "offset") for figure in FIGURES]
            odd += [f"{name}={word}" for name, word in itertools.product(ASKED, WORDS)]
            for question in odd:
                answer = await client.get(f"{path.format(**there)}?{question}")
                assert answer.status_code < 500, (path, question, answer.text)
                if question.partition("=")[0] in ("limit", "offset"):
                    assert answer.status_code == 200, (path, question, answer.text)
