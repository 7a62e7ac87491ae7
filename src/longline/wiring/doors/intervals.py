"""The planner and the interval crawler's door, from the parts of the house."""

import asyncio
import logging
from functools import partial

from longline.drivers.sources.redis_events import RedisSourceEvents
from longline.engine.lifecycle.schedules import ScheduleLifecycle
from longline.engine.loops import Loop, chore, cut_short, run_loops
from longline.parsers.article.article import document
from longline.plugins import Page
from longline.services.discovery.links import DiscoveredLinks
from longline.services.page_preview import PagePreviews
from longline.services.schedules.backfill import Backfill
from longline.services.schedules.runs import Runs
from longline.services.schedules.schedules import Schedules, Slots
from longline.services.sources.source_event_handlers import SourceEventHandlers
from longline.services.sources.source_events import SourceListener
from longline.services.sources.source_schedules import SourceSchedules
from longline.services.sources.sources import Sources
from longline.services.sources.trial_crawl import TrialExtract, Trials
from longline.services.standing_frontier import StandingFrontier
from longline.surfaces.intervals.links import DiscoveredServices
from longline.surfaces.intervals.services import IntervalServices
from longline.wiring.house import House
from longline.wiring.parts.schedules import FORGET_EVERY
from longline.wiring.parts.sources import directory, standing_runs

log = logging.getLogger(__name__)


def source_events_loop(house: House) -> Loop:
    """Return a loop that reads another service's events about sources, and keeps schedules in line with them."""
    behind, records = desk(house), house.records
    asked = directory(house)
    reactions = SourceEventHandlers(behind.sync, behind.schedules, records.schedules, asked, house.clock, records.heard)

    async def listen(stop: asyncio.Event) -> None:
        messages = RedisSourceEvents(house.settings.redis)
        listener = SourceListener(messages, records.heard, reactions.by_type())
        chores = {"heard": chore(listener.forget, FORGET_EVERY), "events": chore(listener.once, 0.0)}
        try:
            # The stop does not wait for messages: unsettled ones are delivered again.
            await cut_short(partial(run_loops, chores))(stop)
        finally:
            await messages.close()

    return listen


def extract(page: Page) -> TrialExtract:
    """Return the document that a page would become."""
    made = document(page)
    return TrialExtract(made.fields, made.method, made.skipped)


def desk(house: House) -> IntervalServices:
    """Return the services behind the interval crawler's door."""
    records, clock, timetable = house.records, house.clock, ScheduleLifecycle(house.records)
    schedules = Schedules(timetable, records.schedules, records.runs, house.rhythms, clock, house.call_planners)
    glances = PagePreviews(house.http, clock, house.settings.user_agent)
    return IntervalServices(
        schedules=schedules,
        slots=Slots(records.schedules, clock),
        runs=Runs(records.history, records.schedules, records.tallies, clock),
        sources=Sources(records.sources, records.feeds, clock, curated=house.curator is not None),
        sync=SourceSchedules(directory(house), records.schedules, records.runs, timetable, clock, house.call_planners),
        glances=glances,
        trials=Trials(glances, extract),
        backfill=Backfill(records.items, schedules),
        lease_ms=round(house.settings.schedule_lease * 1000),
        planning=house.settings.scheduler,
        internal_secret=house.settings.internal_secret,
    )


def standing_frontier(house: House) -> StandingFrontier:
    """Return the frontier that takes single URLs, with the operator's politeness."""
    runs = standing_runs(house)
    return StandingFrontier(house.records, house.lifecycle, house.politeness, house.signals, runs)


def discovered_services(house: House) -> DiscoveredServices:
    """Return the service for links from sources to other sites."""
    behind = desk(house)
    links = DiscoveredLinks(house.records.links, behind.schedules.make)
    return DiscoveredServices(links, behind.lease_ms, house.clock.now)
