"""Schedules: their services, the scheduler and its loops."""

import asyncio
import logging

from longline.engine.lifecycle.schedules import ScheduleLifecycle
from longline.engine.logs.run_log_writer import RunLogWriter
from longline.engine.loop_supervisor import Loop, chore, run_loops
from longline.engine.schedules.scheduler import (
    FOLLOW_INTERVAL_SECONDS,
    HAND_OVER_TIMEOUT_SECONDS,
    Scheduler,
    SchedulerParts,
    SchedulerSettings,
)
from longline.engine.sources.crawl_plan import CrawlRules
from longline.model.fetch.user_agents import BROWSER_USER_AGENTS
from longline.model.signal_topics import DONE_TOPIC, DUE_TOPIC
from longline.ports.records.schedules import ScheduleStores
from longline.services.schedules.schedules import Schedules
from longline.services.sources.source_schedules import SourceSchedules
from longline.wiring.platform import Platform
from longline.wiring.signals import listener
from longline.wiring.subjects.sources import directory

log = logging.getLogger(__name__)


def schedule_services(platform: Platform, stores: ScheduleStores) -> tuple[Schedules, SourceSchedules]:
    """Return the services of schedules, on the stores of the platform or on the stores for one message."""
    lifecycle, runs, call = ScheduleLifecycle(stores), platform.records.runs, platform.call_schedulers
    return (
        Schedules(lifecycle, stores.schedules, runs, platform.page_change_store, platform.clock, call),
        SourceSchedules(directory(platform), stores.schedules, runs, lifecycle, platform.clock, call),
    )


def scheduler(platform: Platform, owner: int, run_log: RunLogWriter | None = None) -> Scheduler:
    """Return a scheduler that holds its runs as `owner`, and begins their logs."""
    s = platform.settings
    parts = SchedulerParts(
        schedule_lifecycle=ScheduleLifecycle(platform.records),
        lifecycle=platform.lifecycle,
        directory=directory(platform),
        parsers=platform.parsers,
        history=platform.records.history,
        page_change_store=platform.page_change_store,
        counters=platform.records.counters,
        clock=platform.clock,
        owner=owner,
        see=run_log.begin if run_log else lambda _: None,
    )
    lease, longest = round(s.schedule_lease * 1000), round(s.run_timeout * 1000)
    rules = CrawlRules(
        robots=s.respect_robots,
        max_redirects=s.max_redirects,
        max_attempts=s.page_retries + 1,
        retry_seconds=s.page_retry_delay,
        max_url=s.max_url,
        user_agents=BROWSER_USER_AGENTS if s.vary_user_agent else (),
        allowed=s.allowed_domains,
        disallowed=s.disallowed_domains,
        readability=s.readability,
        delay_ms=round(s.schedule_delay * 1000),
        jitter_ms=round(s.random_delay * 1000),
    )
    url = round(s.request_timeout * 1000)
    return Scheduler(parts, SchedulerSettings(s.max_runs, lease, longest, url, s.max_requests or None, rules))


def scheduler_loop(platform: Platform, owner: int, run_log: RunLogWriter | None = None) -> Loop:
    """Return the loop that starts due schedules, follows their runs and renews their leases."""
    scheduling, s = scheduler(platform, owner, run_log), platform.settings
    called, done = asyncio.Event(), asyncio.Event()

    async def schedule(stop: asyncio.Event) -> None:
        chores = {
            "poll": chore(scheduling.poll, s.poll, called),
            "calls": listener(platform, DUE_TOPIC, called.set),
            "follow": chore(scheduling.follow, min(FOLLOW_INTERVAL_SECONDS, s.poll), done),
            "done": listener(platform, DONE_TOPIC, done.set),
            "renew": chore(scheduling.renew, s.schedule_lease / 5),
        }
        try:
            await run_loops(chores, stop)
        finally:
            try:
                async with asyncio.timeout(HAND_OVER_TIMEOUT_SECONDS):
                    await scheduling.hand_over_runs()
            except TimeoutError:
                log.warning("schedule leases not released before the shutdown deadline")

    return schedule
