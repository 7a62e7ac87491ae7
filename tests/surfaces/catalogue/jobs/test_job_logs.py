"""Logs of jobs (§7 of the contract): the lines that it names, cursors, levels, and cancellation at the origin."""

import asyncio
import json
import time
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from tests.drivers.records.peek import Peek
from tests.surfaces.catalogue.crawling import GENERIC, SELECTORS, comic_pages, ended, root, source_on, working_stage
from tests.surfaces.catalogue.running import Admin, Json, data, error, visiting
from tests.surfaces.products.running import Stage
from tests.web import SiteHandle, running_site
from tests.web.wire import Answer, Request

FAST = SELECTORS | {"ratelimit": 1000}
CHAPTERS = 60


@pytest.fixture
def site() -> Iterator[SiteHandle]:
    """A site with forty comics; the eighth has sixty chapters, of which one is missing and one throttles once."""
    with running_site(0) as found:
        pages = comic_pages() | {f"/read/{n}": f"<p>page {n}" for n in range(1, CHAPTERS + 1)}
        pages["/comic/8"] = "<ul class=chapters>" + "".join(
            f"<li class=chapter><b>{n}</b><i>en</i><a href=/read/{n}>Chapter {n}</a></li>"
            for n in range(1, CHAPTERS + 1)
        )
        del pages["/read/5"]
        found.site.extra.update({path: f"<title>x</title>{text}".encode() for path, text in pages.items()})
        yield found


@pytest.fixture(params=["sqlite", "postgres"])
def working(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stage]:
    """A server with workers, on each engine."""
    with working_stage(request, tmp_path, request.param) as found:
        yield found


@pytest.fixture(params=["sqlite", "postgres"])
def strict(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stage]:
    """A server with workers, on each engine; its filter of run logs lets errors through alone."""
    with working_stage(request, tmp_path, request.param, run_log_level="error") as found:
        yield found


async def _lines(admin: Admin, job: Json, **query: object) -> list[Json]:
    found, _ = await admin.page(f"crawler/jobs/{job['id']}/logs", limit=1000, **query)
    return found


async def _finished(admin: Admin, job: Json) -> list[Json]:
    """Return the log of a job after its last line, which is written a second after its end."""
    await ended(admin, job)
    async with asyncio.timeout(30):
        while not (lines := await _lines(admin, job)) or "status" not in (lines[-1]["meta"] or {}):  # noqa: ASYNC110 - over HTTP
            await asyncio.sleep(0.1)
    return lines


async def _discovered(admin: Admin, source: Json, number: int) -> Json:
    await ended(admin, await admin.job(source))
    [comic] = [
        each for each in (await admin.page("comics", q=f"Comic {number}"))[0] if each["title"][6:] == str(number)
    ]
    return comic


def _named(lines: list[Json], text: str) -> list[Json]:
    return [line for line in lines if line["message"].startswith(text)]


async def test_the_lines_that_the_contract_names_pass_every_filter(strict: Stage, site: SiteHandle):
    answers = iter([Answer(429, headers=(("Retry-After", "2"),))])

    def throttle(_: Request) -> Answer:
        return next(answers, Answer(body=b"<p>page 1"))

    site.site.extra["/read/1"] = throttle
    async with visiting(strict) as admin, source_on(admin, site, GENERIC, FAST) as source:
        discovery = await admin.job(source)
        lines = await _finished(admin, discovery)
        first, *_, last = lines
        assert (first["level"], first["message"]) == ("info", f"Starting discovery crawl for source {source['id']}")
        assert first["meta"] == {"sourceid": source["id"]}
        found = _named(lines, "Found")
        assert [line["message"] for line in found] == ["Found 10 new comics"] * 4
        assert found[0]["meta"] == {"count": 10, "url": f"{root(site)}/"}
        assert (last["level"], last["message"]) == ("info", "Job completed successfully")
        assert last["meta"]["pagescount"] == 4
        assert last["meta"]["durationms"] >= 0
        [comic] = [each for each in (await admin.page("comics", q="Comic 8"))[0] if each["title"] == "Comic 8"]
        lines = await _finished(admin, targeted := await admin.job(source, comicid=comic["id"]))
        assert lines[0]["message"] == f"Starting targeted crawl for comic {comic['id']}"
        assert lines[0]["meta"] == {"sourceid": source["id"], "comicid": comic["id"]}
        [found_line] = _named(lines, "Found")
        assert found_line["message"] == f"Found {CHAPTERS} new chapters"
        assert found_line["meta"]["chapternumbers"] == list(range(1, CHAPTERS + 1))
        assert found_line["meta"]["url"] == f"{root(site)}/comic/8"
        [throttled] = _named(lines, "Rate limit hit")
        assert (throttled["level"], throttled["message"]) == ("warn", "Rate limit hit — retrying after 2s")
        facts = throttled["meta"]
        assert (facts["url"], facts["httpstatus"], facts["retrycount"]) == (f"{root(site)}/read/1", 429, 0)
        assert json.dumps(facts["retryafter"]) == "2"
        [failed] = _named(lines, "Failed to fetch")
        assert (failed["level"], failed["meta"]["url"], failed["meta"]["httpstatus"]) == (
            *("error", f"{root(site)}/read/5"),
            404,
        )
        assert lines[-1]["message"] == "Job completed successfully"
        job = await admin.get(f"crawler/jobs/{targeted['id']}")
        assert (lines[-1]["meta"]["pagescount"], lines[-1]["meta"]["errorcount"]) == (job["pagescount"], 1)
        assert {line["jobid"] for line in lines} == {targeted["id"]}
        again = await _finished(admin, await admin.job(source, comicid=comic["id"]))
        assert not _named(again, "Found"), "the second crawl finds no new comics"


