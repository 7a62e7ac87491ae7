"""Run ends and their effects in a process that kills itself around random commits.

`python -m tests.chaos.run_effects URL SOURCE SEED CHANCE RUNS` is one such process: it fails runs of a source and
carries out their effects. With the chance CHANCE a transaction ends in SIGKILL, before its commit or after it.
"""

import asyncio
import os
import random
import signal
import sys
from collections.abc import Awaitable, Callable
from typing import Any

from longline.drivers.clock import SystemClock
from longline.drivers.records import open_records
from longline.drivers.records.database import Database, Transaction
from longline.engine.frontier.admission import seed
from longline.engine.lifecycle.moves import Lifecycle
from longline.engine.runs.end_effects import RunEffectWorker
from longline.model.ids import new_id
from longline.model.runs.crawl_plan import CrawlPlan
from longline.model.runs.end_effect import PlannedEffect, RunEffectKind
from longline.model.runs.end_judgement import EndRules
from longline.model.runs.run import NewRun, RunKind
from longline.model.states import TaskState
from longline.ports.records import Records
from longline.ports.records.frontier.frontier import ClaimRequest, ReportBatch
from tests.drivers.records.world import ended, host_report

LEASE_MS = 300
END = EndRules("any", (PlannedEffect(RunEffectKind.SOURCE_HEALTH),))


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def make_mortal(database: Database, chance: Callable[[], float], chance_to_die: float) -> None:
    """Let transactions of a database end in SIGKILL, before or after their commits."""
    transact = database.transact

    async def mortal(work: Callable[[Transaction], Awaitable[Any]]) -> Any:
        dies, before = chance() < chance_to_die, chance() < 0.5

        async def worked(tx: Transaction) -> Any:
            result = await work(tx)
            if dies and before:
                _die()
            return result

        result = await transact(worked)
        if dies:
            _die()
        return result

    database.transact = mortal  # type: ignore[method-assign]


async def fail_a_run(records: Records, lifecycle: Lifecycle, source_id: int) -> None:
    """Begin a run with one URL on a host of its own, and fail the URL."""
    plan = CrawlPlan((f"https://{new_id()}.example/",), end=END)
    run = NewRun(new_id(), RunKind.CRAWL, plan.text(), plan.seeds[0], source_id=source_id)
    await lifecycle.runs.begin(run, [seed(plan.seeds[0], 0, plan)], "chaos")
    leases = await lifecycle.claim(ClaimRequest(os.getpid(), 10, 10, 60_000))
    reports = [host_report(one, [ended(t, TaskState.FAILED, "dns") for t in one.tasks]) for one in leases]
    await lifecycle.report(ReportBatch(reports))


async def drain(records: Records, worker: RunEffectWorker) -> None:
    """Carry out effects until none is left; those of killed processes wait for their leases."""
    while await records.run_effects.waiting():
        await worker.once()
        await asyncio.sleep(0.05)


async def main(url: str, source_id: int, number: int, chance_to_die: float, runs: int) -> None:
    """Fail runs and carry out their effects."""
    records = await open_records(url, SystemClock())
    dice = random.Random(number)
    make_mortal(records.runs._database, dice.random, chance_to_die)  # type: ignore[attr-defined]
    lifecycle = Lifecycle(records)
    worker = RunEffectWorker(
        records.run_effects, {RunEffectKind.SOURCE_HEALTH: records.run_effects.note_health}, lease_ms=LEASE_MS
    )
    for _ in range(runs):
        await fail_a_run(records, lifecycle, source_id)
        await worker.once()
    await drain(records, worker)
    await records.schema.close()


if __name__ == "__main__":
    address, source, number, chance, amount = sys.argv[1:]
    asyncio.run(main(address, int(source), int(number), float(chance), int(amount)))
