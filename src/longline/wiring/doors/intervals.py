"""Wiring of the interval API and of the loop that follows sources of another service."""

import asyncio
import logging
from functools import partial

from longline.drivers.extras import load_driver
from longline.engine.loop_supervisor import Loop, cancel_on_stop, chore, run_loops
from longline.services.discovery.links import DiscoveredLinks
from longline.services.frontier.standing_frontier import StandingFrontier
from longline.services.page_preview import PagePreviews
from longline.services.schedules.backfill import Backfill
from longline.services.schedules.run_history import Runs
from longline.services.schedules.slots import Slots
from longline.services.sources.source_event_handlers import SourceEventHandlers
from longline.services.sources.source_events import FORGET_INTERVAL_SECONDS, SourceListener
from longline.services.sources.trial_crawl import Trials
from longline.surfaces.intervals.door import IntervalServices
from longline.surfaces.intervals.jobs.jobs import JobServices
from longline.surfaces.intervals.jobs.scheduler import SchedulerServices
from longline.surfaces.intervals.links.links import DiscoveredServices
from longline.surfaces.intervals.previews import PreviewServices
from longline.surfaces.intervals.sources.sources import SourceServices
from longline.wiring.platform import Platform
from longline.wiring.subjects.schedules import schedule_services
from longline.wiring.subjects.sources import directory, source_service, standing_runs

log = logging.getLogger(__name__)


def source_events_loop(platform: Platform) -> Loop:
    """Return a loop that reads another service's events about sources, and keeps schedules in line with them."""
    records = platform.records
    handlers = SourceEventHandlers(
        partial(schedule_services, platform), records, directory(platform), platform.clock, records.handled_messages
    )

    async def listen(stop: asyncio.Event) -> None:
        messages = load_driver("longline.drivers.sources.redis_events").RedisSourceEvents(platform.settings.redis)
        listener = SourceListener(messages, records.handled_messages, handlers.by_type())
        chores = {"retention": chore(listener.forget, FORGET_INTERVAL_SECONDS), "events": chore(listener.once, 0.0)}
        try:
            # The stop does not wait for messages: unsettled ones are delivered again.
            await cancel_on_stop(partial(run_loops, chores))(stop)
        finally:
            await messages.close()

    return listen


def interval_services(platform: Platform) -> IntervalServices:
    """Return the services behind the interval API, without logs and streams, which a server adds."""
    records, clock, settings = platform.records, platform.clock, platform.settings
    schedules, source_schedules = schedule_services(platform, records)
    lease_ms = round(settings.schedule_lease * 1000)
    runs = Runs(records.history, records.schedules, records.counters, clock)
    sources = source_service(platform)
    previews = PagePreviews(platform.http, clock, settings.user_agent, platform.parser)
    links = DiscoveredLinks(records.links, schedules.make)
    return IntervalServices(
        jobs=JobServices(schedules, lease_ms),
        runs=runs,
        scheduler=SchedulerServices(runs, Slots(records.slots, records.schedules, clock), is_on=settings.scheduler),
        backfill=Backfill(records.items, records.schedules, clock, platform.call_schedulers),
        sources=SourceServices(sources, source_schedules, schedules),
        previews=PreviewServices(previews, Trials(previews, platform.parsers, platform.parser)),
        internal_secret=settings.internal_secret,
        standing_frontier=standing_frontier(platform),
        discovered=DiscoveredServices(links, lease_ms, clock.now),
    )


def standing_frontier(platform: Platform) -> StandingFrontier:
    """Return the frontier that takes single URLs, with the operator's politeness."""
    runs = standing_runs(platform)
    return StandingFrontier(platform.records, platform.lifecycle, platform.politeness, platform.signals, runs)
