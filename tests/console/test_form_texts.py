"""Texts of forms that no database, index or header accepts are refused with an explanation, on both engines."""

import re
from html import unescape

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
        ({"config": '{"a": 1' + "0" * 4000 + "}"}, "Config is too long"),
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


@pytest.mark.parametrize(
    ("path", "form", "told"),
    [
        ("bots", {"name": "", "title": "Prices of kelp"}, "A bot needs a name"),
        ("keys", {"name": "Import of kelp", "door": "nowhere", "role": "moderator"}, "The door of a key is one of"),
        ("bots", {"name": "my bot", "title": "Prices of kelp"}, "A bot needs a name of letters, digits, . _ and -."),
        ("bots", {"name": ".", "title": "Prices of kelp"}, "A bot needs a name of letters, digits, . _ and -."),
        ("bots", {"name": "..", "title": "Prices of kelp"}, "A bot needs a name of letters, digits, . _ and -."),
        ("bots", {"name": "b" * 101, "title": "Prices of kelp"}, "Name is too long"),
        ("bots", {"name": "kelp", "title": "p" * 201}, "Title is too long"),
        ("keys", {"name": "k" * 300, "door": "intervals", "role": "moderator"}, "must have 1 to 100 characters"),
        ("proxies", {"uri": "kelp.example"}, "Not a proxy: the URI has no scheme"),
        ("proxies", {"uri": "http://" + "p" * 2000}, "The URI is too long"),
        ("schedules", {"every": "often", "unit": "days", "url": "https://kelp.example/all"}, "is a whole number"),
        ("schedules", {"every": "1" * 11, "unit": "days", "url": "https://kelp.example/all"}, "more than ten years"),
        ("schedules", {"every": "1" * 30, "unit": "days", "url": "https://kelp.example/all"}, "is a whole number"),
        ("schedules", {"every": "3", "unit": "days", "url": "https://kelp.example/" + "a" * 4000}, "URL is too long"),
        ("sources", SOURCE | {"config": '{"kelp": "' + "k" * 4000 + '"}', "delay": "2"}, "Config is too long"),
        ("sources", {"name": "k" * 4001, "base_url": "kelp"}, "This is no URL: it has no scheme; write it out"),
        ("sources", SOURCE | {"delay": "1_000"}, "Enter a number from 0 to 86,400."),
        ("sources", SOURCE | {"delay": "١٢٣"}, "Enter a number from 0 to 86,400."),
        ("sources", SOURCE | {"delay": "NaN"}, "Enter a number from 0 to 86,400."),
        ("sources", SOURCE | {"concurrency": "-1"}, "Enter a whole number from 1 to 100."),
        ("sources", SOURCE | {"max_depth": "-2"}, "Enter a whole number from -1 to 1,000."),
        ("sources", SOURCE | {"max_depth": "٣"}, "Enter a whole number from -1 to 1,000."),
    ],
)
async def test_a_refused_form_keeps_its_input(
    door: Door, visitor: httpx.AsyncClient, path: str, form: dict[str, str], told: str
):
    things = await make_things(door.platform)
    token = csrf((await visitor.get("/console/sources/new")).text)
    answer = await visitor.post(f"/console/{path}", data={"csrf": token, "source": str(things.source)} | form)
    assert (answer.status_code, told in text_of(answer.text)) == (400, True), text_of(answer.text)[:2000]
    kept = set(re.findall(r'value="([^"]*)"|<option[^>]* selected>(\w+)<|>([^<]*)</textarea>', unescape(answer.text)))
    assert {value for name, value in form.items() if value and name != "door"} <= {"".join(one) for one in kept}


@pytest.mark.parametrize(
    "path",
    ["runs", "sources", "schedules", "tasks", "hosts", "items", "catalogue", "dead-letters", "audit"],
)
async def test_a_search_takes_as_long_a_text_as_its_field(visitor: httpx.AsyncClient, path: str):
    shown = (await visitor.get(f"/console/{path}")).text
    fields = re.findall(r'<input id="\w+" name="(\w+)" type="search" maxlength="([0-9]+)"', shown)
    assert len(fields) > 1, "the search of the page, and that of all pages"
    for name, most in fields:
        searched = "search" if name == "q" else path
        answer = await visitor.get(f"/console/{searched}", params={name: "k" * int(most)})
        assert f'name="{name}" type="search" maxlength="{most}" value="{"k" * int(most)}"' in answer.text
