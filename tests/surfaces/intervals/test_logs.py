"""Job logs over HTTP: lists, downloads, and streams that are closed and resumed."""

import asyncio
import gzip
import json
import random
import re
from pathlib import Path
from unittest.mock import AsyncMock

import httpx
import msgspec
import pytest

from longline.drivers.blobs import open_blobs
from longline.drivers.records.logs.logs import LogRecords
from longline.model.errors import NotFound
from longline.model.runs.run import RunRow
from longline.model.schedules.schedule import ScheduleRow
from longline.services.logs import run_logs as following
from longline.settings import Settings, load
from longline.wiring.subjects.logs import run_log_keeper
from tests.servers import S3Server
from tests.surfaces.intervals.platform import Door, events, open_door, rest, take

EMBEDDED = pytest.mark.parametrize("migrated_url", ["sqlite"], indirect=True)


KEPT = ("log_object_key", "log_size_bytes", "log_line_count")


async def test_logs_of_executions_are_listed(door: Door):
    job = await door.job()
    async with door.client() as client:
        path = f"/api/v1/jobs/{job.uid}/logs"
        nothing = (await client.get(path)).json()
        assert nothing == {
            "job_id": job.uid,
            "executions": [],
            "has_live_logs": False,
            "stream_v2_available": True,
            "limit": 50,
            "offset": 0,
        }
        first = await door.run(job)
        await door.say(first, "a")
        await door.end(first)
        second = await door.run(job)
        assert (await client.get(path)).json()["has_live_logs"] is True, "before its first word"
        await door.say(second, "b")
        told = (await client.get(path)).json()
        assert told["has_live_logs"] is True
        live, ended = told["executions"]
        assert (live["execution_id"], live["execution_number"], live["status"]) == (second.uid, 2, "running")
        assert (live["log_available"], live["completed_at"]) == (False, None)
        assert "log_object_key" not in live
        assert ended["started_at"].endswith("Z")
        assert (ended["log_available"], ended["log_line_count"]) == (True, 2)
        assert ended["log_object_key"] == f"logs/{job.uid}/1.log.gz"
        assert ended["log_size_bytes"] == len(await door.platform.blobs.get(ended["log_object_key"]))
        for query, shown in [("limit=0", (50, 0)), ("limit=1000&offset=-3", (100, 0)), ("limit=1&offset=x", (1, 0))]:
            page = (await client.get(f"{path}?{query}")).json()
            assert (page["limit"], page["offset"]) == shown
        page = (await client.get(f"{path}?limit=1&offset=1")).json()
        assert [e["execution_number"] for e in page["executions"]] == [1]
        assert page["has_live_logs"] is True


async def test_an_execution_says_where_its_log_is_kept(door: Door):
    job = await door.job()
    run = await door.run(job)
    await door.say(run, "one", "two")
    async with door.client() as client:
        assert "log_object_key" not in (await client.get(f"/api/v1/executions/{run.uid}")).json()
        await door.end(run)
        told = (await client.get(f"/api/v1/executions/{run.uid}")).json()
        [logged] = (await client.get(f"/api/v1/jobs/{job.uid}/logs")).json()["executions"]
    assert told["log_line_count"] == 3
    assert {k: v for k, v in told.items() if k.startswith("log_")} == {k: logged[k] for k in KEPT}


async def test_a_log_is_read_from_its_end_on_although_it_is_archived_later(door: Door):
    job = await door.job()
    run = await door.run(job)
    await door.say(run, "one", "two")
    path = f"/api/v1/jobs/{job.uid}/logs"
    async with door.client() as client:
        assert (await client.get(f"{path}/view")).status_code == 404
        await door.stop(run)
        viewed = (await client.get(f"{path}/view")).json()
        assert [line["message"] for line in viewed["lines"]] == ["one", "two"]
        loaded = gzip.decompress((await client.get(f"{path}/download?execution=1")).content).splitlines()
        assert [json.loads(line) for line in loaded] == viewed["lines"]
        assert "log_object_key" not in (await client.get(f"/api/v1/executions/{run.uid}")).json(), "no such object yet"


