"""Access, and the actions allowed in each state: every cell of the contract's table."""

import base64
import json

import httpx
import msgspec
import pytest

from longline.services.callers.tokens import Tokens
from longline.settings import Settings
from tests.surfaces.intervals.platform import open_door
from tests.surfaces.intervals.stage import SECRET, Json, Stage

STATES = ("pending", "scheduled", "running", "paused", "completed", "failed", "cancelled")

ACTIONS = {
    "pause": ({"scheduled"}, "paused"),
    "resume": ({"paused"}, "scheduled"),
    "cancel": ({"scheduled", "running", "paused", "pending"}, "cancelled"),
    "retry": ({"failed"}, "pending"),
    "force-run": ({"scheduled"}, "pending"),
}
"""The states in which an action is allowed, and the state after it."""

CELLS = {
    "pending": {"scheduled", "cancelled"},
    "scheduled": {"pending", "paused", "cancelled"},
    "running": {"cancelled"},
    "paused": {"scheduled", "cancelled"},
    "completed": set(),
    "failed": {"pending"},
    "cancelled": set(),
}
"""The states that a person may give a job by name; the rest is the scheduler's. A completed job is a one-time job."""


async def job_in(stage: Stage, state: str) -> Json:
    """Return a recurring job in this state (the completed one was made to recur afterwards)."""
    if state == "failed":
        made = await stage.recurring(30, max_retries=0, source_id="gone")
    elif state == "completed":
        made = await stage.job()
    else:
        made = await stage.recurring(30)
    path = f"/api/v1/jobs/{made['id']}"
    if state in ("pending", "running"):
        await stage.ask("POST", f"/api/v2/jobs/{made['id']}/force-run", expect=202)
    if state in ("running", "failed", "completed"):
        stage.advance(1800)
        await stage.poll()
    if state == "completed":
        await stage.work()
    if state in ("paused", "cancelled"):
        await stage.ask("POST", f"{path}/{'pause' if state == 'paused' else 'cancel'}")
    found = await stage.get(made)
    assert found["status"] == state
    return found


@pytest.mark.parametrize("state", STATES)
async def test_every_action_in_every_state(stage: Stage, state: str):
    for action, (allowed, became) in ACTIONS.items():
        made = await job_in(stage, state)
        version = "v2" if action == "force-run" else "v1"
        path = f"/api/{version}/jobs/{made['id']}/{action}"
        if state in allowed:
            told = await stage.ask("POST", path, expect=202 if version == "v2" else 200)
            found = await stage.get(made)
            assert found["status"] == became, action
            if version == "v2":
                assert told == {"message": "Job queued for immediate execution", "job_id": made["id"]}
            else:
                assert told == found, action
        else:
            told = await stage.ask("POST", path, expect=400)
            assert told == {"error": f"invalid state transition from {state} to {became}"}
            assert await stage.get(made) == made, action
        await stage.ask("DELETE", f"/api/v1/jobs/{made['id']}")


@pytest.mark.parametrize("state", STATES)
async def test_a_change_cannot_smuggle_a_state(stage: Stage, state: str):
    for wanted in STATES:
        made = await job_in(stage, state)
        path = f"/api/v1/jobs/{made['id']}"
        if wanted == state:
            assert (await stage.ask("PUT", path, {"status": wanted}))["status"] == state
        elif wanted in CELLS[state]:
            assert (await stage.ask("PUT", path, {"status": wanted}))["status"] == wanted
        else:
            told = await stage.ask("PUT", path, {"status": wanted, "source_name": "changed"}, 400)
            assert told == {"error": f"invalid state transition from {state} to {wanted}"}
            assert await stage.get(made) == made, "no other field was changed either"
        await stage.ask("DELETE", path)


async def test_a_word_that_is_no_state_is_400(stage: Stage):
    made = await stage.job()
    told = await stage.ask("PUT", f"/api/v1/jobs/{made['id']}", {"status": "sleeping"}, 400)
    assert told == {"error": "Invalid job status: sleeping"}


async def test_actions_on_nothing_are_404(stage: Stage):
    for action in ACTIONS:
        version = "v2" if action == "force-run" else "v1"
        path = f"/api/{version}/jobs/00000000-0000-7000-8000-000000000000/{action}"
        assert await stage.ask("POST", path, expect=404) == {"error": "Job not found"}


def forged(secret: str, algorithm: str) -> str:
    """Return a token whose head claims this algorithm."""
    parts = [{"alg": algorithm, "typ": "JWT"}, {"sub": "me", "exp": 9_999_999_999}]
    head, claims = (base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode() for part in parts)
    return f"{head}.{claims}.{secret}"


