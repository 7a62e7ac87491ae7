"""The overview over HTTP: figures of every service, and one reading for all pages that are open."""

import asyncio
import json
import re
from collections.abc import Iterable
from typing import Any

import httpx
import pytest

from longline.console.live_updates import LivePages, TooManyLivePages
from tests.console.scene import make_scene
from tests.console.visiting import log_in, text_of
from tests.surfaces.intervals.platform import Door


async def parts(client: httpx.AsyncClient, path: str) -> dict[str, Any]:
    """Return the first parts that a stream sends."""
    async with client.stream("GET", path) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        name = ""
        async for line in answer.aiter_lines():
            name = line.removeprefix("event: ") if line.startswith("event: ") else name
            if name == "parts" and line.startswith("data: "):
                found: dict[str, Any] = json.loads(line.removeprefix("data: "))
                return found
    raise AssertionError("the stream ended")


async def test_the_overview_shows_the_figures_of_the_services(door: Door, visitor: httpx.AsyncClient):
    await make_scene(door.platform.records)
    page = await visitor.get("/console")
    assert page.status_code == 200
    said = text_of(page.text)
    for expected in (
        "600 in 1 h",
        "48.0 MB in 1 h",
        "60 of 660",
        "Tidewater books",
        "http_429",
        "Running runs 2",
    ):
        assert expected in said, (expected, said)
    assert 'href="/console/runs?state=running"' in page.text
    engines = page.text.partition('id="engines"')[2].partition("</ul>")[0]
    cut = re.findall(r'<span class="cut soft"(?: title="([^"]*)")?>([^<]*)<', engines)
    assert cut
    assert all(title == text for title, text in cut), "a text that does not fit can be read whole"
    for window in ("15m", "6h", "2d", "90d", "nonsense"):
        assert (await visitor.get(f"/console?window={window}")).status_code == 200


async def test_an_empty_platform_says_so(visitor: httpx.AsyncClient):
    said = text_of((await visitor.get("/console")).text)
    assert "No run is running." in said
    assert "No request has failed in this window." in said
    assert "No source has failed in its last run." in said


async def test_the_stream_brings_the_parts_of_the_page(door: Door, visitor: httpx.AsyncClient):
    await make_scene(door.platform.records)
    found = await asyncio.wait_for(parts(visitor, "/console/stream"), 60)
    page = (await visitor.get("/console")).text
    assert set(found) == set(re.findall(r'data-part="([^"]+)"', page)), "every part has its place on the page"
    assert "Tidewater books" in found["running"]
    async with log_in(door, "member") as member:
        assert (await parts(member, "/console/stream?window=15m"))["queue"]


async def in_force(sessions: Iterable[str]) -> set[str]:
    """Return all sessions."""
    return set(sessions)


async def test_pages_of_one_kind_are_read_once_for_all():
    reads = 0

    async def read() -> dict[str, str]:
        nonlocal reads
        reads += 1
        return {"a": str(reads), "b": "same"}

    live = LivePages(in_force, max_pages=20, tick_seconds=0.05)
    streams = [live.topic("overview", read) for _ in range(20)]
    first = [json.loads((await anext(stream)).split(b"data: ")[1]) for stream in streams]
    assert all(found["b"] == "same" for found in first)
    later = [json.loads((await anext(stream)).split(b"data: ")[1]) for stream in streams]
    assert all(set(found) == {"a"} for found in later), "only the part that has changed"
    assert reads < 20
    for stream in streams:
        await stream.aclose()  # type: ignore[attr-defined]  # it is a generator
    assert not live._topics


async def test_pages_have_places_of_their_own_and_no_more():
    live = LivePages(in_force, max_pages=2)
    taken = [live.stream([], "a") for _ in range(2)]
    assert live.open_pages == 2
    with pytest.raises(TooManyLivePages):
        live.stream([], "a")
    taken[0]._leave()
    live.stream([], "a")
