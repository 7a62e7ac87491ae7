"""A run over HTTP: its sums, its log and its actions, for each role and each state."""

import asyncio
import json
import re

import httpx
import pytest

from longline.model.callers.audit import AuditFilter
from longline.model.logs.run_log import NewLogEntry, fields_text
from longline.model.states import TaskState, legal
from tests.console.scene import add_urls, end_urls, make_scene, start_run, write_log
from tests.console.visiting import csrf, log_in, text_of
from tests.surfaces.intervals.platform import Door

HOSTILE = "<img src=x onerror=alert(1)>\"'</li></ol><script>alert(2)</script>‮"


def numbers(page: str) -> list[int]:
    """Return the numbers of the entries on a page or in a fragment."""
    return [int(found) for found in re.findall(r'data-number="(\d+)"', page)]


async def log_numbers(client: httpx.AsyncClient, path: str, most: int, mark: str | None = None) -> list[int]:
    """Return the numbers of the first entries that a stream sends."""
    found: list[int] = []
    headers = {} if mark is None else {"Last-Event-ID": mark}
    async with asyncio.timeout(60), client.stream("GET", path, headers=headers) as answer:
        name = ""
        async for line in answer.aiter_lines():
            name = line.removeprefix("event: ") if line.startswith("event: ") else name
            if name == "log" and line.startswith("data: "):
                found += numbers(json.loads(line.removeprefix("data: "))["html"])
                if len(found) >= most:
                    return found
    raise AssertionError("the stream ended")


async def test_the_fates_of_a_run_add_up(door: Door, visitor: httpx.AsyncClient):
    run = await make_scene(door.platform.records)
    page = (await visitor.get(f"/console/runs/{run.id}")).text
    fates = {name: int(count) for name, count in re.findall(r'data-fate="(\w+)">(\d+)<', page)}
    assert fates == {"completed": 12, "skipped": 3, "failed": 3, "cancelled": 0, "open": 12}
    assert sum(fates.values()) == 30
    assert "12 completed, 3 skipped, 3 failed, 0 cancelled, 12 open" in page
    assert "connect_timeout" in text_of(page)
    assert "tidewater-books.example 12 12 3 3 0 http_4xx 2 , connect_timeout 1" in text_of(page)
    assert (await visitor.get("/console/runs/999999")).status_code == 404
    assert (await visitor.get("/console/runs/none")).status_code in (400, 404)


async def test_the_log_is_filtered_on_the_server(door: Door, visitor: httpx.AsyncClient):
    run = await make_scene(door.platform.records)
    where = f"/console/runs/{run.id}"
    assert len(numbers((await visitor.get(where)).text)) == 25, "debug is left out at first"
    assert numbers((await visitor.get(f"{where}?levels=error")).text) == [5, 11, 17, 23, 29]
    assert numbers((await visitor.get(f"{where}?text=LINE 28&levels=debug,info,warn,error")).text) == [29]
    assert "No entry fits the filter." in text_of((await visitor.get(f"{where}?text=nothing")).text)
    assert await log_numbers(visitor, f"{where}/stream?levels=error&after=5", 4) == [11, 17, 23, 29]


async def test_the_values_of_entries_are_shown_and_searched(door: Door, visitor: httpx.AsyncClient):
    """A message is a constant text: the failed page and the reason are among the values."""
    run = await start_run(door.platform.records, "https://a.example/")
    facts = {"url": "https://a.example/lost?x=<b>", "reason": "http_4xx", "attempt": 5, "error": HOSTILE}
    entries = [NewLogEntry(run.id, at, "error", "error", "page failed", fields_text(facts)) for at in (1, 2)]
    other = NewLogEntry(run.id, 3, "warn", "queue", "page will be tried again", fields_text({"reason": "dns"}))
    await door.platform.records.logs.append([*entries, other], {})
    where = f"/console/runs/{run.id}"
    page = (await visitor.get(where)).text
    assert "page failed url= https://a.example/lost?x=<b> reason= http_4xx attempt= 5" in text_of(page)
    assert "<script>alert" not in page
    assert numbers((await visitor.get(f"{where}?text=HTTP_4xx")).text) == [1, 2]
    assert numbers((await visitor.get(f"{where}?text=reason")).text) == [], "values are searched, their names are not"
    assert await log_numbers(visitor, f"{where}/stream?text=dns&after=0", 1) == [3]


