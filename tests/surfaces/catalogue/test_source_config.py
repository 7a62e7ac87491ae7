"""The config of a source in real crawls: rate, proxy, headers, hosts, stored pages, automatic jobs, and the pause."""

import asyncio
import datetime
import itertools
import json
import sqlite3

import asyncpg
import httpx
import pytest

from tests.servers.proxies import Manners, running_proxy
from tests.surfaces.catalogue.crawling import GENERIC, SELECTORS, ended, root, source_on
from tests.surfaces.catalogue.running import Admin, Json, data, visiting, write
from tests.surfaces.catalogue.test_crawls import broken, site, working
from tests.surfaces.products.running import Stage
from tests.web import SiteHandle
from tests.web.wire import Answer

__all__ = ["broken", "site", "working"]  # fixtures

CANARY = "canary-4711"
NEVER = {"schedule": None}


async def _told(admin: Admin) -> str:
    """Return the answers of the other APIs and the audit log as one text."""
    paths = ("/api/v1/sources", "/api/admin/domains", "/api/v1/admin/auditlog", "/api/v1/admin/crawler/jobs")
    return "".join([(await admin.client.get(path)).text for path in paths])


async def _dump(stage: Stage) -> dict[str, str]:
    """Return the text of every table."""
    database = stage.settings.database
    if database.startswith("sqlite"):
        connection = sqlite3.connect(database.removeprefix("sqlite:///"), timeout=30)
        names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        found = {name: str(connection.execute(f"SELECT * FROM {name}").fetchall()) for name in names}
        connection.close()
        return found
    there = await asyncpg.connect(database)
    rows = await there.fetch("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
    found = {row[0]: str(await there.fetch(f"SELECT * FROM {row[0]}")) for row in rows}
    await there.close()
    return found


async def test_a_proxy_and_headers_of_a_source_are_its_own_and_stay_secret(working: Stage, site: SiteHandle):
    strict = Manners(username="me", password=CANARY)
    async with visiting(working) as admin:
        with running_proxy("http", strict) as proxy:
            config = SELECTORS | NEVER | {"ratelimit": 1000, "proxy": proxy.uri, "headers": {"X-Key": CANARY}}
            async with source_on(admin, site, GENERIC, config) as source:
                assert source["config"]["proxy"] == proxy.uri
                job = await ended(admin, await admin.job(source))
                assert (job["status"], job["pagescount"], job["lasterror"]) == ("done", 4, None)
                through, asked = len(proxy.passages), list(site.site.requests)
                assert through == len(asked) == 5  # robots.txt and four lists
                assert all(visit.headers.get("x-key") == CANARY for visit in asked if visit.path != "/robots.txt")
                # Another source on the same site has its own rate and proxy.
                await admin.client.post("/api/v1/sources", json={"name": "two", "url": f"{root(site)}/list/4"})
                [other] = [each for each in (await admin.page("crawler/sources"))[0] if each["name"] == "two"]
                body = {"extensionid": GENERIC, "config": SELECTORS | NEVER | {"ratelimit": 1000}}
                await admin.ask("PATCH", f"crawler/sources/{other['id']}", body)
                assert (await ended(admin, await admin.job(other)))["status"] == "done"
                assert len(proxy.passages) == through
                assert CANARY not in await _told(admin)
                logs = await admin.ask("GET", f"crawler/jobs/{job['id']}/logs", limit=1000)
                assert CANARY not in logs.text
                tables = await _dump(working)
                assert [name for name, text in tables.items() if CANARY in text] == ["sources"]
        # Without the proxy the source cannot be crawled.
        failed = await ended(admin, await admin.job(source))
        assert failed["status"] == "failed"
        assert CANARY not in failed["lasterror"]


@pytest.mark.parametrize("wrong", [{"proxy": f"me:{CANARY}@x"}, {"ratelimit": "fast"}, {"headers": {"Host": CANARY}}])
async def test_a_config_that_cannot_work_fails_the_job_without_its_secret(
    working: Stage, site: SiteHandle, wrong: Json
):
    async with visiting(working) as admin, source_on(admin, site, GENERIC, SELECTORS | NEVER) as source:
        # A config that is refused now may be there from a time before its extension was loaded.
        config = json.dumps(SELECTORS | NEVER | wrong).replace("'", "''")
        write(working, f"UPDATE sources SET extension_config = '{config}' WHERE id = {source['id']}")
        job = await ended(admin, await admin.job(source))
        assert job["status"] == "failed"
        assert next(iter(wrong)) in job["lasterror"] or "Host" in job["lasterror"]
        assert CANARY not in job["lasterror"]


async def test_a_rate_is_a_number_of_requests_a_second(working: Stage, site: SiteHandle):
    async with visiting(working) as admin:
        async with source_on(admin, site, GENERIC, SELECTORS | NEVER | {"ratelimit": 4}) as source:
            assert (await ended(admin, await admin.job(source)))["pagescount"] == 4
        times = [visit.time for visit in site.site.requests]
        assert min(later - earlier for earlier, later in itertools.pairwise(times)) > 0.2


async def test_pages_of_chapters_are_stored_as_objects(working: Stage, site: SiteHandle):
    images = {f"/img/{n}.png": bytes([n]) * 100 for n in (1, 2)}
    for path, body in images.items():
        site.site.extra[path] = Answer(body=body, content_type="image/png")
    site.site.extra["/read/1"] = b"<title>r</title><img class=p src=/img/1.png><img class=p src=/img/2.png>"
    groups = SELECTORS["selectors"] | {"pages": {"container": "ul.chapters", "image": "img.p@src"}}
    config = {"selectors": groups, "ratelimit": 1000, "storepages": True} | NEVER
    async with visiting(working) as admin, source_on(admin, site, GENERIC, config) as source:
        await ended(admin, await admin.job(source))
        [comic] = [each for each in (await admin.page("comics", q="Comic 7"))[0] if each["title"] == "Comic 7"]
        job = await ended(admin, await admin.job(source, comicid=comic["id"]))
        assert (job["status"], job["pagescount"], job["errorcount"]) == ("done", 6, 0)
        host = root(site).removeprefix("http://").replace(":", "_")
        for path, body in images.items():
            key = f"series/{comic['id']}/{host}{path}"
            assert working.call(working.platform.blobs.get(key)) == body


async def test_a_paused_queue_starts_nothing_and_acceptance_08_a_job_starts_not_before_its_time(
    working: Stage, site: SiteHandle
):
    config = SELECTORS | NEVER | {"ratelimit": 1000}
    async with visiting(working) as admin, source_on(admin, site, GENERIC, config) as source:
        data(await admin.ask("POST", "crawler/pause"))
        job = await admin.job(source)
        await asyncio.sleep(2.5)
        assert (await admin.get(f"crawler/jobs/{job['id']}"))["status"] == "queued"
        data(await admin.ask("POST", "crawler/resume"))
        assert (await ended(admin, job))["status"] == "done"
        due = working.platform.clock.now() + 3000
        later = await admin.job(source, scheduledat=f"{_iso(due)}")
        found = await ended(admin, later)
        assert found["startedat"] >= later["scheduledat"] == _iso(due)


def _iso(ms: int) -> str:
    return datetime.datetime.fromtimestamp(ms / 1000, datetime.UTC).strftime("%Y-%m-%dT%H:%M:%S.") + f"{ms % 1000:03}Z"


async def test_jobs_start_by_themselves(working: Stage, site: SiteHandle):
    schedule = {"schedule": {"targetedminutes": 100_000, "discoveryminutes": 60}}
    config = SELECTORS | schedule | {"ratelimit": 1000}
    async with visiting(working) as admin, source_on(admin, site, GENERIC, config) as source:
        write(working, f"UPDATE sources SET created_at = created_at - 3600001 WHERE id = {source['id']}")
        async with asyncio.timeout(30):
            while not (jobs := (await admin.page("crawler/jobs", triggeredby="scheduler"))[0]):  # noqa: ASYNC110 - over HTTP
                await asyncio.sleep(0.2)
        assert [(job["comicid"], job["triggeredby"], job["triggeredbyuser"]) for job in jobs] == [(None, None, None)]
        assert (await ended(admin, jobs[0]))["status"] == "done"
        write(working, "UPDATE targets SET tried_at = 0 WHERE external_id = 'c7'")
        body = {"config": config | {"schedule": {"targetedminutes": 60, "discoveryminutes": 0}}}
        await admin.ask("PATCH", f"crawler/sources/{source['id']}", body)
        async with asyncio.timeout(30):
            while len(jobs := (await admin.page("crawler/jobs", triggeredby="scheduler"))[0]) < 2:  # noqa: ASYNC110 - over HTTP
                await asyncio.sleep(0.2)
        [targeted] = [job for job in jobs if job["comicid"] is not None]
        assert targeted["comic"]["title"] == "Comic 7"
        assert (await ended(admin, targeted))["status"] == "done"


async def test_acceptance_09_a_job_cancelled_while_it_runs_stays_cancelled_and_counts_nothing(
    working: Stage, site: SiteHandle
):
    site.site.held_after = 1
    config = SELECTORS | NEVER | {"ratelimit": 1000}
    async with visiting(working) as admin, source_on(admin, site, GENERIC, config) as source:
        job = await admin.job(source)
        path = f"crawler/jobs/{job['id']}"
        async with asyncio.timeout(30):
            while (await admin.get(path))["status"] != "running":  # noqa: ASYNC110 - over HTTP
                await asyncio.sleep(0.05)
        data(await admin.ask("PATCH", f"{path}/cancel", {"reason": "enough"}))
        site.site.held_after = None
        await asyncio.sleep(1.5)
        found = await admin.get(path)
        assert found["status"] == "cancelled"
        health = await admin.get(f"crawler/sources/{source['id']}/health")
        assert (health["consecutivefails"], health["lastsucceededat"], health["lastfailedat"]) == (0, None, None)
        assert health["lastjob"]["status"] == "cancelled"


async def test_acceptance_14_the_health_shows_an_outcome_at_once(working: Stage, site: SiteHandle):
    async with visiting(working) as admin, source_on(admin, site, "com.example.missing", NEVER) as source:
        path = f"crawler/sources/{source['id']}/health"
        for number in (1, 2):
            assert (await admin.get(path))["consecutivefails"] == number - 1
            await ended(admin, await admin.job(source))
            assert (await admin.get(path))["consecutivefails"] == number


async def test_a_broken_extension_stops_nothing_else(working: Stage, site: SiteHandle):
    async with visiting(working) as admin, source_on(admin, site, "com.example.broken", NEVER) as source:
        answer: httpx.Response = await admin.client.post(
            "/api/v1/sources", json={"name": "good", "url": f"{root(site)}/list/4"}
        )
        assert answer.status_code == 201
        [good] = [each for each in (await admin.page("crawler/sources"))[0] if each["name"] == "good"]
        body = {"extensionid": GENERIC, "config": SELECTORS | NEVER | {"ratelimit": 1000}}
        await admin.ask("PATCH", f"crawler/sources/{good['id']}", body)
        first, second = await admin.job(source), await admin.job(good)
        failed, done = await ended(admin, first), await ended(admin, second)
        assert (failed["status"], done["status"]) == ("failed", "done")
        assert "broken.py, line" in failed["lasterror"] or "broken.py:" in failed["lasterror"]
