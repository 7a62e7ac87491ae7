"""Event streams over HTTP."""

import asyncio
from dataclasses import replace
from typing import Any

import httpx
import msgspec
import pytest

from longline.model.callers.api_key import NewApiKey
from longline.model.callers.roles import Role
from longline.ports.records.frontier.frontier import Change
from longline.services.callers.api_keys import ApiKeys
from longline.services.logs.event_streams import ClientLimit
from longline.settings import Settings
from longline.surfaces.intervals.event_streams import contract_events
from longline.wiring.loops import loop_table as wiring
from tests.surfaces.intervals.platform import Door, open_door, take

EMBEDDED = pytest.mark.parametrize("migrated_url", ["sqlite"], indirect=True)
PATHS = [f"{top}/{stream}/events" for top in ("/sse", "/api") for stream in ("crawler", "health", "metrics")]


def set_intervals(monkeypatch: pytest.MonkeyPatch, **intervals: float) -> None:
    """Let the loops that publish events run at these intervals, in seconds."""
    events = {f"{name} events": interval for name, interval in intervals.items()}
    assert events.keys() <= {row.name for row in wiring.LOOPS}
    rows = [replace(row, interval=events.get(row.name, row.interval)) for row in wiring.LOOPS]
    monkeypatch.setattr(wiring, "LOOPS", tuple(rows))


@pytest.fixture(autouse=True)
def quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    set_intervals(monkeypatch, move=0.02, health=0.02, count=0.02)


async def move(door: Door, noun: Any, subject: int, name: str, was: str, became: str, **more: Any) -> None:
    change = Change(noun, subject, name, was, became, "person", **more)
    assert await door.platform.records.moves.apply(change)


@EMBEDDED
async def test_every_stream_begins_the_same_and_asks_for_a_token(door: Door):
    async with httpx.AsyncClient(base_url=door.address, verify=False, timeout=60) as stranger:
        for path in PATHS:
            answer = await stranger.get(path)
            assert (answer.status_code, answer.json()) == (401, {"error": "missing authorization"})
            assert (await stranger.get(path, headers={"Authorization": "Basic x"})).status_code == 401
            async with stranger.stream("GET", path, params={"token": door.token}) as allowed:
                assert allowed.status_code == 200
            async with door.stream(path) as stream:
                [connected] = await take(stream, 1)
                assert (connected.name, set(connected.data)) == ("connected", {"timestamp", "message"})


async def test_the_crawler_stream_has_the_moves_of_jobs_and_executions(door: Door):
    job = await door.job()
    other = await door.job()
    async with door.stream("/sse/crawler/events") as stream:
        await take(stream, 1)
        run = await door.run(job)
        await move(door, "schedule", job.id, "cancel", "pending", "cancelled")
        await move(door, "run", run.id, "lapse", "running", "failed", error="why")
        await move(door, "schedule", other.id, "cancel", "pending", "cancelled")
        status, progress, completed, last = await take(stream, 4)
    assert status.data.pop("timestamp").endswith("Z")
    assert (status.name, status.data) == ("job:status", {"job_id": job.uid, "status": "cancelled"})
    assert progress.data.pop("timestamp").endswith("Z")
    assert (progress.name, progress.data) == (
        "job:progress",
        {"job_id": job.uid, "execution_id": run.uid, "items_found": 0, "items_indexed": 0},
    )
    assert completed.data.pop("timestamp").endswith("Z")
    assert completed.data.pop("duration_ms") >= 0
    assert (completed.name, completed.data) == (
        "job:completed",
        {
            "job_id": job.uid,
            "execution_id": run.uid,
            "status": "failed",
            "items_indexed": 0,
            "error_message": "why",
        },
    )
    assert (last.name, last.data["job_id"]) == ("job:status", other.uid)


async def test_a_connected_client_receives_the_event_of_its_own_request_at_once(
    monkeypatch: pytest.MonkeyPatch, settings: Settings
):
    set_intervals(monkeypatch, move=0.5)
    async with open_door(settings) as door, door.stream("/sse/crawler/events") as stream, door.client() as client:
        await take(stream, 1)
        job = (await client.post("/api/v1/jobs", json={"url": "https://a.example/"})).json()
        await client.post(f"/api/v1/jobs/{job['id']}/cancel")
        [event] = await take(stream, 1)
    assert (event.name, event.data["job_id"], event.data["status"]) == ("job:status", job["id"], "cancelled")