async def test_a_stream_goes_on_behind_the_last_entry_and_misses_none(door: Door, visitor: httpx.AsyncClient):
    records = door.platform.records
    run = await make_scene(records)
    where = f"/console/runs/{run.id}/stream?levels=debug,info,warn,error"
    assert await log_numbers(visitor, f"{where}&after=20", 10) == list(range(21, 31))
    following = asyncio.create_task(log_numbers(visitor, f"{where}&after=0", 700, mark="30"))
    for part in range(7):
        await write_log(records, run, 100, 30 + part * 100)
    assert await following == list(range(31, 731))
    assert await log_numbers(visitor, f"{where}&after=0", 730) == list(range(1, 731))


@pytest.mark.parametrize("role", ["admin", "moderator", "member"])
async def test_buttons_are_those_of_the_table_of_moves_and_the_role(door: Door, role: str):
    records = door.platform.records
    running = await start_run(records, "https://a.example/")
    await add_urls(records, running, "a.example", 2)
    ended = await start_run(records, "https://b.example/")
    await add_urls(records, ended, "b.example", 1)
    await end_urls(records, ((TaskState.FAILED, "http_4xx"),))
    async with log_in(door, role) as client:
        for run_id, move, path in ((running.id, "cancel", "cancel"), (ended.id, "reopen", "retry")):
            view = await records.run_views.get(run_id)
            assert view is not None
            may = move in legal("run", view.state, "person") and role != "member"
            page = (await client.get(f"/console/runs/{run_id}")).text
            assert (f'action="/console/runs/{run_id}/{path}"' in page) is may
            other = {"cancel": "retry", "retry": "cancel"}[path]
            assert f'action="/console/runs/{run_id}/{other}"' not in page
            if role == "member":
                sent = await client.post(f"/console/runs/{run_id}/{path}", data={"csrf": csrf(page)})
                assert sent.status_code == 403


async def test_a_run_is_cancelled_and_failed_urls_are_fetched_again_with_an_audit(
    door: Door, visitor: httpx.AsyncClient
):
    records = door.platform.records
    run = await start_run(records, "https://a.example/")
    await add_urls(records, run, "a.example", 2)
    await end_urls(records, ((TaskState.FAILED, "http_4xx"), (TaskState.COMPLETED, "ok")))
    where = f"/console/runs/{run.id}"
    token = csrf((await visitor.get(where)).text)
    refused = await visitor.post(f"{where}/cancel", data={"csrf": token})
    assert refused.status_code == 409
    assert "cannot cancel a run that is" in text_of(refused.text)
    again = await visitor.post(f"{where}/retry", data={"csrf": token, "reason": "the site is back"})
    assert again.status_code == 303, again.text
    assert "1 failed URL will be fetched again." in text_of((await visitor.get(again.headers["location"])).text)
    assert (view := await records.run_views.get(run.id)) is not None
    assert (view.state, view.open, view.failed) == ("running", 1, 0)
    assert (await visitor.post(f"{where}/retry", data={"csrf": token})).status_code == 409
    assert (await visitor.post(f"{where}/cancel", data={"csrf": token, "reason": "enough"})).status_code == 303
    assert (view := await records.run_views.get(run.id)) is not None
    assert (view.state, view.cancelled) == ("cancelled", 1)
    rows = await records.audit.find(AuditFilter(subject="a-admin"))
    assert [(row.action, row.reason, row.door) for row in rows if row.noun != "session"] == [
        ("run.cancel", "enough", "console"),
        ("task.restart", "the site is back", "console"),
    ]


async def test_hostile_texts_are_texts(door: Door, visitor: httpx.AsyncClient):
    records = door.platform.records
    run = await start_run(records, f"https://x.example/{HOSTILE}")
    await records.logs.append([NewLogEntry(run.id, 1, "error", "fetch", HOSTILE + "a" * 100_000)], {})
    page = (await visitor.get(f"/console/runs/{run.id}")).text
    assert "<script>alert" not in page
    assert "<img src=x" not in page
    assert len(page) < 60_000
    assert "<script>alert" not in (await visitor.get(f"/console/runs/{run.id}", params={"text": HOSTILE[:150]})).text
