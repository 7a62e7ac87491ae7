"""Workers, from the parts of the house."""

from collections.abc import Callable, Sequence

from longline import __version__
from longline.engine.archive.page_reader import Archive
from longline.engine.archive.segment_writer import Keeper
from longline.engine.discovery.onsite_links import Spider
from longline.engine.discovery.outlinks import Outlinks
from longline.engine.fetch.fetcher import Fetcher, FetchParts, Witness
from longline.engine.fetch.robots import Rules
from longline.engine.fetch.sender import FetchSettings, Sender
from longline.engine.frontier.ask_for_work import Appeal
from longline.engine.frontier.claims import WorkerSettings
from longline.engine.frontier.plan_cache import Plans
from longline.engine.logs.run_log_writer import Journal
from longline.engine.parse import parse_worker as reparse
from longline.engine.parse.parse_worker import ParseWorker
from longline.engine.proxies.rotation import Exits
from longline.engine.worker.logging_reporter import Reader, TellingReporter
from longline.engine.worker.pipeline import Pipeline
from longline.engine.worker.reporter import Reporter
from longline.engine.worker.worker import Parts, Progress, Worker
from longline.parsers.article.content import promises_content
from longline.settings import Settings
from longline.wiring.house import House
from longline.wiring.parts.discovery import discovery
from longline.wiring.parts.sources import standing_runs


def fetch_worker(
    house: House,
    owner: int,
    *,
    parse: bool = True,
    watch: Callable[[Progress], None] | None = None,
    journal: Journal | None = None,
    witness: Witness | None = None,
    readers: Sequence[Reader] = (),
) -> Worker:
    """Return a worker that fetches, and parses what it fetched unless that is left to others; told of in the journal.

    The witness sees every answer. Readers look at pages that were reported, with or without a journal.
    """
    s = house.settings
    sending = FetchSettings(
        s.user_agent, s.connect_timeout, s.idle_timeout, s.request_timeout, s.max_body, s.referer, bool(s.render_url)
    )
    exits = Exits(house.ways, house.clock, s.proxy_sticky)
    sender = Sender(house.http, house.clock, sending, exits)
    rules = Rules(sender, house.clock)
    parts = Parts(
        lifecycle=house.lifecycle,
        pipeline=Pipeline(
            plans=Plans(house.records.runs, standing_runs(house)),
            fetcher=Fetcher(
                FetchParts(sender, rules, house.clock, house.politeness, house.records.tasks, witness), s.max_body
            ),
            parser=house.parser if parse else None,
            archive=Archive(house.records.tasks, house.blobs),
            clock=house.clock,
            in_words=house.indexes_itself,
        ),
        reporter=_reporter(house, owner, journal, readers),
        exits=exits,
        clock=house.clock,
        owner=owner,
        appeal=Appeal(house.call_for_work, house.clock),
    )
    return Worker(parts, WorkerSettings(concurrency=s.concurrency, lease=s.lease, idle_poll=s.claim_pause), watch)


def warc_info(settings: Settings) -> dict[str, str]:
    """Return the fields of warcinfo records."""
    return {"software": f"longline/{__version__}", "http-header-user-agent": settings.user_agent}


def _reporter(house: House, owner: int, journal: Journal | None, readers: Sequence[Reader]) -> Reporter:
    s = house.settings
    keeper = Keeper(house.blobs, house.records.segments, house.clock, owner, warc_info(s), requests=s.archive_requests)
    if journal is None and not readers:
        return Reporter(house.lifecycle, keeper, house.clock)
    return TellingReporter(house.lifecycle, keeper, house.clock, journal, *readers)


def page_readers(house: House) -> list[Reader]:
    """Return the readers of reported pages that the settings ask for: saved links, frontier links, discovery."""
    readers: list[Reader] = [Outlinks(house.records.links)] if house.settings.save_links else []
    if house.settings.frontier_links:
        readers.append(Spider(house.lifecycle, standing_runs(house), promises_content))
    if house.settings.discovery:
        readers.append(discovery(house))
    return readers


def parse_worker(house: House, owner: int) -> ParseWorker:
    """A worker that parses pages from the archive."""
    return ParseWorker(
        reparse.Parts(
            lifecycle=house.lifecycle,
            tasks=house.records.tasks,
            plans=Plans(house.records.runs, standing_runs(house)),
            blobs=house.blobs,
            parser=house.parser,
            clock=house.clock,
            owner=owner,
            lease=house.settings.lease,
            idle_poll=house.settings.claim_pause,
            at_once=max(1, 2 * house.settings.parse_processes),  # one is read while another is parsed
            in_words=house.indexes_itself,
        )
    )
