"""Pages of sources: the list, a source with its whole state, the form and the switch."""

import httpx
import pytest

from longline.model.callers.audit import AuditFilter
from longline.model.sources.source import NewSource, SourceRow
from tests.console.visiting import csrf, log_in, text_of
from tests.surfaces.intervals.platform import Door

HOSTILE = "<script>alert(1)</script>\"'‮gnp.exe"


async def make(door: Door, name: str = "Tide", **facts: object) -> SourceRow:
    return await door.platform.records.sources.make(NewSource(name, "https://tide.example/", **facts))  # type: ignore[arg-type]


async def form(visitor: httpx.AsyncClient, path: str = "/console/sources/new", **fields: str) -> httpx.Response:
    page = (await visitor.get(path)).text
    target = "/console/sources" if path.endswith("new") else path.removesuffix("/edit")
    return await visitor.post(target, data={"csrf": csrf(page)} | fields)


async def test_a_robots_txt_that_cannot_be_fetched_is_told_on_the_page(door: Door, visitor: httpx.AsyncClient):
    source = await door.platform.records.sources.make(NewSource("Tide", "http://127.0.0.1:9/"))
    path = f"/console/sources/{source.id}"
    sent = {"csrf": csrf((await visitor.get(path)).text)}
    answer = await visitor.post(f"{path}/robots", data=sent, headers={"Referer": f"{door.address}{path}"})
    assert (answer.status_code, answer.headers["location"]) == (303, path)
    assert "robots.txt of" in text_of((await visitor.get(path)).text)


@pytest.mark.parametrize("number", [1 << 63, 10**30])
async def test_numbers_beyond_those_of_databases_are_wrong_input(door: Door, visitor: httpx.AsyncClient, number: int):
    token = csrf((await visitor.get("/console/sources")).text)
    for path in ("sources", "runs", "tasks", "proxies", "workers"):
        assert (await visitor.get(f"/console/{path}/{number}")).status_code in (400, 404), path
    for query in (
        f"runs?before={number}",
        f"tasks?run={number}",
        f"schedules?after={number}",
        f"audit?before={number}",
    ):
        assert (await visitor.get(f"/console/{query}")).status_code in (200, 400), query
    answer = await visitor.post("/console/tasks/move", data={"csrf": token, "move": "pause", "tasks": str(number)})
    assert answer.status_code in (303, 400)


async def test_a_source_is_registered_by_the_form(door: Door, visitor: httpx.AsyncClient):
    answer = await form(
        visitor, name="Kelp", base_url="https://kelp.example", delay="1.5", concurrency="2", max_depth="3"
    )
    assert answer.status_code == 303, text_of(answer.text)
    row = await door.platform.records.sources.get_by_name("Kelp")
    assert row is not None
    assert answer.headers["location"] == f"/console/sources/{row.id}"
    assert (row.base_url, row.delay_ms, row.concurrency) == ("https://kelp.example/", 1500, 2)
    [audit] = await door.platform.records.audit.find(AuditFilter(noun="source"), limit=5)
    assert (audit.action, audit.door, audit.name) == ("source.create", "console", "a-admin")


async def test_every_wrong_field_is_told_at_once_and_nothing_is_lost(door: Door, visitor: httpx.AsyncClient):
    answer = await form(visitor, name=HOSTILE, base_url="nonsense", delay="soon", config="[1]", parser="none")
    assert answer.status_code == 400
    told = text_of(answer.text)
    assert "Nothing was saved" in told
    assert "This is no URL" in told
    assert "Enter a number" in told
    assert "Enter a JSON object" in told
    assert "<script>alert" not in answer.text
    assert 'value="soon"' in answer.text
    unknown = await form(visitor, name="Kelp", base_url="https://kelp.example", parser="none")
    assert (unknown.status_code, "none" in unknown.text) == (400, True)
    await make(door, "Kelp")
    taken = await form(visitor, name="Kelp", base_url="https://other.example/")
    assert taken.status_code == 400


