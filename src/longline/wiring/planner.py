"""The planner and the interval crawler's door, from the parts of the house."""

import asyncio
import logging
from functools import partial

from longline.drivers.source_events import RedisSourceEvents
from longline.engine.directory import CrawlRules
from longline.engine.journal import Journal
from longline.engine.lifecycle import Timetable
from longline.engine.runtime import Loop, chore, cut_short, run_loops
from longline.engine.upkeep.planner import Parts, Planner, PlannerSettings
from longline.engine.upkeep.pruner import Pruner
from longline.parsers.article import document
from longline.plugins import Page
from longline.services.backfill import Backfill
from longline.services.glances import Glances
from longline.services.runs import Runs
from longline.services.schedules import Schedules, Slots
from longline.services.source_events import SourceListener
from longline.services.source_reactions import SourceReactions
from longline.services.sources import Sources
from longline.services.sync import Sync
from longline.services.trials import Extract, Trials
from longline.surfaces.intervals import Desk
from longline.wiring.calls import listener
from longline.wiring.directory import directory
from longline.wiring.house import DUE, House

log = logging.getLogger(__name__)

FOLLOW_EVERY = 1.0
FORGET_EVERY = 3600.0
LAST_WRITES = 10.0
"""Seconds that the last writes of a planner may take, whatever else is going down."""

BROWSERS = (
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:128.0) Gecko/20100101 Firefox/128.0",
    "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:128.0) Gecko/20100101 Firefox/128.0",
)
"""Names to go by in turn, where the operator wants that."""


def planner(house: House, owner: int, journal: Journal | None = None) -> Planner:
    """A planner that holds what it starts under that name, and has the logs of runs begun with them."""
    s = house.settings
    parts = Parts(
        timetable=Timetable(house.records),
        lifecycle=house.lifecycle,
        directory=directory(house),
        history=house.records.history,
        rhythms=house.rhythms,
        tallies=house.records.tallies,
        clock=house.clock,
        owner=owner,
        see=journal.see if journal else lambda _: None,
    )
    lease, longest = round(s.schedule_lease * 1000), round(s.run_timeout * 1000)
    rules = CrawlRules(
        robots=s.respect_robots,
        max_redirects=s.max_redirects,
        max_attempts=s.page_retries + 1,
        retry_seconds=s.page_retry_delay,
        max_url=s.max_url,
        user_agents=BROWSERS if s.vary_user_agent else (),
        allowed=s.allowed_domains,
        disallowed=s.disallowed_domains,
        readability=s.readability,
        delay_ms=round(s.schedule_delay * 1000),
        jitter_ms=round(s.random_delay * 1000),
    )
    url = round(s.request_timeout * 1000)
    return Planner(parts, PlannerSettings(s.max_runs, lease, longest, url, s.max_requests or None, rules))


def planner_loops(house: House, owner: int, journal: Journal | None = None) -> dict[str, Loop]:
    """What fires schedules, and what forgets old runs."""
    planning, s, called = planner(house, owner, journal), house.settings, asyncio.Event()

    async def plan(stop: asyncio.Event) -> None:
        chores = {
            "poll": chore(planning.poll, s.poll, called),
            "calls": listener(house, DUE, called.set),
            "follow": chore(planning.follow, min(FOLLOW_EVERY, s.poll)),
            "renew": chore(planning.renew, s.schedule_lease / 5),
        }
        try:
            await run_loops(chores, stop)
        finally:
            try:
                async with asyncio.timeout(LAST_WRITES):
                    await planning.leave()
            except TimeoutError:
                log.warning("could not let go of every schedule in time")

    return {
        "planner": plan,
        "pruner": chore(Pruner(house.records.history, house.records.candidates, house.clock).once, s.cleanup),
    }


def source_events_loop(house: House) -> Loop:
    """Hears what another service says of sources, and keeps schedules in line with it."""
    behind, records = desk(house), house.records
    asked = directory(house)
    reactions = SourceReactions(behind.sync, behind.schedules, records.schedules, asked, house.clock, records.heard)

    async def listen(stop: asyncio.Event) -> None:
        messages = RedisSourceEvents(house.settings.redis)
        listener = SourceListener(messages, records.heard, reactions.by_type())
        chores = {"heard": chore(listener.forget, FORGET_EVERY), "events": chore(listener.once, 0.0)}
        try:
            # Nobody waits for messages at the end: what is not settled is handed out again.
            await cut_short(partial(run_loops, chores))(stop)
        finally:
            await messages.close()

    return listen


def extract(page: Page) -> Extract:
    """The document that a page would become."""
    made = document(page)
    return Extract(made.fields, made.method, made.skipped)


def desk(house: House) -> Desk:
    """The services behind the interval crawler's door."""
    records, clock, timetable = house.records, house.clock, Timetable(house.records)
    schedules = Schedules(timetable, records.schedules, records.runs, house.rhythms, clock, house.call_planners)
    glances = Glances(house.http, clock, house.settings.user_agent)
    return Desk(
        schedules=schedules,
        slots=Slots(records.schedules, clock),
        runs=Runs(records.history, records.schedules, records.tallies, clock),
        sources=Sources(records.sources, records.feeds, clock, curated=house.curator is not None),
        sync=Sync(directory(house), records.schedules, records.runs, timetable, clock, house.call_planners),
        glances=glances,
        trials=Trials(glances, extract),
        backfill=Backfill(records.items, schedules),
        lease_ms=round(house.settings.schedule_lease * 1000),
        planning=house.settings.scheduler,
        internal_secret=house.settings.internal_secret,
    )
