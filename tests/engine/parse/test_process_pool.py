"""Parsing in processes: their failures do not affect the pool."""

import asyncio
import os
import signal
import threading
from collections.abc import AsyncIterator
from functools import cached_property
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import pytest
from selectolax.lexbor import LexborHTMLParser

from longline.engine.parse import process_pool
from longline.engine.parse.page_parser import NO_SHARE, PageParser, Share
from longline.engine.parse.parser_process import Limits, ParserProcess
from longline.engine.parse.parser_results import Parsed
from longline.engine.parse.process_pool import ProcessPool
from longline.parsers import page as built_in
from longline.plugins import Page
from longline.plugins.parser_errors import shown
from longline.plugins.parser_reload import LoadedParsers
from longline.plugins.registry import ParserSources, Registry, no_parser
from tests.engine import slow_parsers

SHELF = ParserSources(modules=("longline.parsers.page", "tests.engine.slow_parsers"))
RAISED = f"raises: {shown(str(slow_parsers.__file__))}:36: RuntimeError('no good')"


@pytest.fixture
async def aside() -> AsyncIterator[ProcessPool]:
    made = ProcessPool(SHELF, 1, 20.0)
    yield made
    made.close()


def page(name: str, body: bytes = b"<title>T</title>", **more: object) -> Page:
    return Page(f"https://{name}.example/", body, content_type="text/html", **more)  # type: ignore[arg-type]  # as given


async def pid(aside: ProcessPool) -> int:
    return int((await aside.parse("where", page("where"))).items[0].fields["pid"])


async def test_one_process_parses_page_after_page(aside: ProcessPool):
    got = await aside.parse("where", page("where", config={"a": 1}, status=404))
    assert (got.title, got.links, got.error) == ("T", ("https://where.example/next",), None)
    assert got.items[0].fields["config"] == {"a": 1}
    assert got.items[0].fields["status"] == 404
    assert got.items[0].fields["pid"] not in (os.getpid(), None)
    assert await pid(aside) == got.items[0].fields["pid"]


async def test_a_parser_that_raises_fails_its_page_and_not_its_process(aside: ProcessPool):
    first = await pid(aside)
    assert await aside.parse("raises", page("raises")) == Parsed(error=RAISED)
    assert "is a node of the page" in str((await aside.parse("uncarried", page("uncarried"))).error)
    assert (await aside.parse("nobody", page("where"))).error == no_parser("nobody", SHELF.open().names)
    assert await pid(aside) == first


async def test_a_failure_is_logged_by_the_owner_and_not_by_the_process(aside: ProcessPool, caplog, capfd):
    await aside.parse("raises", page("raises"))
    (told,) = caplog.records
    assert (told.message, told.error) == ("parser failed", RAISED)
    assert "parser failed" not in capfd.readouterr().err


async def test_the_process_of_a_page_that_hangs_is_killed():
    aside = ProcessPool(SHELF, 1, 2)
    try:
        first = await pid(aside)
        got = await aside.parse("hangs", page("hangs"))
        assert got == Parsed(error="hangs: took longer than 2 s")
        assert await pid(aside) != first
        with pytest.raises(ProcessLookupError):
            os.kill(first, 0)
    finally:
        aside.close()


async def test_a_process_that_was_killed_is_replaced(aside: ProcessPool):
    first = await pid(aside)
    os.kill(first, signal.SIGKILL)
    assert await pid(aside) != first


DIED = "dies: the process that parsed the page died"


@pytest.mark.parametrize(
    ("deaths", "error"),
    [("", None), ("x", None), ("xx", DIED), ("kkkkk", None), ("kkkkkk", DIED), ("kkxkk", None), ("kxkx", DIED)],
)
@pytest.mark.slow(reason="starts processes")
async def test_a_page_is_repeated_once_after_a_crash_and_more_often_after_a_kill(
    aside: ProcessPool, tmp_path: Path, deaths: str, error: str | None
):
    left = tmp_path / "left"
    left.write_text(deaths)
    got = await aside.parse("dies", page("dies", str(left).encode()))
    assert got.error == error
    assert not left.read_text()


@pytest.mark.parametrize(("failures", "is_parsed"), [(5, True), (6, False)])
async def test_a_page_is_repeated_if_its_process_does_not_start(
    aside: ProcessPool, monkeypatch: pytest.MonkeyPatch, failures: int, is_parsed: bool
):
    wait, left = ParserProcess.wait_until_ready, [EOFError] * failures

    def fail_at_first(process: ParserProcess) -> None:
        if left:
            raise left.pop()
        wait(process)

    monkeypatch.setattr(ParserProcess, "wait_until_ready", fail_at_first)
    assert ((await aside.parse("where", page("where"))).error is None) is is_parsed


