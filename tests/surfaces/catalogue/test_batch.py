"""Batch jobs of the catalogue, the pause of jobs and stuck jobs: sections 11.2 and 11.3 of the contract."""

import re

import pytest

from tests.surfaces.catalogue.running import Admin, Json, data, error, write

RUN_FIELDS = {
    *("id", "jobkey", "status", "triggeredby", "triggeredbyuserid", "startedat", "finishedat", "durationms"),
    *("rowsaffected", "lasterror", "meta", "createdat"),
}
UNKNOWN = (404, "NOT_FOUND", "Unknown job key")
BUSY = (409, "CONFLICT", "This job is already running")
INVALID = (400, "VALIDATION_ERROR", "Invalid cron expression")


async def test_the_batch_jobs_and_their_times(admin: Admin):
    jobs = await admin.get("batch/jobs")
    assert [(job["jobkey"], job["isenabled"], job["lastrun"]) for job in jobs] == [
        ("crawler.archive", True, None),
        ("crawler.partition", True, None),
    ]
    [_, partition] = await admin.get("batch/schedule")
    assert (partition["jobkey"], partition["cron"]) == ("crawler.partition", "35 0 1 * *")
    assert re.fullmatch(r"20\d\d-\d\d-01T00:35:00.000Z", partition["nextrunat"])


async def test_times_are_changed(admin: Admin):
    body = {"jobkey": "crawler.archive", "cron": "5 4 * * mon"}
    changed = data(await admin.ask("PATCH", "batch/schedule", body))
    assert (changed["cron"], changed["isenabled"]) == ("5 4 * * mon", True)
    off = data(await admin.ask("PATCH", "batch/schedule", {"jobkey": "crawler.archive", "isenabled": False}))
    assert off == {"jobkey": "crawler.archive", "cron": "5 4 * * mon", "isenabled": False, "nextrunat": None}
    assert [job["cron"] for job in await admin.get("batch/jobs")] == ["5 4 * * mon", "35 0 1 * *"]
    entries = [(entry["action"], entry["entitytype"], entry["entityid"]) for entry in await admin.audit()]
    assert entries == [("batchschedule.update", "batchschedule", "crawler.archive")] * 2


@pytest.mark.parametrize("cron", ["", "often", "60 * * * *", "* * * *", "0 0 31 2 *"])
async def test_an_invalid_cron_expression(admin: Admin, cron: str):
    body = {"jobkey": "crawler.partition", "cron": cron}
    assert error(await admin.ask("PATCH", "batch/schedule", body)) == INVALID
    assert await admin.audit() == []


async def test_unknown_keys(admin: Admin):
    for path in ("batch/jobs/crawler.odd/run", "batch/jobs/log%20months/run", "batch/jobs/x/cancel"):
        assert error(await admin.ask("POST", path)) == UNKNOWN
    assert error(await admin.ask("PATCH", "batch/schedule", {"jobkey": "x", "cron": "* * * * *"})) == UNKNOWN
    assert error(await admin.ask("PATCH", "batch/schedule", {"cron": "* * * * *"}))[:2] == (400, "VALIDATION_ERROR")
    assert error(await admin.ask("PATCH", "batch/schedule", {"jobkey": "x", "odd": 1}))[:2] == (400, "VALIDATION_ERROR")


async def test_a_run_waits_for_upkeep_and_is_cancelled(admin: Admin):
    run = data(await admin.ask("POST", "batch/jobs/crawler.archive/run", {"reason": "now"}), 202)
    assert set(run) == RUN_FIELDS
    assert (run["jobkey"], run["status"], run["triggeredby"]) == ("crawler.archive", "queued", "admin")
    assert (run["triggeredbyuserid"], run["startedat"], run["durationms"]) == (admin.user, None, None)
    assert error(await admin.ask("POST", "batch/jobs/crawler.archive/run")) == BUSY
    [job, _] = await admin.get("batch/jobs")
    assert (job["isrunning"], job["lastrun"]) == (True, run)
    cancelled = data(await admin.ask("POST", "batch/jobs/crawler.archive/cancel"))
    assert (cancelled["id"], cancelled["status"]) == (run["id"], "cancelled")
    assert error(await admin.ask("POST", "batch/jobs/crawler.archive/cancel"))[:2] == (409, "CONFLICT")
    told = [(entry["action"], entry["entityid"], entry["reason"]) for entry in await admin.audit()]
    assert told == [("batchrun.create", run["id"], "now"), ("batchrun.cancel", run["id"], None)]