async def test_a_source_is_changed_by_the_form(door: Door, visitor: httpx.AsyncClient):
    row = await make(door, crawl='{"max_depth": 2, "rate_limit": "10s"}')
    path = f"/console/sources/{row.id}/edit"
    assert 'value="2"' in (await visitor.get(path)).text
    answer = await form(visitor, path, name="Tide 2", base_url="https://tide.example/new")
    assert answer.status_code == 303, text_of(answer.text)
    changed = await door.platform.records.sources.get(row.id)
    assert changed is not None
    assert (changed.name, changed.base_url, changed.crawl) == (
        "Tide 2",
        "https://tide.example/new",
        '{"rate_limit":"10s"}',
    )


async def test_a_source_is_disabled_with_a_reason_and_enabled(door: Door, visitor: httpx.AsyncClient):
    row = await make(door)
    path = f"/console/sources/{row.id}"
    token = csrf((await visitor.get(path)).text)
    assert (await visitor.post(f"{path}/disable", data={"csrf": token, "reason": HOSTILE})).status_code == 303
    page = await visitor.get(path)
    assert "gnp.exe" in page.text
    assert "<script>alert" not in page.text
    off = await door.platform.records.sources.get(row.id)
    assert off is not None
    assert (off.enabled, off.disable_reason) == (False, HOSTILE)
    assert (await visitor.post(f"{path}/enable", data={"csrf": token})).status_code == 303
    actions = [one.action for one in await door.platform.records.audit.find(AuditFilter(noun="source"), limit=5)]
    assert actions == ["source.enable", "source.disable"]


async def test_a_source_is_deleted(door: Door, visitor: httpx.AsyncClient):
    row = await make(door)
    token = csrf((await visitor.get(f"/console/sources/{row.id}")).text)
    assert (await visitor.post(f"/console/sources/{row.id}/delete", data={"csrf": token})).status_code == 303
    assert (await visitor.get(f"/console/sources/{row.id}")).status_code == 404


async def test_the_list_is_filtered_and_goes_on_by_name(
    door: Door, visitor: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("longline.console.sources.source_list.PAGE_SIZE", 2)
    rows = [await make(door, name) for name in ("Alpha", "Beta", "Gamma")]
    first = (await visitor.get("/console/sources")).text
    assert [f'"/console/sources/{row.id}"' in first for row in rows] == [True, True, False]
    second = (await visitor.get("/console/sources?after=Beta")).text
    assert [f'"/console/sources/{row.id}"' in second for row in rows] == [False, False, True]
    found = (await visitor.get("/console/sources?text=gam")).text
    assert [f'"/console/sources/{row.id}"' in found for row in rows] == [False, False, True]
    assert "No source fits" in text_of((await visitor.get("/console/sources?show=failing")).text)
    assert "Alpha" not in (await visitor.get("/console/sources?show=disabled")).text


async def test_a_member_may_look_and_not_act(door: Door):
    row = await make(door)
    async with log_in(door, "member") as member:
        page = (await member.get(f"/console/sources/{row.id}")).text
        assert f"/console/sources/{row.id}/disable" not in page
        assert "New source" not in (await member.get("/console/sources")).text
        answer = await member.post(f"/console/sources/{row.id}/disable", data={"csrf": csrf(page)})
        assert answer.status_code == 403


async def test_a_source_of_any_depth_keeps_it_when_another_field_is_changed(door: Door, visitor: httpx.AsyncClient):
    made = await form(visitor, name="Kelp", base_url="https://kelp.example/", max_depth="-1")
    page = (await visitor.get(f"{made.headers['location']}/edit")).text
    assert 'name="max_depth" type="text" value="-1"' in page
    data = {"csrf": csrf(page), "name": "Kelp", "base_url": "https://kelp.example/", "max_depth": "-1", "delay": "3"}
    answer = await visitor.post(made.headers["location"], data=data)
    assert answer.status_code == 303, text_of(answer.text)
    row = await door.platform.records.sources.get_by_name("Kelp")
    assert row is not None
    assert (row.crawl, row.delay_ms) == ('{"max_depth":-1}', 3000)