async def test_an_archive_is_downloaded_and_viewed(door: Door):
    job = await door.job()
    path = f"/api/v1/jobs/{job.uid}/logs"
    async with door.client() as client:
        for way in ("download", "view"):
            answer = await client.get(f"{path}/{way}")
            assert (answer.status_code, answer.json()) == (404, {"error": "no executions found for job"})
        run = await door.run(job)
        await door.say(run, "first", fields='{"n":1}')
        answer = await client.get(f"{path}/download")
        assert (answer.status_code, answer.json()) == (404, {"error": "no logs archived for latest execution"})
        await door.end(run, "lapse", "failed")
        again = await door.run(job)
        await door.say(again, "second")
        await door.end(again)
        answer = await client.get(f"{path}/download?execution=1")
        assert answer.headers["content-disposition"] == f'attachment; filename="job-{job.uid}-exec-1.log.gz"'
        lines = [json.loads(line) for line in gzip.decompress(answer.content).splitlines()]
        assert [line["message"] for line in lines] == ["first", "run failed"], "and no line of run 2"
        assert (lines[0]["fields"], lines[0]["execution_id"]) == ({"n": 1}, run.uid)
        viewed = (await client.get(f"{path}/view")).json()
        assert (viewed["execution_number"], viewed["line_count"], viewed["job_id"]) == (2, 2, job.uid)
        assert [line["message"] for line in viewed["lines"]] == ["second", "run cancelled"]
        for odd in ("3", "x", "-1", "9" * 40):
            answer = await client.get(f"{path}/view?execution={odd}")
            assert (answer.status_code, answer.json()) == (404, {"error": "no logs found for specified execution"})
        await door.platform.blobs.put(f"logs/{job.uid}/2.log.gz", gzip.compress(b'not JSON\n[1]\n{"level":"warn"}\n'))
        viewed = (await client.get(f"{path}/view?execution=latest")).json()
        assert viewed["lines"] == [
            {"message": "not JSON", "level": "info"},
            {"message": "[1]", "level": "info"},
            {"level": "warn"},
        ]
        await door.platform.blobs.delete([f"logs/{job.uid}/2.log.gz"])
        # With an engine that other instances share, the log may be at one of them.
        assert (await client.get(f"{path}/download")).status_code == (404 if door.platform.embedded else 503)


async def test_v2_replays_then_follows_and_tells_of_the_archive(door: Door):
    job = await door.job()
    run = await door.run(job)
    await door.say(run, *(f"old {n}" for n in range(205)))
    async with door.stream(f"/api/v1/jobs/{job.uid}/logs/stream/v2") as stream:
        connected, replay = await take(stream, 2)
        assert (connected.name, connected.data["job_id"]) == ("connected", job.uid)
        assert (replay.name, replay.data["count"], replay.id) == ("log:replay", 200, f"{run.id}-205")
        assert [line["message"] for line in replay.data["lines"]] == [f"old {n}" for n in range(5, 205)]
        await door.say(run, "new", level="warn", fields='{"url":"https://a.example/"}')
        [line] = await take(stream, 1)
        assert (line.name, line.id) == ("log:line", f"{run.id}-206")
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z", line.data.pop("timestamp"))
        assert line.data == {
            "job_id": job.uid,
            "execution_id": run.uid,
            "level": "warn",
            "category": "crawler.fetch",
            "message": "new",
            "fields": {"url": "https://a.example/"},
        }
        await door.end(run)
        last, archived = await take(stream, 2)
        assert last.data["message"] == "run cancelled"
        assert archived.name == "log:archived"
        key = f"logs/{job.uid}/1.log.gz"
        size = len(await door.platform.blobs.get(key))
        assert archived.data.pop("timestamp").endswith("Z")
        assert archived.data == {
            "job_id": job.uid,
            "execution_id": run.uid,
            "execution_number": 1,
            "object_key": key,
            "size_bytes": size,
            "line_count": 207,
        }
        assert await rest(stream) == [], "the run has finished"


