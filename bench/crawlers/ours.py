"""Longline with everything on, as its own command line runs it; with more workers, each is a process."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from bench.crawlers.order import Order, given, lap
from longline.cli.event_loop import run
from longline.drivers.process_lock import PROCESS_LOCKS_FOLDER
from longline.model.runs.crawl_bounds import CrawlBounds
from longline.model.runs.crawl_plan import CrawlPlan, Politeness
from longline.model.states import RunState
from longline.settings import Settings
from longline.settings.child_process import settings_as_environment
from longline.wiring import CrawlRequest, Watcher, crawl, open_platform
from longline.wiring.platform import migrate_tables

FAR = 1_000_000
"""Depth that no site has: every link is followed."""

WORKER = (sys.executable, "-m", "longline.cli", "worker", "--roles", "fetch,parse", "--leashed")


def main() -> None:
    """Crawl by the order."""
    order = given()
    settings = _settings(order)
    with ExitStack() as stack:
        if order.workers > 1:
            run(_migrate(settings))
        for number in range(1, order.workers):
            stack.enter_context(_other_worker(settings, number))
        with lap():
            result = run(crawl(settings, CrawlRequest(_plan(order)), Watcher()))
    if result.run.state != RunState.COMPLETED:
        raise SystemExit(f"the crawl ended as {result.run.state}: {result.fates}")


def _settings(order: Order) -> Settings:
    return Settings(
        data=Path(order.folder),
        database=order.database,
        concurrency=order.concurrency,
        egress_allow=("127.0.0.0/8",),
        log_level="error",
    )


def _plan(order: Order) -> CrawlPlan:
    return CrawlPlan(
        seeds=tuple(order.seeds),
        bounds=CrawlBounds(max_depth=FAR, hosts=tuple(order.hosts)),
        politeness=Politeness(delay_ms=0, concurrency=order.concurrency),
    )


async def _migrate(settings: Settings) -> None:
    async with open_platform(settings) as platform:
        await migrate_tables(platform, may_migrate=True)


@contextmanager
def _other_worker(settings: Settings, number: int) -> Iterator[None]:
    """Run one more worker on the same database, waiting for work by the time the lap begins."""
    worker = subprocess.Popen(WORKER, stdin=subprocess.PIPE, env={**os.environ, **settings_as_environment(settings)})
    try:
        while len(list((settings.data / PROCESS_LOCKS_FOLDER).glob("*"))) < number:
            if worker.poll() is not None:
                raise SystemExit("a worker process ended before the crawl began")
            time.sleep(0.02)
        yield
    finally:
        worker.communicate()


if __name__ == "__main__":
    main()
