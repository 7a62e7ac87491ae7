"""Jobs of the catalogue: J1 to J4 and L1 of the contract."""

import asyncio

import pytest

from tests.surfaces.catalogue.running import Admin, Json, data, error

UNKNOWN = "01963a7e-5b2c-7def-8123-456789abcdef"
FAR = "2099-01-01T00:00:00Z"
FIELDS = {
    *("id", "sourceid", "comicid", "status", "scheduledat", "startedat", "finishedat", "pagescount", "errorcount"),
    *("lasterror", "triggeredby", "createdat", "updatedat", "source", "comic", "triggeredbyuser"),
}
DUPLICATE = (409, "CONFLICT", "A job for this comic and source is already queued or running.")
FINISHED = (400, "VALIDATION_ERROR", "Job cannot be cancelled — it has already finished")


async def _ask_job(admin: Admin, source: Json, **more: object) -> tuple[int, str, str]:
    return error(await admin.ask("POST", "crawler/jobs", {"sourceid": source["id"]} | more))


async def test_a_discovery_job(admin: Admin):
    source = await admin.source()
    job = await admin.job(source, scheduledat=FAR)
    assert set(job) == FIELDS
    assert (job["status"], job["comicid"], job["comic"]) == ("queued", None, None)
    assert job["scheduledat"] == "2099-01-01T00:00:00.000Z"
    assert job["source"] == {name: source[name] for name in ("id", "name", "slug")}
    assert job["triggeredby"] == admin.user
    assert job["triggeredbyuser"]["id"] == admin.user
    assert (job["pagescount"], job["errorcount"], job["lasterror"]) == (0, 0, None)
    assert await admin.get(f"crawler/jobs/{job['id']}") == job


async def test_a_targeted_job(admin: Admin):
    source, comic = await admin.source(), await admin.comic(coverurl="https://example.com/c.jpg")
    await admin.mapping(comic, source)
    job = await admin.job(source, comicid=comic["id"], scheduledat=FAR)
    assert job["comicid"] == comic["id"]
    assert {name: job["comic"][name] for name in ("id", "title", "coverurl")} == {
        name: comic[name] for name in ("id", "title", "coverurl")
    }


async def test_checks_of_a_trigger_in_their_order(admin: Admin):
    off = await admin.source("Off", isenabled=False)
    on, comic = await admin.source("On"), await admin.comic()
    assert (await _ask_job(admin, {"id": 999999}))[0] == 404
    disabled = "Source is disabled. Enable the source before triggering a job."
    assert await _ask_job(admin, off, comicid=comic["id"]) == (400, "VALIDATION_ERROR", disabled)
    unlinked = "Comic is not linked to this source (no comicsource mapping found)."
    assert await _ask_job(admin, on, comicid=comic["id"]) == (400, "VALIDATION_ERROR", unlinked)
    mapping = await admin.mapping(comic, on, isactive=False)
    assert await _ask_job(admin, on, comicid=comic["id"]) == (400, "VALIDATION_ERROR", unlinked)
    await admin.ask("PATCH", f"comics/{comic['id']}/sources/{mapping['id']}", {"isactive": True})
    await admin.job(on, comicid=comic["id"], scheduledat=FAR)
    assert await _ask_job(admin, on, comicid=comic["id"]) == DUPLICATE
    await admin.job(on, scheduledat=FAR)
    assert await _ask_job(admin, on) == DUPLICATE


@pytest.mark.parametrize("time", ["2026-04-01 10:00:00Z", "2026-04-01T10:00:00", "soon", 5, "2026-13-01T00:00:00Z"])
async def test_times_have_a_zone(admin: Admin, time: object):
    source = await admin.source()
    assert (await _ask_job(admin, source, scheduledat=time))[:2] == (400, "VALIDATION_ERROR")


async def test_a_time_with_an_offset_becomes_utc_and_the_past_is_now(admin: Admin):
    source, other = await admin.source(), await admin.source("Other")
    job = await admin.job(source, scheduledat="2099-01-01T02:00:00+02:00")
    assert job["scheduledat"] == "2099-01-01T00:00:00.000Z"
    past = await admin.job(other, scheduledat="2020-01-01T00:00:00Z")
    assert past["scheduledat"] > "2026"


async def test_acceptance_07_of_identical_triggers_one_is_made(admin: Admin):
    source = await admin.source()
    body = {"sourceid": source["id"], "scheduledat": FAR}
    answers = await asyncio.gather(*(admin.ask("POST", "crawler/jobs", body) for _ in range(20)))
    assert sorted(answer.status_code for answer in answers) == [201, *[409] * 19]
    assert {error(answer) for answer in answers if answer.status_code == 409} == {DUPLICATE}


