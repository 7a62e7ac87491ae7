"""Chains of recurring tasks over five intervals with two schedulers, one of which is killed in each interval.

`python -m tests.chaos.recrawl_chain` runs it with 50 tasks on PostgreSQL; the suite with fewer. The schedulers are
processes on the test clock: each gets the time, makes next generations, and one dies at a random moment.
"""

import asyncio
import random
import subprocess
import sys
import time
from contextlib import ExitStack
from typing import Any

from msgspec.structs import replace

from longline.drivers.records import open_records
from longline.engine.lifecycle.tasks import TaskLifecycle, TaskOrder
from longline.engine.recrawls.recrawler import Recrawler
from longline.model.recrawls.recrawl_lists import RecrawlQuery
from longline.ports.records import Records
from longline.testing.clock import FakeClock
from tests.drivers.records.audit import faults
from tests.drivers.records.migrated import migrate
from tests.drivers.records.peek import Peek
from tests.drivers.records.recrawls.world import DAY_MS, recrawl, shop, submit
from tests.drivers.records.world import claim, ended, host_report, report
from tests.servers import running_postgres

TASKS, INTERVALS = 50, 5
MAX_LIFE_SECONDS = 0.25
"""Longest life of the scheduler that is killed, from its first output on."""

HISTORY = """
SELECT id, url_hash, generation, rest, started_at, ended_at, created_at FROM recrawls WHERE NOT head ORDER BY id
"""


async def schedule(url: str, now: int) -> None:
    """Run a scheduler at this time: make all due generations."""
    records = await open_records(url, FakeClock(now))
    print("ready", flush=True)
    await Recrawler(records, TaskLifecycle(records)).once()
    await records.schema.close()


async def run(url: str, tasks: int, intervals: int = INTERVALS, seed: int = 1) -> dict[str, Any]:
    """Crawl recurring tasks for some intervals, and return the figures."""
    await migrate(url)
    clock, chance = FakeClock(), random.Random(seed)
    records, looking = await open_records(url, clock), Peek(url)
    of_shop = await shop(records)
    await submit(records, *(recrawl(of_shop, f"/{number}") for number in range(tasks)))
    await crawl(records, clock)
    killed, history = 0, await looking.rows(HISTORY)
    for _ in range(intervals):
        clock.advance(DAY_MS / 1000)
        killed += await asyncio.to_thread(one_interval, url, clock.now(), chance)
        await crawl(records, clock)
        now = await looking.rows(HISTORY)
        assert now[: len(history)] == history, "rows of earlier generations are as they were"
        history = now
    figures = await checked(records, looking, clock, tasks, intervals)
    await records.schema.close()
    await looking.close()
    return figures | {"schedulers killed before their end": killed}


async def checked(records: Records, looking: Peek, clock: FakeClock, tasks: int, intervals: int) -> dict[str, Any]:
    """Compare the generations, and cancel all heads: no chain goes on."""
    rows = await looking.rows("SELECT generation, COUNT(*) FROM recrawls GROUP BY generation ORDER BY generation")
    assert rows == [(generation, tasks) for generation in range(intervals + 1)], rows
    assert await faults(looking, clock.now()) == []
    heads = [row[0] for row in await looking.rows("SELECT id FROM recrawls WHERE head ORDER BY id")]
    await TaskLifecycle(records).move_all(TaskOrder("cancel", "person"), heads)
    clock.advance(3 * DAY_MS / 1000)
    assert await records.generations.succeed(100) == 0
    total = (await records.recrawls.find(RecrawlQuery(), limit=1)).total
    return {"successors": total - tasks, "generations": f"1 to {intervals}", "after cancellation": 0}


def one_interval(url: str, now: int, chance: random.Random) -> int:
    """Let two schedulers work at once and kill one of them; whether it died before its end."""
    command = [sys.executable, "-m", "tests.chaos.recrawl_chain", "schedule", url, str(now)]
    with ExitStack() as stack:
        both = [stack.enter_context(subprocess.Popen(command, stdout=subprocess.PIPE, text=True)) for _ in range(2)]
        victim = chance.choice(both)
        assert victim.stdout is not None
        victim.stdout.readline()
        time.sleep(chance.uniform(0, MAX_LIFE_SECONDS))
        was_alive = victim.poll() is None
        victim.kill()
        codes = [process.wait(60) for process in both]
    assert codes[1 - both.index(victim)] == 0, codes
    return int(was_alive)


async def crawl(records: Records, clock: FakeClock) -> None:
    """Let a worker complete everything that is due."""
    for lease in (await claim(records, tasks=1000)).values():
        outcomes = [replace(ended(task, began_at=clock.now()), at=clock.now()) for task in lease.tasks]
        await report(records, host_report(lease, outcomes))


def main() -> None:
    """Run it on PostgreSQL; with `schedule`, be one of its schedulers."""
    if sys.argv[1:2] == ["schedule"]:
        asyncio.run(schedule(sys.argv[2], int(sys.argv[3])))
        return
    with running_postgres() as server, server.fresh_database() as url:
        for name, figure in asyncio.run(run(url, TASKS)).items():
            print(f"{name}: {figure}")


if __name__ == "__main__":
    main()
