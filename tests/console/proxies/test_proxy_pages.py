"""Pages of proxies over HTTP."""

import httpx

from longline.model.sources.source import NewSource
from tests.console.visiting import csrf, text_of
from tests.surfaces.intervals.platform import Door


async def test_an_ipv6_address_stands_in_brackets(door: Door, visitor: httpx.AsyncClient):
    source = await door.platform.records.sources.add(NewSource("Tidewater books", "https://a.example/"))
    token = csrf((await visitor.get("/console/proxies")).text)
    made = await visitor.post("/console/proxies", data={"csrf": token, "uri": "socks5://[2001:db8::1]:1080"})
    assert made.status_code == 303, text_of(made.text)
    one, every = made.headers["location"].partition("?")[0], "/console/proxies"
    for path in (one, every, f"/console/sources/{source.id}/proxies"):
        text = text_of((await visitor.get(path)).text).replace(" ", "")
        assert "socks5://[2001:db8::1]:1080" in text, path
        assert "//2001:db8::1" not in text, path
