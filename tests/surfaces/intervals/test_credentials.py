"""User names and passwords in URLs: refused at every entrance, and shown nowhere."""

import logging
from typing import Any

import httpx
import msgspec
import pytest

from longline.model.schedules.schedule import NewSchedule
from longline.model.sources.source import NewSource
from longline.settings import Settings
from tests.surfaces.intervals.platform import Door, open_door
from tests.surfaces.intervals.test_frontier import busy, rests  # noqa: F401 - a fixture is found by its name
from tests.web import running_site
from tests.web.wire import Answer

PASSWORD = "hunter2"
URL = f"https://anna:{PASSWORD}@news.example/feed.xml"

GIVEN: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("POST", "/api/v1/sources", {"name": "n", "url": URL}),
    ("POST", "/api/v1/sources", {"name": "n", "url": f"https://{PASSWORD}@news.example/"}),
    ("POST", "/api/v1/sources", {"name": "n", "url": "https://news.example/", "feed_url": URL}),
    ("POST", "/api/v1/sources", {"name": "n", "url": "https://news.example/", "sitemap_url": URL}),
    ("PUT", "/api/v1/sources/{source}", {"url": URL}),
    ("PUT", "/api/v1/sources/{source}", {"feed_url": URL}),
    ("PUT", "/api/v1/sources/{source}", {"sitemap_url": URL}),
    ("POST", "/api/v1/jobs", {"url": URL, "source_id": "s"}),
    ("PUT", "/api/v1/jobs/{job}", {"url": URL}),
    ("POST", "/api/v1/frontier", {"url": URL, "source_id": "s"}),
    ("POST", "/api/v1/frontier/submit", {"url": URL, "source_id": "s", "origin": "feed"}),
    ("POST", "/api/v1/sources/test-crawl", {"url": URL}),
    ("POST", "/api/v1/sources/fetch-metadata", {"url": URL}),
    ("POST", "/api/internal/v1/fetch", {"url": URL}),
    ("POST", "/api/crawl/admin/policies/", {"url": URL}),
    ("POST", "/api/crawl/admin/jobs/", {"url": URL}),
    ("POST", "/api/crawl/admin/urls/", {"urls": [URL]}),
)
SHOWN = ("sources", "sources/{source}", "jobs", "jobs/{job}", "frontier", "discovered-links")


async def texts(door: Door) -> str:
    """Return all stored values as text."""
    names = "SELECT string_agg(tablename, ',') FROM pg_tables WHERE schemaname = 'public'"
    if door.platform.embedded:
        names = "SELECT group_concat(name, ',') FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    return "\n".join([await rows(door, table) for table in str(await door.peek(names)).split(",")])


async def rows(door: Door, table: str) -> str:
    if not door.platform.embedded:
        return str(await door.peek(f"SELECT string_agg(t::text, ' ') FROM {table} t"))
    columns = await door.peek(f"SELECT group_concat('quote(' || name || ')', '||') FROM pragma_table_info('{table}')")
    return str(await door.peek(f"SELECT group_concat({columns}) FROM {table}"))


async def test_a_url_with_a_password_is_refused_everywhere_and_told_nowhere(
    settings: Settings, caplog: pytest.LogCaptureFixture
):
    caplog.set_level(logging.DEBUG)
    async with open_door(msgspec.structs.replace(settings, internal_secret="i" * 32)) as door, door.client() as client:
        client.headers["x-internal-secret"] = "i" * 32
        ids = await made(client)
        for method, path, body in GIVEN:
            answer = await client.request(method, path.format(**ids), json=body)
            assert answer.status_code == 400, (method, path, body, answer.text)
            assert PASSWORD not in answer.text, (path, answer.text)
        for path in SHOWN:
            assert PASSWORD not in (await client.get(f"/api/v1/{path.format(**ids)}")).text
        assert "news.example" in await texts(door), "the dump has the stored rows"
        assert PASSWORD not in await texts(door)
    told = [f"{record.getMessage()} {record.__dict__}" for record in caplog.records]
    assert not [line for line in told if PASSWORD in line and "httpx" not in line]


async def made(client: httpx.AsyncClient) -> dict[str, str]:
    source = await client.post("/api/v1/sources", json={"name": "news", "url": "https://news.example/"})
    job = await client.post("/api/v1/jobs", json={"url": "https://news.example/", "source_id": "s"})
    return {"source": source.json()["id"], "job": job.json()["id"]}


async def test_urls_stored_before_are_shown_without_their_password(door: Door):
    records = door.platform.records
    crawl = f'{{"sitemap_url":"{URL}"}}'
    source = await records.sources.make(NewSource("old", URL, crawl=crawl, feed_url=URL))
    job = await records.schedules.add(NewSchedule("01900000-0000-7000-8000-000000000001", URL))
    async with httpx.AsyncClient(base_url=door.address, verify=False) as stranger:
        listed = await stranger.get("/api/v1/sources")
        assert (listed.status_code, PASSWORD in listed.text, "anna" in listed.text) == (200, False, False)
        assert listed.json()["sources"][0]["url"] == "https://news.example/feed.xml"
    async with door.client() as client:
        for path in (f"sources/{source.public_id}", "jobs", f"jobs/{job.uid}"):
            answer = await client.get(f"/api/v1/{path}")
            assert (answer.status_code, PASSWORD in answer.text) == (200, False), path


@pytest.mark.parametrize("migrated_url", ["sqlite"], indirect=True)
async def test_a_redirect_to_a_url_with_a_password_is_not_followed(busy: Door):  # noqa: F811 - the fixture
    with running_site(pages=1) as site:
        host = site.url.partition("//")[2]
        there = f"http://anna:{PASSWORD}@{host}page/0"
        site.site.extra["/away"] = Answer(302, headers=(("Location", there),))
        async with busy.client() as client:
            row = await rests(client, f"{site.url}away")
            assert (row["status"], row["last_error"]) == (
                "dead",
                "redirected to a URL that is refused (credentials)",
            )
        assert PASSWORD not in await texts(busy)