async def one_run(door: Door, job: ScheduleRow, *texts: str) -> RunRow:
    """Run an execution from its first line to its archived log."""
    run = await door.run(job)
    await door.say(run, *texts)
    await door.end(run)
    return run


async def test_v2_ends_with_the_run_it_was_waiting_for(door: Door):
    """A client that connects before the first run, between two, or at the end of one gets all the lines of the next."""
    job = await door.job()
    path = f"/api/v1/jobs/{job.uid}/logs/stream/v2"
    async with door.stream(path) as stream:
        _, replay = await take(stream, 2)
        assert replay.data == {"lines": [], "count": 0}
        first = await one_run(door, job, "a", "b")
        said = await rest(stream)
    assert [event.name for event in said] == [*["log:line"] * 3, "log:archived"]
    ids = [event.id for event in said]
    async with door.stream(path) as stream:
        _, replay = await take(stream, 2)
        assert ([line["message"] for line in replay.data["lines"]], replay.id) == (["a", "b", "run cancelled"], ids[2])
        await one_run(door, job, "c")
        assert [event.data.get("message") for event in await rest(stream)] == ["c", "run cancelled", None]
    async with door.stream(path, last=ids[0]) as stream:
        left = (await rest(stream))[1:]
        assert [event.data.get("message") for event in left] == ["b", "run cancelled", None]
        assert left[-1].data["execution_id"] == first.uid


@pytest.mark.parametrize("place", [-1, -2], ids=["archive", "last line"])
async def test_v2_taken_up_at_the_end_of_a_run_waits_for_the_next(door: Door, place: int):
    """A browser reconnects by itself: it must neither get 204 nor any event twice."""
    job = await door.job()
    run = await door.run(job)
    path = f"/api/v1/jobs/{job.uid}/logs/stream/v2"
    await door.say(run, "0")
    async with door.stream(path) as stream:
        await take(stream, 2)
        await door.end(run)
        last = [event.id for event in await rest(stream)][place]
    async with door.stream(path, last=last) as stream:
        await take(stream, 1)
        again = await one_run(door, job, "a")
        said = await rest(stream)
    assert [(event.name, event.data["execution_id"]) for event in said] == [
        ("log:line", again.uid),
        ("log:line", again.uid),
        ("log:archived", again.uid),
    ]
    async with door.stream(path, last=last) as stream:
        assert [event.id for event in await rest(stream)][1:] == [event.id for event in said], (
            "also when that was missed"
        )


async def test_v2_waits_for_a_log_to_be_in_the_archive(door: Door, monkeypatch: pytest.MonkeyPatch):
    job = await door.job()
    run = await door.run(job)
    path = f"/api/v1/jobs/{job.uid}/logs/stream/v2"
    await door.say(run, "0")
    monkeypatch.setattr(LogRecords, "unarchived", AsyncMock(return_value=[]))
    async with door.stream(path) as stream:
        await take(stream, 2)
        await door.end(run)
        await door.say(await door.run(job), "of the next run")
        await take(stream, 1)
        monkeypatch.undo()
        await run_log_keeper(door.platform, grace_ms=0).once()
        assert [event.name for event in await rest(stream)] == ["log:archived"]