async def test_a_state_that_is_over_is_told_without_the_time_of_the_next(
    monkeypatch: pytest.MonkeyPatch, settings: Settings
):
    set_intervals(monkeypatch, move=0.5)
    async with open_door(settings) as door, door.client() as client:
        made = {"url": "https://a.example/", "interval_minutes": 1, "interval_type": "days", "schedule_enabled": True}
        job = (await client.post("/api/v1/jobs", json=made)).json()
        async with door.stream("/sse/crawler/events") as stream:
            await take(stream, 1)
            for version, action in [("v1", "pause"), ("v1", "resume"), ("v2", "force-run")]:
                assert (await client.post(f"/api/{version}/jobs/{job['id']}/{action}")).is_success
            due = (await client.get(f"/api/v1/jobs/{job['id']}")).json()["next_run_at"]
            told = await take(stream, 3)
    assert [event.data["status"] for event in told] == ["paused", "scheduled", "pending"]
    assert [event.data.get("details") == {"next_run_at": due} for event in told] == [False, False, True]


async def test_the_health_stream_tells_how_the_engines_do(door: Door):
    async with door.stream("/sse/health/events") as stream:
        found = (await take(stream, 4))[1:]
    assert {event.name for event in found} == {"health:status"}
    assert [event.data["service"] for event in found] == ["crawler", "database", "objects"]
    assert {event.data["status"] for event in found} == {"healthy"}
    assert all(event.data["latency"] >= 0 and event.data["timestamp"].endswith("Z") for event in found)


async def test_the_metrics_stream_tells_figures_and_stages(door: Door):
    await door.run(await door.job())
    async with door.stream("/sse/metrics/events") as stream:
        found = (await take(stream, 8))[1:]
    figures = {event.data["metric"]: event.data["value"] for event in found if event.name == "metrics:update"}
    assert figures["runs_running"] == 1
    assert [event.data["stage"] for event in found if event.name == "pipeline:stage"] == ["crawled"]


@EMBEDDED
async def test_there_are_so_many_seats_and_no_more(door: Door, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(ClientLimit, "take", lambda _: False)
    job = await door.job()
    async with door.client() as client:
        for path in ("/sse/crawler/events", f"/api/v1/jobs/{job.uid}/logs/stream/v2"):
            answer = await client.get(path)
            assert (answer.status_code, answer.json()) == (503, {"error": "too many connections"})


def test_a_topic_that_the_contract_does_not_name_is_refused():
    with pytest.raises(TypeError):
        contract_events("something")


@EMBEDDED
async def test_a_stream_outlives_the_servers_deadlines_and_nothing_else_does(settings: Settings):
    short = dict.fromkeys(("server_read_timeout", "server_write_timeout", "server_idle_timeout"), 1.0)
    changed = msgspec.structs.replace(settings, **short)
    async with open_door(changed) as door, door.stream("/api/crawler/events") as stream:
        await take(stream, 1)
        reader, writer = await asyncio.open_connection("127.0.0.1", httpx.URL(door.address).port)
        head = f"POST /api/v1/jobs HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {door.token}\r\nContent-Length: 9"
        writer.write(f"{head}\r\n\r\n{{".encode())
        assert b" 408 " in await asyncio.wait_for(reader.read(), 60)
        writer.close()
        job = await door.job()
        await move(door, "schedule", job.id, "cancel", "pending", "cancelled")
        assert await take(stream, 1), "a second and more after it began"


async def test_a_job_that_runs_has_no_next_time_yet(door: Door):
    async with door.stream("/sse/crawler/events") as stream, door.client() as client:
        await take(stream, 1)
        job = (await client.post("/api/v1/jobs", json={"url": "https://a.example/"})).json()
        assert await door.platform.records.ticks.start(1, 10, 60_000)
        [event] = await take(stream, 1)
        assert "next_run_at" not in (await client.get(f"/api/v1/jobs/{job['id']}")).json()
    assert (event.data["status"], "details" in event.data) == ("running", False)


@EMBEDDED
async def test_a_stream_ends_with_its_key(door: Door, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("longline.surfaces.sse.CREDENTIALS_CHECK_SECONDS", 0.05)
    keys = ApiKeys(door.platform.records.api_keys, door.platform.clock)
    row, text = await keys.create(NewApiKey("dashboard", "intervals", Role.ADMIN))
    async with httpx.AsyncClient(base_url=door.address, verify=False, timeout=60) as dashboard:
        async with dashboard.stream("GET", "/sse/health/events", params={"token": text}) as stream:
            lines = stream.aiter_lines()
            assert await anext(lines) == "event: connected"
            await keys.revoke(row.uid)
            async with asyncio.timeout(30):
                assert [line async for line in lines]
        assert (await dashboard.get("/sse/health/events", params={"token": text})).status_code == 401
