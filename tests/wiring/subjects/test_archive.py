"""The HTML archive of URLs that were submitted over HTTP, in a folder and on S3."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import obstore
import pytest
from obstore.store import S3Store

from longline.drivers.blobs import open_blobs
from longline.settings import Settings
from longline.wiring.subjects.archive import html_archiving
from tests.drivers.blobs.address import s3_url
from tests.surfaces.intervals.test_frontier import fetching, rests
from tests.web import running_site
from tests.web.wire import Answer


@pytest.fixture
def settings(tmp_path: Path, migrated_url: str) -> Settings:
    return Settings(data=tmp_path / "data", database=migrated_url, port=0)


@pytest.fixture(params=["folder", "s3"])
async def where(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[str]:
    if request.param == "folder":
        yield f"file://{tmp_path}/pages"
    else:
        yield s3_url(request.getfixturevalue("s3_bucket"))


async def kept(url: str) -> dict[str, bytes]:
    blobs = open_blobs(url)
    return {info.key: await blobs.get(info.key) async for info in blobs.list("live")}


async def test_15_every_html_response_is_archived_errors_included(
    settings: Settings, where: str, tmp_path: Path
) -> None:
    facts = f"file://{tmp_path}/facts"
    there = msgspec.structs.replace(settings, html_archive=where, html_facts=facts)
    with running_site(pages=1) as site:
        site.site.extra |= {"/no": Answer(404, b"<p>no</p>"), "/x": Answer(body=b"1", content_type="text/plain")}
        async with fetching(there) as door, door.client() as client:
            made = await client.post("/api/v1/sources", json={"name": "Daily News", "url": site.url})
            for path in ("", "no", "x"):
                await rests(client, f"{site.url}{path}", source_id=made.json()["id"])
    pages, told = await kept(where), await kept(facts)
    stories = {url["url"].rpartition("/")[2]: url for url in map(json.loads, told.values())}
    assert {name: story["status_code"] for name, story in stories.items()} == {"": 200, "no": 404}
    assert set(pages) == {story["object_key"] for story in stories.values()}
    assert pages[stories["no"]["object_key"]] == b"<p>no</p>"
    assert all(key.startswith("live/daily_news/") and key.endswith(".html") for key in pages)
    if where.startswith("s3:"):
        await _look_at_labels(open_blobs(where), stories["no"])


async def _look_at_labels(blobs: Any, story: dict[str, Any]) -> None:
    store: S3Store = blobs._store
    found = (await obstore.get_async(store, story["object_key"])).attributes
    assert found["Content-Type"] == "text/html; charset=utf-8"
    assert {name: found[name] for name in ("url", "source", "crawled-at", "status-code")} == {
        "url": story["url"],
        "source": "Daily News",
        "crawled-at": story["crawled_at"],
        "status-code": "404",
    }


async def test_15_the_html_archive_is_off_without_a_setting_for_its_place(settings: Settings) -> None:
    async with fetching(settings) as door, html_archiving(door.platform) as archive:
        assert archive is None