async def test_acceptance_12_polling_yields_each_line_once(working: Stage, site: SiteHandle):
    async with visiting(working) as admin, source_on(admin, site, GENERIC, FAST | {"ratelimit": 15}) as source:
        comic = await _discovered(admin, source, 8)
        job = await admin.job(source, comicid=comic["id"])
        seen: list[Json] = []
        cursor, while_running = None, 0
        async with asyncio.timeout(60):
            while not (seen and "status" in (seen[-1]["meta"] or {})):
                query: Json = {"since": cursor} if cursor else {}
                found, meta = await admin.page(f"crawler/jobs/{job['id']}/logs", limit=3, **query)
                assert meta["total"] >= len(seen) + len(found), "the total ignores the cursor"
                assert meta["nextcursor"] == (found[-1]["createdat"] if found else cursor)
                seen += found
                cursor = meta["nextcursor"]
                shown = await admin.get(f"crawler/jobs/{job['id']}")
                while_running += bool(found) and shown["status"] == "running"
                await asyncio.sleep(0.1)  # the API takes 300 requests a minute
        assert while_running > 2
        whole, meta = await admin.page(f"crawler/jobs/{job['id']}/logs", limit=1000)
        assert seen == whole
        assert meta["total"] == len(whole)
        times = [line["createdat"] for line in whole]
        assert times == sorted(set(times))
        assert all(len(at) == len("2026-02-22T00:00:05.000001Z") for at in times)
        for level in ("debug", "info", "warn", "error"):
            chosen, meta = await admin.page(f"crawler/jobs/{job['id']}/logs", limit=1000, level=level)
            assert chosen == [line for line in whole if line["level"] == level]
            assert meta["total"] == len(chosen)
            _, later = await admin.page(f"crawler/jobs/{job['id']}/logs", level=level, since=times[-1])
            assert later == {"total": len(chosen), "nextcursor": times[-1]}


async def test_acceptance_09_cancel_stops_requests_within_a_second(working: Stage, site: SiteHandle):
    async with visiting(working) as admin, source_on(admin, site, GENERIC, FAST | {"ratelimit": 20}) as source:
        comic = await _discovered(admin, source, 8)
        job = await admin.job(source, comicid=comic["id"])
        begun = len(site.requests)
        async with asyncio.timeout(30):
            while len(site.requests) < begun + 10:  # noqa: ASYNC110 - the site is in another thread
                await asyncio.sleep(0.01)
        answer = data(await admin.ask("PATCH", f"crawler/jobs/{job['id']}/cancel", {"reason": "no room left"}))
        at = time.monotonic()
        assert set(answer) == {"id", "status", "updatedat"}
        await asyncio.sleep(3)
        late = [visit.time - at for visit in site.requests if visit.time > at]
        assert not [seconds for seconds in late if seconds > 1], late
        assert len(site.requests) - begun < CHAPTERS, "the job would have sent more requests"
        shown = await admin.get(f"crawler/jobs/{job['id']}")
        assert (shown["status"], shown["finishedat"] is not None) == ("cancelled", True)
        warned = await _lines(admin, job, level="warn")
        assert [(line["message"], line["meta"]) for line in warned if "cancel" in line["message"]] == [
            ("Job cancelled: no room left", {"reason": "no room left"})
        ]
        health = await admin.get(f"crawler/sources/{source['id']}/health")
        assert (health["consecutivefails"], health["jobs"]["done"]) == (0, 1)
        assert health["lastjob"]["status"] == "cancelled"