async def test_v2_does_not_wait_for_an_archive_that_never_comes(door: Door, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(following, "ARCHIVE_TIMEOUT_SECONDS", 0.01)
    job = await door.job()
    run = await door.run(job)
    await door.say(run, "0")
    monkeypatch.setattr(LogRecords, "unarchived", AsyncMock(return_value=[]))
    async with door.stream(f"/api/v1/jobs/{job.uid}/logs/stream/v2") as stream:
        await take(stream, 2)
        await door.end(run)
        assert [event.name for event in await rest(stream)] == ["log:line"]


async def test_v2_of_one_execution_ends_with_its_archive(door: Door):
    job = await door.job()
    first, second = await door.run(job), await door.run(job)
    await door.say(first, "mine")
    await door.say(second, "not mine")
    path = f"/api/v1/jobs/{job.uid}/logs/stream/v2"
    async with door.stream(path, execution_id=first.uid) as stream:
        _, replay = await take(stream, 2)
        assert [line["message"] for line in replay.data["lines"]] == ["mine"]
        await door.end(first)
        assert [event.name for event in await rest(stream)] == ["log:line", "log:archived"]
    async with door.stream(path, last=f"{first.id}-1", execution_id=first.uid) as stream:
        again = await rest(stream)
    assert [event.name for event in again] == ["connected", "log:line", "log:archived"]
    async with door.client() as client:
        answer = await client.get(
            path, params={"execution_id": first.uid}, headers={"Last-Event-ID": again[-1].id or ""}
        )
    assert (answer.status_code, answer.content) == (204, b""), "204 ends the reconnections of a browser"


async def test_the_stream_of_an_execution_with_a_pruned_log_ends(door: Door, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(following, "ARCHIVE_TIMEOUT_SECONDS", 0.01)
    job = await door.job()
    run = await one_run(door, job, "a")
    assert await door.platform.records.logs.prune(0, 0)
    async with door.stream(f"/api/v1/jobs/{job.uid}/logs/stream/v2", execution_id=run.uid) as stream:
        assert [event.name for event in await rest(stream)] == ["connected", "log:replay"]


@EMBEDDED
async def test_a_mark_that_leads_nowhere_means_a_replay(door: Door):
    job = await door.job()
    run = await door.run(job)
    await door.say(run, "a")
    for last in ("", "nonsense", "1-2-3", "-1-1", "99999999-7", "0-0", "9" * 30 + "-1"):
        async with door.stream(f"/api/v1/jobs/{job.uid}/logs/stream/v2", last=last) as stream:
            _, event = await take(stream, 2)
            # 0-0 is before the first entry, so that the stream has every entry after it.
            assert event.name == ("log:line" if last == "0-0" else "log:replay"), last


async def test_v1_replays_and_follows_without_ids(door: Door):
    job = await door.job()
    run = await door.run(job)
    await door.say(run, "a")
    async with door.stream(f"/api/v1/jobs/{job.uid}/logs/stream", last=f"{run.id}-1") as stream:
        _, replay = await take(stream, 2)
        await door.say(run, "b")
        [line] = await take(stream, 1)
        assert (replay.name, replay.id, replay.data["count"]) == ("log:replay", None, 1)
        assert (line.name, line.id, line.data["message"]) == ("log:line", None, "b")
        await door.end(run)
        await one_run(door, job, "c")
        names = [(event.name, event.id) for event in await take(stream, 5)]
        assert names == [(name, None) for name in ("log:line", "log:archived", "log:line", "log:line", "log:archived")]


async def test_fifty_clients_that_come_and_go_lose_nothing(door: Door):
    """Each client gets each line once and in order, wherever it disconnects and resumes."""
    job, clients, lines = await door.job(), 50, 250
    run = await door.run(job)
    await door.say(run, "0")
    path = f"/api/v1/jobs/{job.uid}/logs/stream/v2"
    chance = random.Random(7)

    async def write() -> None:
        n = 1
        while n < lines:
            some = min(chance.randint(1, 12), lines - n)
            await door.say(run, *(str(number) for number in range(n, n + some)))
            n += some
            await asyncio.sleep(0.01)

    async def follow(client: httpx.AsyncClient) -> list[int]:
        seen: list[int] = []
        last: str | None = None
        while len(seen) < lines:
            headers = {"Last-Event-ID": last} if last else {}
            stays = chance.randint(1, 90)
            async with client.stream("GET", path, headers=headers) as answer:
                assert answer.status_code == 200
                async for event in events(answer):
                    if event.name == "log:replay":
                        assert last is None, "only a new client gets a replay"
                        seen += [int(line["message"]) for line in event.data["lines"]]
                    elif event.name == "log:line":
                        seen.append(int(event.data["message"]))
                    last = event.id or last
                    stays -= event.name == "log:line"
                    if stays <= 0 or len(seen) >= lines:
                        break
        return seen

    limits = httpx.Limits(max_connections=None)
    async with httpx.AsyncClient(
        base_url=door.address, verify=False, headers=door.headers, timeout=120, limits=limits
    ) as client:
        writing = asyncio.create_task(write())
        found = await asyncio.wait_for(asyncio.gather(*(follow(client) for _ in range(clients))), 120)
        await writing
    assert all(seen == list(range(lines)) for seen in found)


async def test_a_stop_ends_streams_in_good_order(settings: Settings):
    ended = asyncio.Event()
    async with open_door(settings) as door:
        job = await door.job()

        async def follow() -> list[str]:
            async with door.stream(f"/api/v1/jobs/{job.uid}/logs/stream/v2") as stream:
                await take(stream, 2)
                ended.set()
                return [event.name for event in await rest(stream)]

        following = asyncio.create_task(follow())
        await ended.wait()
    assert await asyncio.wait_for(following, 60) == []


@EMBEDDED
async def test_requests_without_access_and_for_unknown_ids_are_refused(door: Door):
    job = await door.job()
    async with httpx.AsyncClient(base_url=door.address, verify=False, timeout=60) as stranger, door.client() as client:
        base = f"/api/v1/jobs/{job.uid}/logs"
        for path in (base, *(f"{base}/{way}" for way in ("download", "view", "stream", "stream/v2"))):
            assert (await stranger.get(path)).json() == {"error": "missing authorization"}
            answer = await stranger.get(path, headers={"Authorization": "Bearer no"})
            assert (answer.status_code, answer.json()) == (401, {"error": "invalid token"})
        assert (await stranger.get(f"{base}?token={door.token}")).status_code == 401
        for way in ("stream", "stream/v2"):
            streamed = await stranger.get(f"{base}/{way}?execution_id=nothing&token={door.token}")
            assert streamed.json() == {"error": "Execution not found"}, "a token in the URL opens streams"
            answer = await client.get(f"/api/v1/jobs/nobody/logs/{way}")
            assert (answer.status_code, answer.json()) == (404, {"error": "Job not found"})
            answer = await client.get(f"{base}/{way}?execution_id=nothing")
            assert (answer.status_code, answer.json()) == (404, {"error": "Execution not found"})
        answer = await client.get("/api/v1/jobs/undefined/logs")
        assert (answer.status_code, answer.json()) == (400, {"error": "Invalid job ID"})


@EMBEDDED
async def test_a_replay_is_as_long_as_the_operator_has_it(settings: Settings):
    async with open_door(msgspec.structs.replace(settings, run_log_buffer=3)) as door:
        job = await door.job()
        run = await door.run(job)
        await door.say(run, *"abcde")
        async with door.stream(f"/api/v1/jobs/{job.uid}/logs/stream/v2") as stream:
            _, replay = await take(stream, 2)
        await door.end(run)
        async with door.client() as client:
            kept = (await client.get(f"/api/v1/jobs/{job.uid}/logs/view")).json()["line_count"]
    assert ([line["message"] for line in replay.data["lines"]], kept) == (["c", "d", "e"], 6)


@EMBEDDED
async def test_streams_can_be_switched_off(settings: Settings):
    async with open_door(msgspec.structs.replace(settings, run_log_streams=False)) as door:
        job = await door.job()
        async with door.client() as client:
            base = f"/api/v1/jobs/{job.uid}/logs"
            answer = await client.get(f"{base}/stream/v2")
            assert (answer.status_code, answer.json()) == (503, {"error": "Redis streaming not available"})
            assert (await client.get(f"{base}/stream")).status_code == 503
            assert (await client.get(base)).json()["stream_v2_available"] is False
        async with door.stream("/sse/crawler/events") as stream:
            assert await take(stream, 1), "events are no logs"


@EMBEDDED
async def test_without_an_archive_nothing_is_said_to_be_there(settings: Settings, tmp_path: Path):
    async with open_door(msgspec.structs.replace(settings, run_log_archive=False)) as door:
        job = await door.job()
        run = await door.run(job)
        await door.say(run, "a")
        async with door.stream(f"/api/v1/jobs/{job.uid}/logs/stream/v2", execution_id=run.uid) as stream:
            await take(stream, 2)
            await door.end(run)
            assert [event.name for event in await rest(stream)] == ["log:line"]
        async with door.stream(f"/api/v1/jobs/{job.uid}/logs/stream/v2", last=f"{run.id}-1") as stream:
            ended = await rest(stream)
            assert [event.data.get("message") for event in ended[1:]] == ["run cancelled"], "and no archive"
        async with door.stream(f"/api/v1/jobs/{job.uid}/logs/stream/v2", last=ended[-1].id) as stream:
            await take(stream, 1)
            again = await one_run(door, job, "b")
            assert {event.data["execution_id"] for event in await rest(stream)} == {again.uid}
        async with door.client() as client:
            _, execution = (await client.get(f"/api/v1/jobs/{job.uid}/logs")).json()["executions"]
            assert execution["log_available"] is False
            assert "log_object_key" not in execution


@pytest.mark.parametrize("migrated_url", ["postgres"], indirect=True)
async def test_a_log_that_another_instance_keeps_is_said_to_be_elsewhere(settings: Settings, tmp_path: Path):
    """Of two instances on one database, each with a folder of its own, only one has the log."""
    async with open_door(settings) as door:
        job = await door.job()
        await one_run(door, job, "a")
        path = f"/api/v1/jobs/{job.uid}/logs"
        folder = f"file://{tmp_path}/other"
        apart = msgspec.structs.replace(settings, data=tmp_path / "other", objects=folder, run_log_objects=folder)
        async with open_door(apart) as other, other.client() as there, door.client() as here:
            for way in ("download", "view"):
                for query in ("", "?execution=1"):
                    answer = await there.get(f"{path}/{way}{query}")
                    assert answer.status_code == 503, answer.text
                    assert "another instance" in answer.json()["error"]
                assert (await there.get(f"{path}/{way}?execution=7")).status_code == 404
                assert (await here.get(f"{path}/{way}")).status_code == 200
        common = msgspec.structs.replace(apart, run_log_objects=settings.run_log_objects)
        async with open_door(common) as other, other.client() as there:
            assert (await there.get(f"{path}/download")).status_code == 200


@pytest.mark.parametrize("migrated_url", ["sqlite"], indirect=True)
async def test_with_an_object_store_logs_go_to_their_own_bucket(
    settings: Settings, s3_server: S3Server, request: pytest.FixtureRequest
):
    bucket = s3_server.create_bucket("crawler-logs")
    request.addfinalizer(lambda: s3_server.delete_bucket(bucket))
    environ = {
        "CRAWLER_MINIO_ENABLED": "true",
        "CRAWLER_MINIO_ENDPOINT": s3_server.endpoint.removeprefix("http://"),
        "CRAWLER_MINIO_ACCESS_KEY": s3_server.access_key,
        "CRAWLER_MINIO_SECRET_KEY": s3_server.secret_key,
    }
    there = load(environ=environ).settings.run_log_objects
    async with open_door(msgspec.structs.replace(settings, run_log_objects=there)) as door:
        job = await door.job()
        await one_run(door, job, "a")
        async with door.client() as client:
            assert (await client.get(f"/api/v1/jobs/{job.uid}/logs/view")).json()["line_count"] == 2
        assert (await open_blobs(there).get(f"logs/{job.uid}/1.log.gz"))[:2] == b"\x1f\x8b"
        with pytest.raises(NotFound):
            await door.platform.blobs.get(f"logs/{job.uid}/1.log.gz")
