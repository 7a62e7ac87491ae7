"""What is remembered, one small port for each noun."""

from dataclasses import dataclass

from longline.ports.records.archive import Pages, Segments
from longline.ports.records.bots import BotLook, Bots, BotSchedules, BotTasks
from longline.ports.records.discovery import Candidates, Links
from longline.ports.records.feeds import Feeds, Sitemaps
from longline.ports.records.frontier import Frontier, Hands, Moves, Tasks, Workers
from longline.ports.records.logs import Events, Logs
from longline.ports.records.proxies import Pools, Proxies
from longline.ports.records.runs import History, Runs
from longline.ports.records.schedules import Rhythms, Schedules, Tallies, Ticks
from longline.ports.records.schema import Schema
from longline.ports.records.search import Items
from longline.ports.records.sources import CuratedSources, Heard, Sources
from longline.ports.records.standing_frontier import StandingFrontier
from longline.ports.search import Search


@dataclass(frozen=True, slots=True)
class Records:
    """One records engine, noun by noun; `search` is the index inside it.

    `frontier`, `hands`, `moves`, `ticks` and `bot_tasks` are for `engine/lifecycle/moves.py` alone.
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
