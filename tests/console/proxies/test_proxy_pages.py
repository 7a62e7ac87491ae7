"""Pages of proxies over HTTP."""

import httpx

from longline.model.callers.audit import AuditFilter
from longline.model.sources.source import NewSource
from longline.services.proxies.proxies import Proxies
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


async def test_the_list_asks_before_it_disables(door: Door, visitor: httpx.AsyncClient):
    proxies = Proxies(door.platform.records.proxies, door.platform.vault)
    kept, spare = [await proxies.add(f"http://{name}.example:80") for name in ("kept", "spare")]
    await proxies.disable(spare.id)
    page = (await visitor.get("/console/proxies")).text
    dialog = page.partition(f'<dialog id="ask-disable-{kept.id}"')[2].partition("</dialog>")[0]
    assert f'action="/console/proxies/{kept.id}/disable"' in dialog
    assert page.count(f'action="/console/proxies/{kept.id}/disable"') == 1, "no button disables it at once"
    assert f'action="/console/proxies/{spare.id}/enable"' in page
    answer = await visitor.post(
        f"/console/proxies/{kept.id}/disable", data={"csrf": csrf(page), "reason": "it is dead"}
    )
    assert answer.status_code == 303
    [row] = await door.platform.records.audit.find(AuditFilter(noun="proxy"), limit=1)
    assert (row.action, row.reason) == ("proxy.disable", "it is dead")