async def test_acceptance_10_a_second_cancellation_is_refused(admin: Admin):
    source = await admin.source()
    job = await admin.job(source, scheduledat=FAR)
    path = f"crawler/jobs/{job['id']}"
    cancelled = data(await admin.ask("PATCH", f"{path}/cancel", {"reason": "not needed"}))
    assert set(cancelled) == {"id", "status", "updatedat"}
    assert (cancelled["id"], cancelled["status"]) == (job["id"], "cancelled")
    assert error(await admin.ask("PATCH", f"{path}/cancel")) == FINISHED
    found = await admin.get(path)
    assert found["finishedat"] is not None
    assert (await admin.get(f"crawler/sources/{source['id']}/health"))["consecutivefails"] == 0
    await admin.job(source, scheduledat=FAR)  # a cancelled job does not stand in the way
    entries = [(entry["action"], entry["entitytype"], entry["reason"]) for entry in await admin.audit()][1:3]
    assert entries == [("job.trigger", "job", None), ("job.cancel", "job", "not needed")]


async def test_unknown_jobs(admin: Admin):
    missing = (404, "NOT_FOUND", "Job not found")
    assert error(await admin.ask("GET", f"crawler/jobs/{UNKNOWN}")) == missing
    assert error(await admin.ask("PATCH", f"crawler/jobs/{UNKNOWN}/cancel")) == missing
    assert error(await admin.ask("GET", f"crawler/jobs/{UNKNOWN}/logs")) == missing


async def test_acceptance_11_lists_of_statuses(admin: Admin):
    sources = [await admin.source(f"S{n}") for n in range(3)]
    jobs = [await admin.job(source, scheduledat=f"2099-01-0{n}T00:00:00Z") for n, source in enumerate(sources, 1)]
    await admin.ask("PATCH", f"crawler/jobs/{jobs[0]['id']}/cancel")
    joined, meta = await admin.page("crawler/jobs", status="queued,running")
    repeated, _ = await admin.page("crawler/jobs", status=["queued", "running"])
    assert joined == repeated
    assert [job["id"] for job in joined] == [jobs[2]["id"], jobs[1]["id"]]
    assert meta["total"] == 2
    assert error(await admin.ask("GET", "crawler/jobs", status="queued,odd"))[:2] == (400, "VALIDATION_ERROR")


async def test_filters_of_jobs(admin: Admin):
    one, two, comic = await admin.source("One"), await admin.source("Two"), await admin.comic()
    await admin.mapping(comic, two)
    first = await admin.job(one, scheduledat="2099-01-01T00:00:00Z")
    second = await admin.job(two, comicid=comic["id"], scheduledat="2099-01-02T00:00:00Z")

    async def ids(**params: object) -> list[str]:
        return [job["id"] for job in (await admin.page("crawler/jobs", **params))[0]]

    assert await ids() == [second["id"], first["id"]]
    assert await ids(sourceid=one["id"]) == [first["id"]]
    assert await ids(comicid=comic["id"]) == [second["id"]]
    assert await ids(triggeredby="admin") == [second["id"], first["id"]]
    assert await ids(triggeredby="scheduler") == []
    assert await ids(since="2099-01-01T00:00:00Z") == [second["id"]]
    assert await ids(sort="pagescount") == sorted([first["id"], second["id"]], reverse=True)
    assert await ids(limit=1, page=2) == [first["id"]]
    for wrong in ({"triggeredby": "me"}, {"sort": "id"}, {"since": "x"}):
        assert error(await admin.ask("GET", "crawler/jobs", **wrong))[:2] == (400, "VALIDATION_ERROR")


async def test_the_log_of_a_job_that_said_nothing(admin: Admin):
    job = await admin.job(await admin.source(), scheduledat=FAR)
    found, meta = await admin.page(f"crawler/jobs/{job['id']}/logs")
    assert (found, meta) == ([], {"total": 0, "nextcursor": None})
    since = "2026-04-01T10:00:00.000001Z"
    found, meta = await admin.page(f"crawler/jobs/{job['id']}/logs", since=since)
    assert meta["nextcursor"] == since
    assert error(await admin.ask("GET", f"crawler/jobs/{job['id']}/logs", level="fatal"))[0] == 400


async def test_the_health_counts_jobs(admin: Admin):
    source = await admin.source()
    job = await admin.job(source, scheduledat=FAR)
    await admin.ask("PATCH", f"crawler/jobs/{job['id']}/cancel")
    await admin.job(source, scheduledat=FAR)
    health = await admin.get(f"crawler/sources/{source['id']}/health")
    assert health["jobs"] == {"total": 2, "done": 0, "failed": 0, "running": 0, "queued": 1}
    assert (health["lastjob"]["id"], health["lastjob"]["status"]) == (job["id"], "cancelled")


async def test_jobs_of_a_source_that_another_api_deleted_are_shown_no_more(admin: Admin):
    source = await admin.source()
    job = await admin.job(source, scheduledat=FAR)
    admin.stage.call(admin.stage.platform.records.sources.remove(source["id"]))
    assert error(await admin.ask("GET", f"crawler/jobs/{job['id']}")) == (404, "NOT_FOUND", "Job not found")
    assert await admin.page("crawler/jobs") == ([], {"total": 0, "page": 1, "limit": 50, "pages": 0})
