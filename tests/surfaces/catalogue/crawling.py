"""A site of comics on loopback, a server with workers for each engine, and sources on the site."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.servers import PostgresServer
from tests.surfaces.catalogue.running import Admin, Json, WorkingStage, data
from tests.web import SiteHandle

SELECTORS = {
    "selectors": {
        "series": {"container": "li.comic", "id": "a@data-id", "title": "a", "url": "a@href", "cover": "img@src"},
        "list": {"container": "nav.pages"},
        "chapter": {"container": "li.chapter", "number": "b", "language": "i", "title": "a"},
        "pages": {"container": "ul.chapters"},
    }
}
ENDED = {"done", "failed", "cancelled"}
GENERIC = "longline.extension.selectors"


def _list(number: int, comics: int, last: int) -> str:
    first = (number - 1) * comics
    entries = "".join(
        f"<li class=comic><a data-id=c{n} href=/comic/{n}>Comic {n}</a><img src=/cover/{n}.jpg></li>"
        for n in range(first, first + comics)
    )
    more = f"<a href=/list/{number + 1}>next</a>" if number < last else ""
    return f"<ul>{entries}</ul><nav class=pages>{more}</nav>"


def comic_pages() -> dict[str, str]:
    """Return forty comics on four lists, and one comic with three chapters."""
    found = {f"/list/{n}": _list(n, 10, 4) for n in range(1, 5)} | {"/": _list(1, 10, 4)}
    found["/comic/7"] = "<ul class=chapters>" + "".join(
        f"<li class=chapter><b>{n}</b><i>en</i><a href=/read/{n}>Chapter {n}</a></li>" for n in (1, 2, 3)
    )
    return found | {f"/read/{n}": f"<p>page {n}" for n in (1, 2, 3)}


def root(site: SiteHandle) -> str:
    """Return the address of a site without its last slash."""
    return site.url.rstrip("/")


@contextmanager
def working_stage(request: pytest.FixtureRequest, folder: Path, engine: str, **more: Any) -> Iterator[WorkingStage]:
    """Yield a server with workers on an engine."""
    settings: dict[str, Any] = {"egress_allow": ("127.0.0.0/8",), "delay": 0.0} | more
    if engine == "sqlite":
        found = WorkingStage(folder, **settings)
        yield found
        found.close()
        return
    server: PostgresServer = request.getfixturevalue("postgres_server")
    with server.fresh_database() as url:
        found = WorkingStage(folder, url, **settings)
        yield found
        found.close()


@asynccontextmanager
async def source_on(admin: Admin, site: SiteHandle, extension: str, config: Json) -> AsyncIterator[Json]:
    """Yield a source on the site: made at another API, for a base URL by http, and given an extension here."""
    answer = await admin.client.post(
        "/api/v1/sources", json={"name": "site", "url": f"{root(site)}/", "enabled": False}
    )
    assert answer.status_code == 201, answer.text
    [found], _ = await admin.page("crawler/sources")
    changes = {"extensionid": extension, "config": config, "isenabled": True}
    yield data(await admin.ask("PATCH", f"crawler/sources/{found['id']}", changes))


async def ended(admin: Admin, job: Json) -> Json:
    """Wait until a job has ended, and return it."""
    async with asyncio.timeout(60):
        while (found := await admin.get(f"crawler/jobs/{job['id']}"))["status"] not in ENDED:  # noqa: ASYNC110 - over HTTP
            await asyncio.sleep(0.1)
    return dict(found)
