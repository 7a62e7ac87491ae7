"""The plans of standing runs, made from the settings of the standing frontier."""

import asyncio
from pathlib import Path

from longline.engine.loop_supervisor import run_loops
from longline.model.frontier.standing_frontier import NEVER_DUE_MS
from longline.model.runs.run import RunKind
from longline.settings import Settings
from longline.wiring.platform import migrate_tables, open_platform
from longline.wiring.subjects.feeds import remote_source_loop
from longline.wiring.subjects.sources import standing_runs
from tests.servers.source_manager import SECRET, running_manager


async def test_the_plan_of_a_standing_run_has_the_values_of_the_settings(tmp_path: Path) -> None:
    wanted = Settings(data=tmp_path, frontier_attempts=7, frontier_redirects=2, delay=0.5, readability=True)
    async with open_platform(wanted) as platform:
        await migrate_tables(platform, may_migrate=True)
        runs = standing_runs(platform)
        plan = (await runs.get(RunKind.STANDING_MANUAL, "s")).plan
        assert (plan.retries.max_attempts, plan.fetch.max_redirects, plan.politeness.delay_ms, runs.due) == (
            7,
            2,
            500,
            0,
        )
        assert (plan.config["last_resort"], plan.config["readability"]) == ("article", True)


async def test_tasks_of_a_frontier_that_is_off_are_never_due(tmp_path: Path) -> None:
    async with open_platform(Settings(data=tmp_path, frontier=False)) as platform:
        assert standing_runs(platform).due == NEVER_DUE_MS


async def test_a_service_that_hangs_does_not_delay_the_stop(tmp_path: Path) -> None:
    with running_manager() as manager:
        manager.trouble = lambda _: (500, b"") if manager.closing.wait(60) else None
        async with open_platform(
            Settings(data=tmp_path, sources_url=manager.url, jwt_secret=SECRET, feeds=True)
        ) as platform:
            await migrate_tables(platform, may_migrate=True)
            stop = asyncio.Event()
            async with asyncio.timeout(20):  # less than the deadline of a request
                running = asyncio.create_task(run_loops({"remote sources": remote_source_loop(platform)}, stop))
                await asyncio.sleep(0.5)
                stop.set()
                await running
