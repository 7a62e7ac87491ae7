"""What is remembered, one small port for each noun."""

from dataclasses import dataclass

from longline.ports.records.bots import BotLook, Bots, BotSchedules, BotTasks
from longline.ports.records.candidates import Candidates
from longline.ports.records.curated import CuratedSources
from longline.ports.records.events import Events
from longline.ports.records.feeds import Feeds
from longline.ports.records.frontier import Frontier
from longline.ports.records.hands import Hands
from longline.ports.records.heard import Heard
from longline.ports.records.items import Items
from longline.ports.records.links import Links
from longline.ports.records.logs import Logs
from longline.ports.records.moves import Moves
from longline.ports.records.pages import Pages
from longline.ports.records.proxies import Pools, Proxies
from longline.ports.records.rhythms import Rhythms, Tallies
from longline.ports.records.runs import History, Runs
from longline.ports.records.schedules import Schedules
from longline.ports.records.schema import Schema
from longline.ports.records.segments import Segments
from longline.ports.records.sitemaps import Sitemaps
from longline.ports.records.sources import Sources
from longline.ports.records.standing import StandingFrontier
from longline.ports.records.tasks import Tasks
from longline.ports.records.ticks import Ticks
from longline.ports.records.workers import Workers
from longline.ports.search import Search


@dataclass(frozen=True, slots=True)
class Records:
    """One records engine, noun by noun; `search` is the index inside it.

    `frontier`, `hands`, `moves`, `ticks` and `bot_tasks` are for `engine/lifecycle.py` alone.
    """

    schema: Schema
    sources: Sources
    curated: CuratedSources
    schedules: Schedules
    runs: Runs
    history: History
    rhythms: Rhythms
    tallies: Tallies
    tasks: Tasks
    segments: Segments
    workers: Workers
    events: Events
    logs: Logs
    heard: Heard
    links: Links
    candidates: Candidates
    standing: StandingFrontier
    proxies: Proxies
    pools: Pools
    bots: Bots
    bot_schedules: BotSchedules
    bot_look: BotLook
    bot_tasks: BotTasks
    feeds: Feeds
    sitemaps: Sitemaps
    pages: Pages
    items: Items
    search: Search
    frontier: Frontier
    hands: Hands
    moves: Moves
    ticks: Ticks
