"""The time zone of a visitor: UTC by default, one's own choice at every login, and exact times in it."""

import re

import httpx
import pytest

from tests.console.scene import make_scene
from tests.console.visiting import csrf, log_in, text_of
from tests.surfaces.intervals.platform import Door

TITLE = re.compile(
    r'<time [^>]*?datetime="(\d{4}-\d\d-\d\dT\d\d):(\d\d):\d\dZ" title="\d{4}-\d\d-\d\d (\d\d):(\d\d):\d\d ([^"]+)"'
)


async def choose(client: httpx.AsyncClient, zone: str) -> httpx.Response:
    token = csrf((await client.get("/console/preferences")).text)
    return await client.post("/console/preferences", data={"csrf": token, "time_zone": zone})


async def test_times_are_utc_until_another_zone_is_chosen(door: Door, visitor: httpx.AsyncClient):
    await make_scene(door.platform.records)
    page = (await visitor.get("/console/runs")).text
    found = TITLE.search(page)
    assert found
    assert (found[1][-2:], found[2], found[5]) == (found[3], found[4], "UTC")
    assert "Times in UTC." in page
    assert (await choose(visitor, "Asia/Kolkata")).status_code == 303
    page = (await visitor.get("/console/runs")).text
    found = TITLE.search(page)
    assert found
    minutes = (int(found[3]) - int(found[1][-2:])) * 60 + int(found[4]) - int(found[2])
    assert minutes % (24 * 60) == 5 * 60 + 30
    assert found[5] == "Asia/Kolkata"
    assert "Times in Asia/Kolkata." in page
    assert 'data-zone="Asia/Kolkata"' in page


async def test_the_choice_is_kept_for_the_next_login_and_is_that_of_one_person(door: Door, visitor: httpx.AsyncClient):
    await choose(visitor, "Europe/Stockholm")
    async with log_in(door) as again, log_in(door, "member") as other:
        assert "<option selected>Europe/Stockholm</option>" in (await again.get("/console/preferences")).text
        assert "<option selected>UTC</option>" in (await other.get("/console/preferences")).text
        assert "Europe/Stockholm" in text_of((await again.get("/console/runs")).text)
        assert "Times in UTC." in (await other.get("/console/runs")).text


@pytest.mark.parametrize("zone", ["Nowhere/City", "", "../../etc/passwd", "utc"])
async def test_an_unknown_zone_is_refused(visitor: httpx.AsyncClient, zone: str):
    answer = await choose(visitor, zone)
    assert answer.status_code == 400
    assert "is no time zone" in answer.text
    assert "<option selected>UTC</option>" in (await visitor.get("/console/preferences")).text


async def heard(stream: httpx.Response) -> str:
    """Return the first message of a stream with the throughput."""
    async for line in stream.aiter_lines():
        if "throughput" in line:
            return line
    return ""


async def test_live_parts_are_in_the_zone_of_their_page(door: Door, visitor: httpx.AsyncClient):
    await choose(visitor, "Asia/Kolkata")
    path = "/console/stream?window=1h"
    async with (
        log_in(door, "member") as other,
        visitor.stream("GET", path) as first,
        other.stream("GET", path) as second,
    ):
        assert " Asia/Kolkata: " in await heard(first)
        assert " UTC: " in await heard(second)
