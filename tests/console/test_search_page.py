"""The search box over HTTP."""

import httpx

from tests.console.scene import make_scene
from tests.console.visiting import text_of
from tests.surfaces.intervals.platform import Door


async def test_a_number_a_name_and_nothing_are_found(door: Door, visitor: httpx.AsyncClient):
    run = await make_scene(door.platform.records)
    by_number = (await visitor.get(f"/console/search?q={run.id}")).text
    assert f'href="/console/runs/{run.id}"' in by_number
    by_name = text_of((await visitor.get("/console/search?q=tidewater")).text)
    assert "Sources Tidewater books" in by_name
    assert "Nothing fits" in text_of((await visitor.get("/console/search?q=zzzz")).text)
    assert "Type a text" in text_of((await visitor.get("/console/search")).text)


async def test_hostile_texts_are_texts(visitor: httpx.AsyncClient):
    for text in ('<script>alert(1)</script>"', "-", '"', "a" * 499, "‮" * 20, "%", "\\"):
        page = await visitor.get("/console/search", params={"q": text})
        assert page.status_code == 200
        assert "<script>alert" not in page.text