async def hanging(aside: ProcessPool) -> asyncio.Task[Parsed]:
    """Begin to parse a page that hangs; return after a process has it."""
    await pid(aside)
    parsing = asyncio.create_task(aside.parse("hangs", page("hangs")))
    while aside._idle:  # noqa: ASYNC110 - a thread takes it, and rings no bell here
        await asyncio.sleep(0.001)
    return parsing


async def test_the_event_loop_runs_during_a_parse():
    aside = ProcessPool(SHELF, 1, 60.0)
    try:
        parsing = await hanging(aside)
        for _ in range(50):
            await asyncio.sleep(0.001)
        assert not parsing.done()
    finally:
        aside.close()
    assert "died" in str((await parsing).error)


async def test_closing_ends_the_parses_under_way():
    aside = ProcessPool(SHELF, 1, 60.0)
    first = await pid(aside)
    parsing = await hanging(aside)
    aside.close()
    assert "died" in str((await parsing).error)
    with pytest.raises(ProcessLookupError):
        os.kill(first, 0)


async def test_only_slow_parsers_run_in_a_process(aside: ProcessPool):
    parser = PageParser(SHELF.open(), aside)
    light, heavy = await parser.parse(page("light")), await parser.parse(page("where"))
    assert light.items[0].fields["pid"] == os.getpid()
    assert heavy.items[0].fields["pid"] != os.getpid()


class NotedPool:
    """A pool that keeps the URLs of its pages."""

    waiting = 0

    def __init__(self) -> None:
        self.urls: list[str] = []

    async def parse(self, parser: str, page: Page, share: Share = NO_SHARE, *, slow: bool = False) -> Parsed:
        self.urls.append(page.url)
        return Parsed(title=f"{parser} elsewhere of {page.status} {share.host} {slow}")


async def test_a_page_of_costly_markup_is_parsed_in_a_process():
    parser = PageParser(SHELF.open(), NotedPool())
    large = await parser.parse(page("light", b"<div>" * 40_000), Share("a.example", 1))
    assert large.title == "light elsewhere of 200 a.example True"
    assert (await parser.parse(page("light", b"<div></div>" * 900))).title == ""


async def test_after_a_slow_page_pages_of_the_host_are_parsed_in_a_process():
    pool = NotedPool()
    parser = PageParser(SHELF.open(), pool)
    slow, good = Share("busy.example", 1), Share("good.example", 2)
    await parser.parse(page("busy"), slow)
    assert pool.urls == []
    await parser.parse(page("busy"), slow)
    await parser.parse(page("light"), slow)
    await parser.parse(page("light"), good)
    assert pool.urls == ["https://busy.example/", "https://light.example/"]


@pytest.mark.parametrize("body", [b"<p>words</p>" * 20_000, b"<div>" * 8000 + b"<!--" + b"</div>" * 8000 + b"-->"])
async def test_the_tree_of_a_large_page_is_built_off_the_loop(body: bytes):
    built: list[int] = []

    class Noted(Page):
        @cached_property
        def tree(self) -> LexborHTMLParser:
            built.append(threading.get_ident())
            return super().tree

    large = Noted("https://light.example/", body, content_type="text/html", config={"parser": "page"})
    await PageParser(SHELF.open()).parse(large)
    assert len(built) == 1
    assert threading.get_ident() not in built


async def test_a_page_that_is_too_complex_is_an_error():
    deep = Page("https://a.example/", b"<div>" * 20_000, content_type="text/html")
    assert "TooComplex" in str((await PageParser(Registry(built_in)).parse(deep)).error)


async def test_each_host_has_its_turn_among_many_pages_of_another(aside: ProcessPool, monkeypatch: pytest.MonkeyPatch):
    await pid(aside)
    # Each page holds the process for the same time: on a busy machine a short page may hold it for long.
    monkeypatch.setattr(process_pool, "time", SimpleNamespace(monotonic=count().__next__))
    order: list[str] = []

    async def parse(host: str, run_id: int) -> None:
        await aside.parse("where", page("where"), Share(host, run_id))
        order.append(f"{host} {run_id}")

    waiting = [parse("greedy", 1) for _ in range(12)] + [parse("good", 2), parse("good", 2), parse("greedy", 3)]
    await asyncio.gather(*waiting)
    assert order.index("good 2") < 4
    assert len(order) - order[::-1].index("good 2") <= 6, "the second page of the host precedes the third of the other"
    assert order.index("greedy 3") < 8, "each run of a host has its turn"


