"""Live lists of runs: rows that changed, newer runs that are announced, marks, and the cost of many pages."""

import asyncio
import gc
import json
import warnings
from collections.abc import AsyncIterator, Iterable
from contextlib import aclosing
from functools import partial
from typing import Any

import httpx
import pytest

from longline.console import live_updates
from longline.console.live_updates import LivePages, LiveTopic, StreamedSessions
from longline.surfaces.sse import EventStream
from tests.console.scene import add_urls, end_urls, make_scene, start_run
from tests.console.test_overview import in_force
from tests.console.visiting import log_in, text_of
from tests.surfaces.intervals.platform import Door

Told = tuple[str, dict[str, Any]]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """A short tick; the platform is made after this."""
    monkeypatch.setattr("longline.console.live_updates.TICK_SECONDS", 0.1)
    monkeypatch.setattr("longline.wiring.doors.streams.LivePages", partial(LivePages, tick_seconds=0.1))


async def told(answer: httpx.Response) -> AsyncIterator[Told]:
    """Yield the parts that a stream sends, each with its mark."""
    mark = name = ""
    async for line in answer.aiter_lines():
        key, _, value = line.partition(": ")
        mark = value if key == "id" else mark
        name = value if key == "event" else name
        if key == "data" and name == "parts":
            yield mark, json.loads(value)


async def until(stream: AsyncIterator[Told], name: str, text: str) -> Told:
    """Return the first event with a part that contains this."""
    async with asyncio.timeout(60):
        async for mark, parts in stream:
            if text in text_of(parts.get(name, "")):
                return mark, parts
    raise AssertionError("the stream ended")


async def test_rows_and_counts_change_and_newer_runs_are_announced(door: Door, visitor: httpx.AsyncClient):
    records = door.platform.records
    run = await make_scene(records)
    page = (await visitor.get("/console/runs")).text
    path = page.partition('data-stream="')[2].partition('"')[0].replace("&amp;", "&")
    assert f"{run.id}" in path
    async with visitor.stream("GET", path) as answer:
        stream = told(answer)
        first = await anext(stream)
        assert {"count-all", "count-running", f"run-{run.id}", "news"} <= set(first[1])
        assert "newer" not in first[1]["news"]
        await end_urls(records)
        _, changed = await until(stream, f"run-{run.id}", "completed")
        assert set(changed) <= {f"run-{run.id}", "count-running", "count-completed"}, "only the changed parts"
        newer = await start_run(records, "https://newer.example/")
        await start_run(records, "https://newest.example/")
        _, announced = await until(stream, "news", "2 newer runs have started. Show them")
        assert f"run-{newer.id}" not in announced, "rows of the page stay where they are"


async def test_a_stream_goes_on_from_the_mark_of_the_browser(door: Door, visitor: httpx.AsyncClient):
    records = door.platform.records
    run = await make_scene(records)
    path = f"/console/runs/stream?shown={run.id},{run.id + 1}&announces=true"
    async with visitor.stream("GET", path) as kept, visitor.stream("GET", path) as cut:
        mark, _ = await anext(told(cut))
        stays = told(kept)
        await anext(stays)
        await cut.aclose()
        async with visitor.stream("GET", path, headers={"Last-Event-ID": mark}) as again:
            await start_run(records, "https://newer.example/")
            _, news = await anext(told(again))
            assert f"run-{run.id}" not in news, "it has not changed"
            assert "1 newer run has started. Show it" in text_of(news["news"])
    async with visitor.stream("GET", path, headers={"Last-Event-ID": "00000000.7"}) as other:
        assert f"run-{run.id}" in (await anext(told(other)))[1], "the mark of another process is ignored"


