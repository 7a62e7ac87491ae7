"""Texts of forms that no database, index or header accepts are refused in words, on both engines."""

import httpx
import pytest

from longline.model.proxies.proxy import ProxyFilter
from tests.console.hostile import make_things
from tests.console.visiting import csrf, text_of
from tests.surfaces.intervals.platform import Door

SOURCE = {"name": "Kelp", "base_url": "https://kelp.example/"}


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"name": "é" * 4000}, "A name has at most 500 characters."),
        ({"name": "a\0b"}, "name must be a text without NUL"),
        ({"user_agent": "kelp\r\nX-Injected: 1"}, "A user agent is one line of ASCII text"),
        ({"user_agent": "a" * 256}, "of at most 255 characters"),
        ({"user_agent": "kélp"}, "A user agent is one line of ASCII text"),
        ({"config": '{"a": 1' + "0" * 4000 + "}"}, "config is too long"),
        ({"proxy_pools": "nowhere"}, "nowhere"),
        ({"delay": "nan"}, "Enter a number from 0 to 86,400."),
        ({"concurrency": "1.5"}, "Enter a whole number from 1 to 100."),
    ],
)
async def test_a_source_with_such_a_text_is_refused(
    door: Door, visitor: httpx.AsyncClient, changed: dict[str, str], told: str
):
    token = csrf((await visitor.get("/console/sources/new")).text)
    answer = await visitor.post("/console/sources", data={"csrf": token} | SOURCE | changed)
    assert (answer.status_code, told in text_of(answer.text)) == (400, True), text_of(answer.text)[:3000]
    assert await door.platform.records.sources.find(limit=5) == []


@pytest.mark.parametrize("path", ["bots", "keys", "proxies", "tasks/move", "dead-letters/replay", "preferences"])
async def test_no_form_takes_a_nul(door: Door, visitor: httpx.AsyncClient, path: str):
    things = await make_things(door.platform)
    token = csrf((await visitor.get("/console/sources/new")).text)
    form = {"name": "a\0", "uri": "http://a\0.example:1", "tasks": f"{things.task}", "move": "restart", "host": "\0"}
    form |= {"reason": "\0", "time_zone": "\0", "door": "intervals", "csrf": token}
    answer = await visitor.post(f"/console/{path}", data=form)
    assert answer.status_code == 400, text_of(answer.text)[:2000]
    assert len(await door.platform.records.proxies.find(ProxyFilter(), limit=5)) == 1