async def test_every_route_asks_for_a_token(stage: Stage):
    document = await stage.ask("GET", "/openapi.json")
    routes = [(method, path) for path, methods in document["paths"].items() for method in methods]
    closed = [(m, p) for m, p in routes if p.startswith("/api/") and (m, p) != ("get", "/api/v1/sources")]
    assert len(closed) > 25
    late = Tokens(SECRET, lambda: stage.clock.now() - 10_000_000).issue("admin", "me", 60)
    wrong = {
        "": "missing authorization",
        "Basic x": "invalid token",
        f"Bearer {late}": "invalid token",
        f"Bearer {Tokens('t' * 64, stage.clock.now).issue('admin', 'me', 60)}": "invalid token",
        f"Bearer {forged('', 'none')}": "invalid token",
        f"Bearer {forged('c2ln', 'RS256')}": "invalid token",
    }
    async with httpx.AsyncClient(base_url=stage.client.base_url, verify=False, timeout=60) as nobody:
        for method, path in closed:
            for header, said in wrong.items():
                headers = {"authorization": header} if header else {}
                answer = await nobody.request(method, path.replace("{", "").replace("}", ""), headers=headers)
                assert (answer.status_code, answer.json()) == (401, {"error": said}), (method, path, header)
        assert (await nobody.get("/health")).status_code == 200
        assert (await nobody.get("/api/v1/sources")).status_code == 200


INDEX = """
GET /health
HEAD /health
GET /health/memory
GET /api/v1/jobs
POST /api/v1/jobs
GET /api/v1/jobs/:id
PUT /api/v1/jobs/:id
DELETE /api/v1/jobs/:id
GET /api/v1/jobs/status-counts
POST /api/v1/jobs/:id/pause
POST /api/v1/jobs/:id/resume
POST /api/v1/jobs/:id/cancel
POST /api/v1/jobs/:id/retry
POST /api/v2/jobs/:id/force-run
GET /api/v1/jobs/:id/executions
GET /api/v1/executions/:id
GET /api/v1/jobs/:id/stats
GET /api/v1/scheduler/metrics
GET /api/v1/scheduler/distribution
POST /api/v1/scheduler/rebalance/preview
POST /api/v1/scheduler/rebalance
GET /api/v1/jobs/:id/logs
GET /api/v1/jobs/:id/logs/stream/v2
GET /api/v1/jobs/:id/logs/stream
GET /api/v1/jobs/:id/logs/download
GET /api/v1/jobs/:id/logs/view
GET /api/v1/frontier
GET /api/v1/frontier/:id
GET /api/v1/frontier/stats
POST /api/v1/frontier
POST /api/v1/frontier/submit
POST /api/v1/frontier/:id/retry
DELETE /api/v1/frontier/:id
GET /api/v1/discovered-links
GET /api/v1/discovered-links/:id
DELETE /api/v1/discovered-links/:id
POST /api/v1/discovered-links/:id/create-job
GET /api/v1/discovered-domains
GET /api/v1/discovered-domains/:domain
GET /api/v1/discovered-domains/:domain/links
PATCH /api/v1/discovered-domains/:domain/state
POST /api/v1/discovered-domains/bulk-state
GET /sse/crawler/events
GET /sse/health/events
GET /sse/metrics/events
GET /api/crawler/events
GET /api/health/events
GET /api/metrics/events
POST /api/v1/admin/sync-enabled-sources
POST /api/v1/backfill/worst-sources
GET /api/v1/backfill/validation-report
GET /api/v1/stats
POST /api/internal/v1/fetch
GET /metrics
GET /api/v1/sources
POST /api/v1/sources
GET /api/v1/sources/by-identity
GET /api/v1/sources/:id
PUT /api/v1/sources/:id
DELETE /api/v1/sources/:id
PATCH /api/v1/sources/:id/feed-disable
PATCH /api/v1/sources/:id/feed-enable
PATCH /api/v1/sources/:id/disable
PATCH /api/v1/sources/:id/enable
POST /api/v1/sources/test-crawl
POST /api/v1/sources/fetch-metadata
"""
"""The contract's index of endpoints, without those of one deployment only: the backfill by region, and migrations."""


async def test_every_endpoint_of_the_contract_is_there(settings: Settings):
    wanted = [tuple(line.split()) for line in INDEX.split("\n") if line]
    whole = msgspec.structs.replace(settings, internal_secret="open sesame")
    async with open_door(whole) as door, door.client() as client:
        nobody = {"authorization": "Basic x"}
        for method, path in wanted:
            answer = await client.request(method, path.replace(":id", "7").replace(":domain", "a"), headers=nobody)
            # A caller without a token gets 401 at an existing path, and 404 at others.
            assert answer.status_code in (200, 401), (method, path, answer.status_code)
        assert (await client.get("/api/v1/nothing", headers=nobody)).status_code == 404
