"""Pools of threads that are started before they are needed."""

import asyncio
import threading

import pytest

from longline.cli.event_loop import run
from longline.engine.parse.process_pool import ProcessPool
from longline.plugins.registry import ParserSources
from longline.plugins.started_threads import started_threads


@pytest.fixture
def starts(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of threads in the order of their starts."""
    names: list[str] = []
    start = threading.Thread.start

    def noted(thread: threading.Thread) -> None:
        names.append(thread.name)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", noted)
    return names


def test_all_threads_run_before_the_first_call(starts: list[str]):
    with started_threads(5, "worker") as pool:
        assert starts == [f"worker_{number}" for number in range(5)]
        held = threading.Barrier(5)
        for call in [pool.submit(held.wait, 10) for _ in range(5)]:
            call.result()
    assert len(starts) == 5


def test_the_event_loop_starts_no_thread_for_a_call(starts: list[str]):
    async def work() -> list[str]:
        before = list(starts)
        held = threading.Barrier(4)
        await asyncio.gather(*(asyncio.to_thread(held.wait, 10) for _ in range(4)))
        return starts[len(before) :]

    assert run(work()) == []


async def test_a_pool_of_parsers_has_its_threads(starts: list[str]):
    pool = ProcessPool(ParserSources(), 3, 10.0)
    try:
        assert starts == [f"parsing_{number}" for number in range(3)]
    finally:
        pool.close()