async def test_a_queued_job_that_is_cancelled_has_a_warning(working: Stage, site: SiteHandle):
    async with visiting(working) as admin, source_on(admin, site, GENERIC, FAST) as source:
        job = await admin.job(source, scheduledat="2099-01-01T00:00:00Z")
        await admin.ask("PATCH", f"crawler/jobs/{job['id']}/cancel")
        [line] = await _lines(admin, job)
        assert (line["level"], line["message"], line["meta"]) == ("warn", "Job cancelled", None)


async def test_queries_of_a_log_by_the_text_of_the_contract(working: Stage, site: SiteHandle):
    async with visiting(working) as admin, source_on(admin, site, GENERIC, FAST) as source:
        comic = await _discovered(admin, source, 8)
        job = await admin.job(source, comicid=comic["id"])
        whole = await _finished(admin, job)
        path = f"crawler/jobs/{job['id']}/logs"

        async def ask(**query: object) -> list[Json]:
            return (await admin.page(path, **query))[0]

        for line in whole:
            assert set(line) == {"id", "jobid", "level", "message", "meta", "createdat"}
            assert line["id"][14] == "7", "a UUIDv7"
        assert [line["id"] for line in whole] == sorted({line["id"] for line in whole})
        assert await ask(limit=5000) == whole[:1000], "above the maximum it is the maximum"
        for strange in ("0", "-3", "many", ""):
            assert await ask(limit=strange) == whole[:100], strange
        assert await ask(limit=2) == whole[:2]
        third = whole[2]["createdat"]
        assert await ask(since=third, limit=1000) == whole[3:], "the bound is exclusive"
        behind = datetime.fromisoformat(third).astimezone(timezone(timedelta(hours=2))).isoformat()
        assert await ask(since=behind, limit=1000) == whole[3:]
        before = (datetime.fromisoformat(third) - timedelta(microseconds=1)).isoformat()
        assert (await ask(since=before, limit=1000))[0] == whole[2]
        for wrong in ({"since": "yesterday"}, {"since": "2026-04-01T10:00:00"}, {"level": "fatal"}, {"level": "INFO"}):
            assert error(await admin.ask("GET", path, **wrong))[:2] == (400, "VALIDATION_ERROR"), wrong
        unknown = path.replace(job["id"], "01963a7e-5b2c-7def-8123-456789abcdef")
        assert error(await admin.ask("GET", unknown)) == (404, "NOT_FOUND", "Job not found")
        finished = "Job cannot be cancelled — it has already finished"
        for body in (None, {}, {"reason": "late"}):
            answer = await admin.ask("PATCH", f"crawler/jobs/{job['id']}/cancel", body)
            assert error(answer) == (400, "VALIDATION_ERROR", finished)
        assert await ask(limit=1000) == whole, "a refused cancellation is not logged"


async def test_logs_stay_when_their_source_is_deleted(working: Stage, site: SiteHandle):
    async with visiting(working) as admin:
        body = {"name": "Own", "slug": "own", "baseurl": "https://own.example"}
        source = data(await admin.ask("POST", "crawler/sources", body), 201)
        job = await ended(admin, await admin.job(source))
        assert job["status"] == "failed"
        lines = await _finished(admin, job)
        assert lines[-1]["level"] == "error"
        assert lines[-1]["message"] == f"Job failed: {job['lasterror']}"
        assert f"Job cannot start: {job['lasterror']}" in [line["message"] for line in lines]
        assert (await admin.ask("DELETE", f"crawler/sources/{source['id']}")).status_code == 204
        assert error(await admin.ask("GET", f"crawler/jobs/{job['id']}/logs"))[0] == 404
        peek = Peek(working.settings.database)
        rows = await peek.rows(
            "SELECT e.number FROM monthly_entries e JOIN logs l ON l.run_id = e.run_id"
            f" WHERE l.monthly_uid = '{job['id']}' ORDER BY e.number"
        )
        await peek.close()
        assert [number for (number,) in rows] == list(range(1, len(lines) + 1))
