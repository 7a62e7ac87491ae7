"""The journey of the catalogue over TLS: a source, its forty comics, one comic, its log, cancellation and health."""

import asyncio
import ssl
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import trustme

from tests.drivers.records.peek import Peek
from tests.surfaces.catalogue.crawling import GENERIC, SELECTORS, comic_pages, ended, root, working_stage
from tests.surfaces.catalogue.running import Admin, Json, data, error, visiting
from tests.surfaces.products.running import Stage
from tests.web import SiteHandle, running_site
from tests.web.wire import Answer

CHAPTERS = 50
DUPLICATE = (409, "CONFLICT", "A job for this comic and source is already queued or running.")


@pytest.fixture
def site(tmp_path: Path) -> Iterator[SiteHandle]:
    """A site by https with a self-signed issuer in a file."""
    issuer, tls = trustme.CA(), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    issuer.issue_cert("127.0.0.1").configure_cert(tls)
    issuer.cert_pem.write_to_path(tmp_path / "issuer.pem")
    with running_site(0, tls=tls) as found:
        pages = comic_pages() | {f"/read/{n}": f"<p>page {n}" for n in range(1, CHAPTERS + 1)}
        pages["/comic/7"] = "<ul class=chapters>" + "".join(
            f"<li class=chapter><b>{n}</b><a href=/read/{n}>Chapter {n}</a></li>" for n in range(1, CHAPTERS + 1)
        )
        found.site.extra.update({path: f"<title>x</title>{text}".encode() for path, text in pages.items()})
        yield found


@pytest.fixture(params=["sqlite", "postgres"])
def working(request: pytest.FixtureRequest, site: SiteHandle, tmp_path: Path) -> Iterator[Stage]:
    """A server with workers that trusts the issuer of the site, on each engine."""
    assert site.url.startswith("https://")
    with working_stage(request, tmp_path / "data", request.param, ca_file=str(tmp_path / "issuer.pem")) as found:
        yield found


async def _comic(admin: Admin, title: str) -> Json:
    found, _ = await admin.page("comics", q=title)
    [comic] = [each for each in found if each["title"] == title]
    return comic


async def _follow(admin: Admin, job: Json) -> list[Json]:
    """Return the lines of a job, polled by cursors from its start to its last line."""
    seen: list[Json] = []
    cursor: Json = {}
    async with asyncio.timeout(90):
        while not (seen and "status" in (seen[-1]["meta"] or {})):
            found, meta = await admin.page(f"crawler/jobs/{job['id']}/logs", limit=5, **cursor)
            seen += found
            cursor = {"since": meta["nextcursor"]} if meta["nextcursor"] else {}
            await asyncio.sleep(0.25)
    return seen


async def _rows(stage: Stage, job: Json) -> list[tuple[int, str]]:
    """Return the numbers and levels of the lines of a job in the database."""
    peek = Peek(stage.settings.database)
    try:
        return await peek.rows(
            "SELECT e.number, e.level FROM monthly_entries e JOIN runs u ON u.id = e.run_id"
            f" WHERE u.uid = '{job['id']}' ORDER BY e.number"
        )
    finally:
        await peek.close()


@pytest.mark.slow(reason="crawls at a pace, and waits for what must not happen")
async def test_the_journey_over_tls(working: Stage, site: SiteHandle):
    async with visiting(working) as admin:
        config = SELECTORS | {"ratelimit": 12}
        body = {"name": "Site", "slug": "site", "baseurl": f"{root(site)}/", "extensionid": GENERIC, "config": config}
        source = data(await admin.ask("POST", "crawler/sources", body), 201)
        done = await ended(admin, await admin.job(source))
        assert (done["status"], done["lasterror"], done["pagescount"]) == ("done", None, 4)
        assert (await admin.page("comics"))[1]["total"] == 40
        comic = await _comic(admin, "Comic 7")
        await _one_comic(working, admin, source, comic)
        await _cancelled(admin, site, source, comic)
        await _failing(admin, site, source)


async def _one_comic(stage: Stage, admin: Admin, source: Json, comic: Json) -> None:
    """Run a targeted job for chapters and pages, follow its log while it runs, and check that a second is refused."""
    job = await admin.job(source, comicid=comic["id"])
    following = asyncio.create_task(_follow(admin, job))
    second = await admin.ask("POST", "crawler/jobs", {"sourceid": source["id"], "comicid": comic["id"]})
    assert error(second) == DUPLICATE
    async with asyncio.timeout(30):
        while (shown := await admin.get(f"crawler/jobs/{job['id']}"))["pagescount"] < 3:  # noqa: ASYNC110 - over HTTP
            await asyncio.sleep(0.3)
    assert (shown["status"], shown["finishedat"]) == ("running", None), "the count is true while it runs"
    second = await admin.ask("POST", "crawler/jobs", {"sourceid": source["id"], "comicid": comic["id"]})
    assert error(second) == DUPLICATE
    seen = await following
    done = await ended(admin, job)
    assert (done["status"], done["pagescount"], done["errorcount"]) == ("done", CHAPTERS + 1, 0)
    stored = await _rows(stage, job)
    assert [number for number, _ in stored] == list(range(1, len(seen) + 1)), "each line once"
    assert [line["level"] for line in seen] == [level for _, level in stored]
    assert len({line["id"] for line in seen}) == len(seen)
    assert (seen[0]["message"], seen[-1]["message"]) == (
        f"Starting targeted crawl for comic {comic['id']}",
        "Job completed successfully",
    )
    [mapping] = await admin.get(f"comics/{comic['id']}/sources")
    assert mapping["lastcrawlat"] is not None


async def _cancelled(admin: Admin, site: SiteHandle, source: Json, comic: Json) -> None:
    """Cancel a running job, and check that it sends no request a second later."""
    before = len(site.requests)
    job = await admin.job(source, comicid=comic["id"])
    async with asyncio.timeout(30):
        while len(site.requests) < before + 5:  # noqa: ASYNC110 - the site is in another thread
            await asyncio.sleep(0.02)
    data(await admin.ask("PATCH", f"crawler/jobs/{job['id']}/cancel", {"reason": "enough"}))
    at = time.monotonic()
    await asyncio.sleep(2.5)
    assert not [visit for visit in site.requests if visit.time > at + 1]
    assert len(site.requests) - before < CHAPTERS
    assert (await admin.get(f"crawler/sources/{source['id']}"))["consecutivefails"] == 0


async def _failing(admin: Admin, site: SiteHandle, source: Json) -> None:
    """Fail five jobs, which disables the source; enable it, which resets the count; a sixth failure changes nothing."""
    path = f"crawler/sources/{source['id']}"
    site.site.extra["/"] = Answer(404, b"gone")
    for number in range(1, 6):
        failed = await ended(admin, await admin.job(source))
        assert failed["status"] == "failed"
        assert failed["lasterror"]
        for look in (path, f"{path}/health"):
            found = await admin.get(look)
            assert (found["consecutivefails"], found["isenabled"]) == (number, number < 5)
    refused = await admin.ask("POST", "crawler/jobs", {"sourceid": source["id"]})
    assert error(refused)[2] == "Source is disabled. Enable the source before triggering a job."
    data(await admin.ask("PATCH", f"{path}/enable", {"isenabled": True}))
    assert (await admin.get(path))["consecutivefails"] == 0
    assert (await ended(admin, await admin.job(source)))["status"] == "failed"
    found = await admin.get(path)
    assert (found["consecutivefails"], found["isenabled"]) == (1, True)
    [disabled], _ = await admin.page("auditlog", entityid=source["id"], action="source.autodisable")
    assert disabled["actor"] is None