@pytest.mark.slow(reason="starts processes")
async def test_slow_pages_leave_a_process_to_the_others():
    aside = ProcessPool(SHELF, 2, 60.0)
    try:
        await asyncio.gather(pid(aside), pid(aside))
        slow = [asyncio.create_task(aside.parse("hangs", page("hangs"), Share(f"slow{n}", n))) for n in range(4)]
        for number in range(20):
            async with asyncio.timeout(30):
                assert (await aside.parse("where", page("where"), Share("good", 9))).error is None, number
        assert not any(task.done() for task in slow)
    finally:
        aside.close()
    for task in slow:
        assert "died" in str((await task).error)


async def test_the_start_of_a_process_does_not_make_a_host_slow():
    slow_start = ParserSources(modules=(*SHELF.modules, "tests.engine.slow_to_import"))
    aside = ProcessPool(slow_start, 2, 60.0)
    try:
        await asyncio.gather(*(aside.parse("where", page("where"), Share("good", 1)) for _ in range(2)))
        hanging = asyncio.create_task(aside.parse("hangs", page("hangs"), Share("slow", 2), slow=True))
        await asyncio.sleep(0.1)  # the page has a process before the next page needs one
        async with asyncio.timeout(30):
            assert (await aside.parse("where", page("where"), Share("good", 1))).error is None
        assert not hanging.done()
    finally:
        aside.close()
    assert "died" in str((await hanging).error)


async def test_a_host_stays_slow_if_no_process_can_be_started_for_its_next_page(monkeypatch: pytest.MonkeyPatch):
    aside, share = ProcessPool(SHELF, 1, 2), Share("hangs.example")
    try:
        assert (await aside.parse("hangs", page("hangs"), share)).error == "hangs: took longer than 2 s"
        assert share.host in aside._slow_hosts

        def fail(_: ParserProcess) -> None:
            raise EOFError

        with monkeypatch.context() as patched:
            patched.setattr(ParserProcess, "wait_until_ready", fail)
            assert (await aside.parse("where", page("where"), share)).error
        assert share.host in aside._slow_hosts
        assert (await aside.parse("where", page("where"), share)).error is None
        assert share.host not in aside._slow_hosts
    finally:
        aside.close()


async def test_a_page_may_not_take_more_memory_than_the_bound():
    aside = ProcessPool(SHELF, 1, 60.0, Limits(memory_bytes=512 * 1024 * 1024))
    try:
        first = await pid(aside)
        got = await aside.parse("greedy", page("greedy"))
        assert "MemoryError" in str(got.error)
        assert await pid(aside) == first
    finally:
        aside.close()


async def test_the_size_of_the_results_of_a_page_is_bounded(aside: ProcessPool):
    got = await aside.parse("verbose", page("verbose"))
    assert "bytes were made of the page" in str(got.error)


async def test_links_beyond_the_bound_are_counted(aside: ProcessPool):
    links = b"".join(b"<a href=/%d>" % n for n in range(12_000))
    got = await PageParser(SHELF.open(), aside).parse(page("light", links, config={"parser": "page"}))
    assert (len(got.links), got.cut, got.links[-1]) == (10_000, 2_000, "https://light.example/9999")
    few = await PageParser(SHELF.open(), max_links=3).parse(
        page("light", b"<a href=1><a href=2><a href=3><a href=4>", config={"parser": "page"})
    )
    assert (len(few.links), few.cut) == (3, 1)


OWN = """
from longline.plugins import Item, parser
@parser("own", match=())
def own(page):
    yield Item("own", version={version})
"""


async def test_a_changed_file_is_used_by_the_next_page_and_a_broken_one_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    monkeypatch.setattr("longline.plugins.parser_reload.RELOAD_INTERVAL_SECONDS", 0.0)
    file = tmp_path / "own.py"
    file.write_text(OWN.format(version=1))
    loaded = LoadedParsers(ParserSources(("longline.parsers.page",), (str(file),)))
    aside = ProcessPool(loaded, 1, 20.0)
    parser = PageParser(loaded, aside)

    async def version() -> object:
        got = await parser.parse(page("own", config={"parser": "own"}))
        return got.items[0].fields["version"] if got.items else got.error

    try:
        assert await version() == 1
        file.write_text(OWN.format(version="1, half ="))
        assert await version() == 1
        told = [record for record in caplog.records if record.message == "changed parsers not loaded"]
        assert [f"{file}:5: SyntaxError" in vars(record)["error"] for record in told] == [True], "logged once"
        file.write_text(OWN.format(version=22))
        assert await version() == 22
        file.write_text(OWN.replace('"own", match', '"other", match').format(version=3))
        assert await version() == no_parser("own", ("other", "page"))
    finally:
        aside.close()