async def test_filters_decide_which_newer_runs_are_announced(door: Door, visitor: httpx.AsyncClient):
    records = door.platform.records
    run = await make_scene(records)
    async with (
        visitor.stream("GET", f"/console/runs/stream?shown={run.id + 1}&announces=true&kind=manifest") as manifests,
        visitor.stream("GET", f"/console/runs/stream?shown={run.id + 1}&announces=true&text=tide") as searched,
        visitor.stream("GET", f"/console/runs/stream?shown=nonsense,{run.id},,1e9") as older,
    ):
        streams = [told(one) for one in (manifests, searched, older)]
        first = [(await anext(one))[1] for one in streams]
        assert ["news" in one for one in first] == [True, False, False]
        await start_run(records, "https://newer.example/")
        for one in streams:
            mark, news = await until(one, "count-running", "3")
            assert mark
            assert "newer" not in news.get("news", "")


async def test_twenty_lists_of_different_runs_are_read_together(
    door: Door, visitor: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
):
    records = door.platform.records
    runs = [await start_run(records, f"https://a.example/{n}") for n in range(20)]
    reads, are_all_read = list[int](), asyncio.Event()
    among = type(records.run_views).among

    async def counted(self: Any, ids: list[int]) -> Any:
        reads.append(len(ids))
        if len(ids) == len(runs):
            are_all_read.set()
        return await among(self, ids)

    monkeypatch.setattr(type(records.run_views), "among", counted)
    async with asyncio.TaskGroup() as group, log_in(door) as other:
        stop = asyncio.Event()

        async def follow(client: httpx.AsyncClient, run_id: int) -> None:
            async with client.stream("GET", f"/console/runs/stream?shown={run_id}") as answer:
                stream = told(answer)
                await until(stream, f"run-{run_id}", str(run_id))
                await stop.wait()

        for run in runs:
            group.create_task(follow(other, run.id))
        await asyncio.wait_for(are_all_read.wait(), 60)
        begun, at = len(reads), asyncio.get_running_loop().time()
        await asyncio.sleep(1)
        passed = asyncio.get_running_loop().time() - at
        assert len(reads) - begun <= passed / 0.1 + 1, "one reading for each tick"
        stop.set()
    await add_urls(records, runs[0], "a.example", 1)


async def test_a_topic_forgets_parts_that_no_page_shows():
    topic = LiveTopic(lambda: asyncio.sleep(0, {}), 1)
    topic._note({"a": "1", "b": "1"})
    topic._note({"a": "2"})
    mark, parts = await anext(topic.follow())
    assert parts == {"a": "2"}
    topic._note({"a": "2", "b": "1"})
    assert (await anext(topic.follow(mark)))[1] == {"b": "1"}


async def test_an_unexpected_error_ends_no_look_for_ended_sessions(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    monkeypatch.setattr(live_updates, "SESSION_CHECK_SECONDS", 0.01)
    looks = 0

    async def fails_once(sessions: Iterable[str]) -> set[str]:
        nonlocal looks
        looks += 1
        if looks == 1:
            raise RuntimeError("broken")
        return set(sessions) - {"a"}

    await asyncio.wait_for(StreamedSessions(fails_once).end_of("a"), 30)
    [told] = [record for record in caplog.records if record.message == "sessions of live pages not read"]
    assert (told.levelname, told.exc_info is not None) == ("ERROR", True)


async def test_an_unexpected_error_ends_no_reading_of_parts(caplog: pytest.LogCaptureFixture):
    reads = 0

    async def fails_once() -> dict[str, str]:
        nonlocal reads
        reads += 1
        if reads == 1:
            raise RuntimeError("broken")
        return {"a": "1"}

    async with aclosing(LivePages(in_force, tick_seconds=0.01).parts("a", fails_once)) as found:
        assert (await asyncio.wait_for(anext(found), 30))[1] == {"a": "1"}
    assert [record.levelname for record in caplog.records if record.message == "live parts not read"] == ["ERROR"]


async def test_a_page_that_goes_at_once_leaves_no_coroutine_behind():
    stream = LivePages(in_force).stream([], "a")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        await anext(stream._frames)
        await stream._frames.aclose()  # type: ignore[attr-defined]  # it is a generator
        gc.collect()
    assert not told


async def test_a_stream_tells_the_time_of_the_server():
    live = LivePages(in_force, now=lambda: 1_700_000_000_123)
    stream: EventStream = live.stream([], "a")
    assert b'"now":1700000000123' in await anext(stream._frames)
