"""Tasks claimed by a worker process, paused and cancelled elsewhere: the website's log shows the late requests."""

import asyncio
import os
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from longline.drivers.clock import SystemClock
from longline.drivers.records import open_records
from longline.engine.frontier.admission import seed
from longline.engine.lifecycle.moves import Lifecycle, MoveRequest
from longline.engine.lifecycle.tasks import TaskOrder
from longline.model.ids import new_id
from longline.model.runs.run import NewRun, RunKind
from longline.ports.records import Records
from tests.chaos.politeness import ask, running_origin
from tests.plans import crawl_plan
from tests.servers.program import Program

PAGES = 600
IN_HAND = 500
MAX_LATE_SECONDS = 1.0


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[Records]:
    records = await open_records(url, SystemClock())
    try:
        await records.schema.migrate()
        yield records
    finally:
        await records.schema.close()


async def fill(records: Records, port: int) -> int:
    """Start one run with pages of one host, which takes four requests at a time."""
    plan = crawl_plan((), delay_ms=0, concurrency=4)
    run = await records.runs.add(NewRun(new_id(), RunKind.CRAWL, plan.text()))
    lifecycle = Lifecycle(records)
    await lifecycle.move(MoveRequest("run", run.id, "start", "worker", owner=1, lease_ms=3_600_000))
    seeds = [seed(f"http://127.0.1.1:{port}/p{n}", run.id, plan) for n in range(PAGES)]
    await lifecycle.admit([task for task, _ in seeds], sorted({host for _, host in seeds}))
    return run.id


async def in_hand(records: Records, run_id: int) -> dict[int, str]:
    """Wait until the worker holds the expected number of tasks, and return them with their paths."""
    async with asyncio.timeout(60):
        while True:
            rows = await records.tasks.find(run_id=run_id, limit=PAGES)
            held = {row.id: "/p" + row.url.rpartition("/p")[2] for row in rows if row.state == "queued"}
            if len(held) >= IN_HAND:
                return held
            await asyncio.sleep(0.05)


async def until_done(records: Records, run_id: int) -> None:
    async with asyncio.timeout(90):
        while True:
            run = await records.runs.get(run_id)
            if run is not None and run.state == "completed":
                return
            await asyncio.sleep(0.2)


@pytest.mark.slow(reason="six hundred pages of a slow website")
async def test_nothing_is_requested_a_second_after_it_was_paused_or_cancelled(migrated_url: str, tmp_path: Path):
    with running_origin(0.05) as port:
        async with opened(migrated_url) as records:
            run_id, tasks = await fill(records, port), Lifecycle(records).tasks
            environment = os.environ | {
                "LONGLINE_DATA": str(tmp_path / "machine"),
                "LONGLINE_DATABASE": migrated_url,
                "LONGLINE_EGRESS_ALLOW": "127.0.0.0/8",
                "LONGLINE_CONCURRENCY": "128",
                "LONGLINE_LOG_LEVEL": "error",
            }
            with Program(["worker"], environment) as worker:
                try:
                    held = await in_hand(records, run_id)
                    ids = sorted(held)[::2][: IN_HAND // 2]
                    answered: dict[int, float] = {}
                    for name, some in (("pause", ids[::2]), ("cancel", ids[1::2])):
                        results = await tasks.move_all(TaskOrder(name), some)
                        answered |= dict.fromkeys((r.task_id for r in results if r.became), time.monotonic())
                    assert len(answered) == IN_HAND // 2
                    await asyncio.sleep(3)
                    visits = await asyncio.to_thread(ask, port)
                    await tasks.move_all(TaskOrder("resume"), ids[::2])
                    await until_done(records, run_id)
                finally:
                    worker.terminate()
            run, every = await records.runs.get(run_id), await asyncio.to_thread(ask, port)
    starts = {path: start for _, path, start, _, _ in visits}
    late = {held[i]: starts[held[i]] - at for i, at in answered.items() if held[i] in starts}
    latest = [round(seconds, 3) for seconds in sorted(late.values())[-5:]]
    print(f"{len(held)} tasks in hand, {len(answered)} withdrawn; last requests, by seconds after the answer: {latest}")
    assert [path for path, seconds in late.items() if seconds > MAX_LATE_SECONDS] == []
    assert len(late) < len(answered) / 2, "most of them had not begun"
    assert len(visits) > len(late) + 50, "the worker went on with the other tasks"
    assert run is not None
    assert (run.completed, run.cancelled) == (PAGES - len(ids) // 2, len(ids) // 2)
    assert len({path for _, path, *_ in every}) >= run.completed, "every page that was not cancelled was fetched"
