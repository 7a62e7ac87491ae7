"""Crawls of the catalogue on a site on loopback: discovery, targeted jobs, health, and extensions that fail."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.surfaces.catalogue.crawling import GENERIC, SELECTORS, comic_pages, ended, root, source_on, working_stage
from tests.surfaces.catalogue.running import data, visiting
from tests.surfaces.products.running import Stage
from tests.web import SiteHandle, running_site

BROKEN = """
from longline.plugins import extension


@extension("com.example.broken")
class Broken:
    def discover(page):
        yield 1 / 0

    def crawl(page):
        yield from ()
"""


@pytest.fixture
def site() -> Iterator[SiteHandle]:
    """A site with a catalogue of forty comics."""
    with running_site(0) as found:
        found.site.extra.update({path: f"<title>x</title>{text}".encode() for path, text in comic_pages().items()})
        yield found


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    file = tmp_path / "broken.py"
    file.write_text(BROKEN)
    return file


@pytest.fixture(params=["sqlite", "postgres"])
def working(request: pytest.FixtureRequest, tmp_path: Path, broken: Path) -> Iterator[Stage]:
    """A server with workers, on each engine."""
    with working_stage(request, tmp_path, request.param, parsers=(str(broken),)) as found:
        yield found


async def test_a_catalogue_is_discovered_and_a_comic_crawled(working: Stage, site: SiteHandle):
    async with visiting(working) as admin:
        config = SELECTORS | {"ratelimit": 1000}
        async with source_on(admin, site, GENERIC, config) as source:
            job = await ended(admin, await admin.job(source))
            assert (job["status"], job["lasterror"]) == ("done", None)
            assert job["pagescount"] == 4  # the start page and three further lists
            comics, _ = await admin.page("comics", q="Comic 7")
            [comic] = [each for each in comics if each["title"] == "Comic 7"]
            [mapping] = await admin.get(f"comics/{comic['id']}/sources")
            assert (mapping["sourceid_ext"], mapping["sourceurl"]) == ("c7", f"{root(site)}/comic/7")
            assert comic["coverurl"] == f"{root(site)}/cover/7.jpg"
            _, meta = await admin.page("comics")
            assert meta["total"] == 40
            again = await ended(admin, await admin.job(source))
            assert again["status"] == "done"
            _, meta = await admin.page("comics")
            assert meta["total"] == 40
            targeted = await ended(admin, await admin.job(source, comicid=comic["id"]))
            assert (targeted["status"], targeted["pagescount"]) == ("done", 4)
            [mapping] = await admin.get(f"comics/{comic['id']}/sources")
            assert mapping["lastcrawlat"] is not None
            health = await admin.get(f"crawler/sources/{source['id']}/health")
            assert (health["consecutivefails"], health["jobs"]["done"]) == (0, 3)
            assert health["lastsucceededat"] is not None


async def test_acceptance_04_failures_in_a_row_disable_asource_on(working: Stage, site: SiteHandle):
    async with visiting(working) as admin, source_on(admin, site, "com.example.missing", {}) as source:
        path = f"crawler/sources/{source['id']}"
        for number in range(1, 6):
            job = await ended(admin, await admin.job(source))
            assert job["status"] == "failed"
            assert "com.example.missing" in job["lasterror"]
            found = await admin.get(path)
            assert (found["consecutivefails"], found["isenabled"]) == (number, number < 5)
        entries, _ = await admin.page("auditlog", action="source.autodisable")
        assert entries[0]["actor"] is None
        assert entries[0]["entityid"] == str(source["id"])
        data(await admin.ask("PATCH", f"{path}/enable", {"isenabled": True}))
        assert (await admin.get(path))["consecutivefails"] == 0
        await ended(admin, await admin.job(source))
        found = await admin.get(path)
        assert (found["consecutivefails"], found["isenabled"]) == (1, True)


async def test_a_broken_extension_fails_its_job_with_file_and_line(working: Stage, site: SiteHandle):
    async with visiting(working) as admin, source_on(admin, site, "com.example.broken", {}) as source:
        job = await ended(admin, await admin.job(source))
        assert job["status"] == "failed"
        assert "broken.py" in job["lasterror"]
        assert "ZeroDivisionError" in job["lasterror"]
