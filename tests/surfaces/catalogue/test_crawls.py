"""Crawls of the catalogue on a site on loopback: discovery, targeted jobs, health, and extensions that fail."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.servers import PostgresServer
from tests.surfaces.catalogue.running import Admin, Json, WorkingStage, data, visiting
from tests.surfaces.products.running import Stage
from tests.web import SiteHandle, running_site

SELECTORS = {
    "selectors": {
        "series": {"container": "li.comic", "id": "a@data-id", "title": "a", "url": "a@href", "cover": "img@src"},
        "list": {"container": "nav.pages"},
        "chapter": {"container": "li.chapter", "number": "b", "language": "i", "title": "a"},
        "pages": {"container": "ul.chapters"},
    }
}
ENDED = {"done", "failed", "cancelled"}
BROKEN = """
from longline.plugins import extension


@extension("com.example.broken")
class Broken:
    def discover(page):
        yield 1 / 0

    def crawl(page):
        yield from ()
"""


def _list(number: int, comics: int, last: int) -> str:
    first = (number - 1) * comics
    entries = "".join(
        f"<li class=comic><a data-id=c{n} href=/comic/{n}>Comic {n}</a><img src=/cover/{n}.jpg></li>"
        for n in range(first, first + comics)
    )
    more = f"<a href=/list/{number + 1}>next</a>" if number < last else ""
    return f"<ul>{entries}</ul><nav class=pages>{more}</nav>"


def _pages() -> dict[str, str]:
    found = {f"/list/{n}": _list(n, 10, 4) for n in range(1, 5)} | {"/": _list(1, 10, 4)}
    found["/comic/7"] = "<ul class=chapters>" + "".join(
        f"<li class=chapter><b>{n}</b><i>en</i><a href=/read/{n}>Chapter {n}</a></li>" for n in (1, 2, 3)
    )
    return found | {f"/read/{n}": f"<p>page {n}" for n in (1, 2, 3)}


@pytest.fixture
def site() -> Iterator[SiteHandle]:
    """A site with a catalogue of forty comics."""
    with running_site(0) as found:
        found.site.extra.update({path: f"<title>x</title>{text}".encode() for path, text in _pages().items()})
        yield found


def _root(site: SiteHandle) -> str:
    return site.url.rstrip("/")


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    file = tmp_path / "broken.py"
    file.write_text(BROKEN)
    return file


@pytest.fixture(params=["sqlite", "postgres"])
def working(request: pytest.FixtureRequest, tmp_path: Path, broken: Path) -> Iterator[Stage]:
    """A server with workers, on each engine."""
    more: dict[str, Any] = {"parsers": (str(broken),), "egress_allow": ("127.0.0.0/8",), "delay": 0.0}
    if request.param == "sqlite":
        found = WorkingStage(tmp_path, **more)
        yield found
        found.close()
        return
    server: PostgresServer = request.getfixturevalue("postgres_server")
    with server.fresh_database() as url:
        found = WorkingStage(tmp_path, url, **more)
        yield found
        found.close()


@asynccontextmanager
async def _source(admin: Admin, site: SiteHandle, extension: str, config: Json) -> AsyncIterator[Json]:
    """A source on the site: made at another API, for a base URL by http, and given an extension here."""
    answer = await admin.client.post(
        "/api/v1/sources", json={"name": "site", "url": f"{_root(site)}/", "enabled": False}
    )
    assert answer.status_code == 201, answer.text
    [found], _ = await admin.page("crawler/sources")
    changes = {"extensionid": extension, "config": config, "isenabled": True}
    yield data(await admin.ask("PATCH", f"crawler/sources/{found['id']}", changes))


async def _ended(admin: Admin, job: Json) -> Json:
    async with asyncio.timeout(60):
        while (found := await admin.get(f"crawler/jobs/{job['id']}"))["status"] not in ENDED:  # noqa: ASYNC110 - over HTTP
            await asyncio.sleep(0.1)
    return dict(found)


async def test_a_catalogue_is_discovered_and_a_comic_crawled(working: Stage, site: SiteHandle):
    async with visiting(working) as admin:
        config = SELECTORS | {"ratelimit": 1000}
        async with _source(admin, site, "longline.extension.selectors", config) as source:
            job = await _ended(admin, await admin.job(source))
            assert (job["status"], job["lasterror"]) == ("done", None)
            assert job["pagescount"] == 4  # the start page and three further lists
            comics, _ = await admin.page("comics", q="Comic 7")
            [comic] = [each for each in comics if each["title"] == "Comic 7"]
            [mapping] = await admin.get(f"comics/{comic['id']}/sources")
            assert (mapping["sourceid_ext"], mapping["sourceurl"]) == ("c7", f"{_root(site)}/comic/7")
            assert comic["coverurl"] == f"{_root(site)}/cover/7.jpg"
            _, meta = await admin.page("comics")
            assert meta["total"] == 40
            again = await _ended(admin, await admin.job(source))
            assert again["status"] == "done"
            _, meta = await admin.page("comics")
            assert meta["total"] == 40
            targeted = await _ended(admin, await admin.job(source, comicid=comic["id"]))
            assert (targeted["status"], targeted["pagescount"]) == ("done", 4)
            [mapping] = await admin.get(f"comics/{comic['id']}/sources")
            assert mapping["lastcrawlat"] is not None
            health = await admin.get(f"crawler/sources/{source['id']}/health")
            assert (health["consecutivefails"], health["jobs"]["done"]) == (0, 3)
            assert health["lastsucceededat"] is not None


async def test_acceptance_04_failures_in_a_row_disable_a_source(working: Stage, site: SiteHandle):
    async with visiting(working) as admin, _source(admin, site, "com.example.missing", {}) as source:
        path = f"crawler/sources/{source['id']}"
        for number in range(1, 6):
            job = await _ended(admin, await admin.job(source))
            assert job["status"] == "failed"
            assert "com.example.missing" in job["lasterror"]
            found = await admin.get(path)
            assert (found["consecutivefails"], found["isenabled"]) == (number, number < 5)
        entries, _ = await admin.page("auditlog", action="source.autodisable")
        assert entries[0]["actor"] is None
        assert entries[0]["entityid"] == str(source["id"])
        data(await admin.ask("PATCH", f"{path}/enable", {"isenabled": True}))
        assert (await admin.get(path))["consecutivefails"] == 0
        await _ended(admin, await admin.job(source))
        found = await admin.get(path)
        assert (found["consecutivefails"], found["isenabled"]) == (1, True)


async def test_a_broken_extension_fails_its_job_with_file_and_line(working: Stage, site: SiteHandle):
    async with visiting(working) as admin, _source(admin, site, "com.example.broken", {}) as source:
        job = await _ended(admin, await admin.job(source))
        assert job["status"] == "failed"
        assert "broken.py" in job["lasterror"]
        assert "ZeroDivisionError" in job["lasterror"]
