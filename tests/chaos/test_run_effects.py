"""Effects of run ends follow exactly once, for a kill in any transaction, on both engines."""

import asyncio
import signal
import sys

import pytest

from longline.drivers.clock import SystemClock
from longline.drivers.records import open_records
from longline.model.sources.source import NewSource
from tests.drivers.records.fixtures import *  # noqa: F403 - fixtures are found by their names
from tests.drivers.records.peek import Peek

DEATHS = 6
CHANCE_TO_DIE = 0.12
MAX_RUNS = 200


async def live(*words: object) -> int:
    """Run one process to its end; its exit code."""
    process = await asyncio.create_subprocess_exec(sys.executable, "-m", "tests.chaos.run_effects", *map(str, words))
    return await process.wait()


@pytest.mark.slow(reason="starts ten processes")
async def test_effects_follow_every_end_exactly_once(records_url: str, peek: Peek):
    records = await open_records(records_url, SystemClock())
    source = await records.sources.add(NewSource("a", "https://a.example/"))
    codes = [await live(records_url, source.id, number, CHANCE_TO_DIE, MAX_RUNS) for number in range(DEATHS)]
    assert codes.count(-signal.SIGKILL) == DEATHS
    failed_by_kills = await peek.value("SELECT COUNT(*) FROM runs WHERE state = 'failed'")
    assert await live(records_url, source.id, DEATHS, 0, 5) == 0
    failed = await peek.value("SELECT COUNT(*) FROM runs WHERE state = 'failed'")
    judged = await peek.value("SELECT COUNT(*) FROM events WHERE move = 'fail_judged'")
    row = await records.sources.get(source.id)
    await records.schema.close()
    assert row is not None
    print(f"{DEATHS} kills, {failed} failed runs ({failed_by_kills} before the last process), {row.failures} counted")
    assert (row.failures, judged, await peek.value("SELECT COUNT(*) FROM run_effects")) == (failed, failed, 0)
    assert failed >= 5
