"""Ticks over processes that die: schedulers and workers on one PostgreSQL, one of them killed every few seconds.

`python -m tests.chaos.scheduler` runs the large form and prints its figures. The check reads rows alone: every run of a
schedule must be due at the first time on its phase after the schedule was last released, so that a tick without a run
was superseded, and no tick ran twice.
"""

import argparse
import asyncio
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import asyncpg

from longline.drivers.clock import SystemClock
from longline.drivers.records import open_records
from longline.model.ids import new_id
from longline.model.schedules.schedule import NewSchedule, ScheduleSpec
from longline.model.sources.source import NewSource
from tests.chaos.politeness import running_origin
from tests.servers import running_postgres
from tests.servers.program import Program

STALE_MS = 4_000
"""Milliseconds without a renewal after which a schedule is reclaimed."""

SLACK_MS = 5_000
"""Milliseconds that a scheduler may take from its read of a run to the write that moves the schedule on."""

HOSTS = 16
LOOKS = 240


class Size(NamedTuple):
    """The amount of work and the duration. Times are seconds."""

    schedules: int
    interval: float
    seconds: float
    kill_every: float
    schedulers: int = 2
    workers: int = 3


LARGE = Size(schedules=2000, interval=60, seconds=180, kill_every=5)
SMALL = Size(schedules=60, interval=2, seconds=6, kill_every=2, schedulers=2, workers=1)


@dataclass
class Verdict:
    """The results in the rows."""

    kills: int = 0
    runs: int = 0
    completed: int = 0
    recovered: int = 0
    interrupted: int = 0
    superseded: int = 0
    never_ran: int = 0
    stuck: int = 0
    recovery: float = 0.0
    left_running: int = 0
    half_done: int = 0
    wrong: list[tuple[int, int, int]] = field(default_factory=list)
    exits: list[int] = field(default_factory=list)


class Crew:
    """Processes, each as on a machine of its own: none can see that another is dead."""

    def __init__(self, database: str, folder: Path) -> None:
        self._database, self._folder = database, folder
        self._running: list[tuple[str, subprocess.Popen[bytes]]] = []
        self._made = 0

    def hire(self, kind: str) -> None:
        """Start a scheduler with its server, or a worker."""
        self._made += 1
        environment = os.environ | {
            "LONGLINE_DATA": str(self._folder / f"machine{self._made}"),
            "LONGLINE_DATABASE": self._database,
            "LONGLINE_OBJECTS": (self._folder / "objects").as_uri(),
            "LONGLINE_EGRESS_ALLOW": "127.0.0.0/8",
            "LONGLINE_LOG_LEVEL": "error",
            "LONGLINE_LEASE": "3s",
            "LONGLINE_POLL": "500ms",
            "LONGLINE_SCHEDULE_LEASE": f"{STALE_MS}ms",
            "LONGLINE_MAX_RUNS": "400",
            "LONGLINE_PORT": "0",
        }
        words = ["up"] if kind == "scheduler" else ["worker", "--roles", "fetch,parse"]
        process = Program(words, env=environment, stdout=subprocess.DEVNULL)
        self._running.append((kind, process))

    def kill_one(self) -> None:
        """Kill one of them with SIGKILL, and start another of its kind."""
        kind, victim = self._running.pop(random.randrange(len(self._running)))
        victim.send_signal(signal.SIGKILL)
        victim.wait()
        self.hire(kind)

    def dismiss(self) -> list[int]:
        """Stop all processes, and return their exit codes."""
        for _, process in self._running:
            process.terminate()
        return [process.wait(timeout=120) for _, process in self._running]


async def storm(size: Size) -> Verdict:
    """Run it all and judge."""
    verdict = Verdict()
    with running_postgres() as server, server.fresh_database() as url, tempfile.TemporaryDirectory() as folder:
        with running_origin(0.0) as port:
            await fill(url, size, port)
            crew = Crew(url, Path(folder))
            for kind, count in (("scheduler", size.schedulers), ("worker", size.workers)):
                for _ in range(count):
                    crew.hire(kind)
            deadline = time.monotonic() + size.seconds
            while time.monotonic() < deadline:
                await asyncio.sleep(size.kill_every)
                crew.kill_one()
                verdict.kills += 1
            verdict.stuck, verdict.recovery = await recovered(url)
            verdict.exits = await asyncio.to_thread(crew.dismiss)
        await judge(url, verdict, round(size.interval * 1000))
    return verdict