async def test_partitions_are_made_at_once(admin: Admin):
    run = data(await admin.ask("POST", "batch/crawler/partitions"), 202)
    assert (run["jobkey"], run["status"], run["lasterror"]) == ("crawler.partition", "done", None)
    assert isinstance(run["durationms"], int)
    assert all(re.fullmatch(r"log_\d{4}_\d\d", name) for name in run["meta"]["partitionsCreated"])
    [_, job] = await admin.get("batch/jobs")
    assert job["lastrun"] == run
    write(admin.stage, "UPDATE maintenance_runs SET state = 'running', lease_until = 99999999999999")
    assert error(await admin.ask("POST", "batch/crawler/partitions")) == BUSY


async def test_the_start_of_jobs_is_paused_and_resumed(admin: Admin):
    assert await admin.get("crawler/pause") == {"ispaused": False}
    for _ in range(2):
        assert data(await admin.ask("POST", "crawler/pause", {"reason": "maintenance"})) == {"ispaused": True}
    assert await admin.get("crawler/pause") == {"ispaused": True}
    for _ in range(2):
        assert data(await admin.ask("POST", "crawler/resume")) == {"ispaused": False}
    told = [(entry["action"], entry["entitytype"], entry["reason"]) for entry in await admin.audit()]
    assert told == [("crawler.pause", "crawler", "maintenance"), ("crawler.resume", "crawler", None)]


def _start(admin: Admin, job: Json, minutes_ago: int) -> None:
    """Let a job have started some time ago."""
    at = admin.stage.platform.clock.now() - minutes_ago * 60_000
    write(admin.stage, f"UPDATE runs SET state = 'running', started_at = {at} WHERE uid = '{job['id']}'")


async def test_stuck_jobs_are_failed_and_queued_again(admin: Admin):
    source, other, comic = await admin.source(), await admin.source("Other"), await admin.comic()
    await admin.mapping(comic, source)
    stuck = await admin.job(source, comicid=comic["id"])
    fresh, late = await admin.job(source), await admin.job(other)
    _start(admin, stuck, 31)
    _start(admin, fresh, 29)
    _start(admin, late, 60)
    done = data(await admin.ask("POST", "crawler/jobs/reset-stuck", {"reason": "a worker died"}))
    assert set(done) == {"count", "failed", "jobs"}
    assert (done["count"], set(done["failed"])) == (2, {stuck["id"], late["id"]})
    [again] = [job for job in done["jobs"] if job["sourceid"] == source["id"]]
    assert (again["status"], again["comicid"], again["triggeredby"]) == ("queued", comic["id"], admin.user)
    failed = await admin.get(f"crawler/jobs/{stuck['id']}")
    assert (failed["status"], failed["lasterror"]) == ("failed", "stuck")
    assert failed["finishedat"] is not None
    assert (await admin.get(f"crawler/jobs/{fresh['id']}"))["status"] == "running"
    health = await admin.get(f"crawler/sources/{source['id']}/health")
    assert (health["consecutivefails"], health["jobs"]["failed"], health["lastjob"]["id"]) == (1, 1, stuck["id"])
    told = [entry for entry in await admin.audit() if entry["action"] == "job.reset"]
    assert {(entry["entityid"], entry["reason"]) for entry in told} == {
        (stuck["id"], "a worker died"),
        (late["id"], "a worker died"),
    }
    nothing = data(await admin.ask("POST", "crawler/jobs/reset-stuck"))
    assert nothing == {"count": 0, "failed": [], "jobs": []}


async def test_open_and_stuck_jobs_sources_and_the_pause_are_metrics(admin: Admin):
    source = await admin.source(extensionid="com.example.site")
    await admin.source("Off", extensionid="com.example.site", isenabled=False)
    job = await admin.job(source)
    _start(admin, job, 31)
    data(await admin.ask("POST", "crawler/pause"))
    told = (await admin.client.get("/metrics")).text
    for line in (
        'longline_catalogue_jobs{status="queued"} 0.0',
        'longline_catalogue_jobs{status="running"} 1.0',
        "longline_catalogue_stuck_jobs 1.0",
        "longline_catalogue_paused 1.0",
        'longline_catalogue_sources{state="enabled"} 1.0',
        'longline_catalogue_sources{state="disabled"} 1.0',
        'longline_catalogue_sources{state="failing"} 0.0',
    ):
        assert line in told, line
