"""The list of runs: filters in the address, pages by key, and text of strangers."""

import httpx
import pytest

from longline.model.ids import new_id
from longline.model.runs.run import NewRun, RunKind, RunRow
from longline.model.sources.source import NewSource
from longline.ports.records.frontier.frontier import Change
from tests.console.visiting import text_of
from tests.surfaces.intervals.platform import Door

HOSTILE = "<script>alert(1)</script>\"'‮gnp.exe"


async def add(door: Door, seed: str, kind: RunKind = RunKind.CRAWL, source_id: int | None = None) -> RunRow:
    return await door.platform.records.runs.add(NewRun(new_id(), kind, "{}", seed, source_id=source_id))


async def test_pages_lead_to_older_and_newer_runs(
    door: Door, visitor: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("longline.console.runs.run_list.PAGE_SIZE", 2)
    ids = [(await add(door, f"https://a.example/{n}")).id for n in range(5)]
    first = (await visitor.get("/console/runs")).text
    assert [f"/console/runs/{i}" in first for i in ids] == [False, False, False, True, True]
    assert f"before={ids[3]}" in first
    assert "after=" not in first
    second = (await visitor.get(f"/console/runs?before={ids[3]}")).text
    assert [f"/console/runs/{i}" in second for i in ids] == [False, True, True, False, False]
    last = (await visitor.get(f"/console/runs?before={ids[1]}")).text
    assert "before=" not in last
    back = (await visitor.get(f"/console/runs?after={ids[0]}")).text
    assert [f"/console/runs/{i}" in back for i in ids] == [False, True, True, False, False]
    assert f"after={ids[2]}" in back


async def test_filters_choose_by_state_kind_source_and_text(door: Door, visitor: httpx.AsyncClient):
    source = await door.platform.records.sources.add(NewSource("Tide 100%", "https://tide.example/"))
    crawl = await add(door, "https://tide.example/", source_id=source.id)
    other = await add(door, "https://books.example/", RunKind.MANIFEST)
    await door.platform.records.moves.apply(Change("run", other.id, "start", "queued", "running", "scheduler"))
    for query, expected in (
        ("", {crawl.id, other.id}),
        ("?state=queued", {crawl.id}),
        ("?kind=manifest", {other.id}),
        (f"?source={source.id}", {crawl.id}),
        ("?text=100%25", {crawl.id}),
        ("?text=BOOKS", {other.id}),
        ("?text=%25", {crawl.id}),
        ("?state=nonsense&kind=none&before=x", {crawl.id, other.id}),
    ):
        page = (await visitor.get(f"/console/runs{query}")).text
        assert {run for run in (crawl.id, other.id) if f'"/console/runs/{run}"' in page} == expected, query
    nothing = text_of((await visitor.get("/console/runs?text=zzz")).text)
    assert "No run fits" in nothing


async def test_text_of_strangers_is_text(door: Door, visitor: httpx.AsyncClient):
    await add(door, f"https://x.example/{HOSTILE}{'a' * 100_000}")
    page = (await visitor.get("/console/runs")).text
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert len(page) < 40_000
    assert "<script>" not in (await visitor.get("/console/runs", params={"text": HOSTILE})).text