async def fill(url: str, size: Size, port: int) -> None:
    """Make schedules of as many sources, spread over one interval."""
    records = await open_records(url, SystemClock())
    try:
        await records.schema.migrate()
        start, interval = SystemClock().now() + 3000, round(size.interval * 1000)
        for number in range(size.schedules):
            base = f"http://127.0.1.{number % HOSTS + 1}:{port}/s{number}"
            source = await records.sources.add(NewSource(f"s{number}", base, crawl='{"rate_limit": "0"}'))
            terms = ScheduleSpec(url=base, source_ref=source.public_id, adaptive=False, max_retries=1_000_000)
            due = start + number * interval // size.schedules
            await records.schedules.add(
                NewSchedule(new_id(), base, source.id, interval_ms=interval, next_due=due, terms=terms)
            )
    finally:
        await records.schema.close()


async def recovered(url: str) -> tuple[int, float]:
    """Return the number of schedules that were not reclaimed in good time, and the time until there were none.

    The last process needs some seconds to start; the wait lasts until each schedule has had a whole run.
    """
    begun = time.monotonic()
    await asyncio.sleep(2 * STALE_MS / 1000)
    for _ in range(LOOKS):
        left = await stuck(url)
        if not left and not await _value(url, UNDONE):
            break
        await asyncio.sleep(0.5)
    return left, round(time.monotonic() - begun, 1)


UNDONE = """
SELECT COUNT(*) FROM schedules s
WHERE NOT EXISTS (SELECT 1 FROM runs r WHERE r.schedule_id = s.id AND r.state = 'completed')
"""
"""Schedules that did not complete a run yet."""


async def stuck(url: str) -> int:
    """Return the number of running schedules with a lease that lapsed too long ago."""
    now = time.time_ns() // 1_000_000
    return int(await _value(url, f"SELECT COUNT(*) FROM schedules WHERE lease_until < {now - STALE_MS}"))


async def judge(url: str, verdict: Verdict, interval: int) -> None:
    """Follow every schedule from run to run."""
    connection = await asyncpg.connect(url)
    try:
        schedules = await connection.fetch("SELECT id, anchor, state, owner, runs_made FROM schedules")
        runs = await connection.fetch(
            "SELECT schedule_id, number, due, state, error, completed FROM runs_now"
            " WHERE number IS NOT NULL ORDER BY 1, 2"
        )
        let_go = await connection.fetch(
            "SELECT subject, at FROM events WHERE noun = 'schedule' AND was = 'running' AND became <> was ORDER BY id"
        )
    finally:
        await connection.close()
    # A schedule without an owner was handed over in good order.
    verdict.left_running = sum(row["state"] == "running" and row["owner"] is not None for row in schedules)
    verdict.never_ran = sum(not row["runs_made"] for row in schedules)
    by_schedule: dict[int, tuple[list[Any], list[int]]] = {row["id"]: ([], []) for row in schedules}
    for run in runs:
        by_schedule[run["schedule_id"]][0].append(run)
    for event in let_go:
        by_schedule[event["subject"]][1].append(event["at"])
    for row in schedules:
        own_runs, moments = by_schedule[row["id"]]
        follow(verdict, row["anchor"], interval, own_runs, moments)


def follow(verdict: Verdict, anchor: int, interval: int, runs: list[Any], moments: list[int]) -> None:
    """Follow one schedule's runs, and the moments at which it was released after each of them."""
    verdict.runs += len(runs)
    for n, run in enumerate(runs):
        verdict.completed += run["state"] == "completed"
        verdict.recovered += run["state"] == "failed"
        verdict.interrupted += run["state"] == "cancelled"
        verdict.half_done += run["state"] == "completed" and run["completed"] != 1
        expected = (
            {anchor}
            if n == 0
            else {
                regular(anchor, interval, moments[n - 1]),
                regular(anchor, interval, moments[n - 1] - SLACK_MS),
            }
        )
        on_time = run["number"] == n + 1 and min(expected) <= run["due"] <= max(expected)
        again = bool(n) and run["due"] <= runs[n - 1]["due"]
        if again or not on_time or (run["due"] - anchor) % interval:
            verdict.wrong.append((run["schedule_id"], run["number"], run["due"] - anchor))
        if n:
            verdict.superseded += (run["due"] - runs[n - 1]["due"]) // interval - 1


def regular(anchor: int, interval: int, moment: int) -> int:
    """Return the first time of a phase after a moment."""
    return anchor + ((moment - anchor) // interval + 1) * interval


async def _value(url: str, sql: str) -> Any:
    connection = await asyncpg.connect(url)
    try:
        return await connection.fetchval(sql)
    finally:
        await connection.close()


def main() -> None:
    """Run the large form, or another size of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name, value in LARGE._asdict().items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=type(value), default=value)
    verdict = asyncio.run(storm(Size(**vars(parser.parse_args()))))
    for name, value in vars(verdict).items():
        print(f"{name:12} {value}")
    # A process that is stopped before it has started dies of the signal.
    verdict.exits = [code for code in verdict.exits if code != -signal.SIGTERM]
    sys.exit(bool(verdict.wrong or verdict.stuck or verdict.left_running or verdict.half_done or any(verdict.exits)))


if __name__ == "__main__":
    main()
