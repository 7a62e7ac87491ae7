"""Workers, from the parts of the house."""

from collections.abc import Callable

from longline import __version__
from longline.engine.archive.page_reader import PageReader
from longline.engine.archive.segment_writer import SegmentWriter
from longline.engine.discovery.onsite_links import OnsiteLinks
from longline.engine.discovery.outlinks import Outlinks
from longline.engine.downloads.disputed_files import DisputedFiles
from longline.engine.downloads.stage import DownloadStage
from longline.engine.fetch.fetcher import Fetcher, FetchParts, ResponseObserver
from longline.engine.fetch.login_sessions import SessionParts, Sessions
from longline.engine.fetch.request_sender import FetchSettings, Sender
from longline.engine.fetch.robots import RobotsRules
from longline.engine.fetch.run_credentials import RunCredentials
from longline.engine.frontier.claims import WorkerSettings
from longline.engine.frontier.plan_cache import PlanCache
from longline.engine.frontier.work_requests import WorkRequest
from longline.engine.logs.run_log_writer import RunLogWriter
from longline.engine.parse import parse_worker as reparse
from longline.engine.parse.parse_worker import ParseWorker
from longline.engine.parse.report_additions import Contributor
from longline.engine.proxies.rotation import ProxyRotation
from longline.engine.worker.fetch_metrics import FetchMetrics
from longline.engine.worker.page_log import PageLog
from longline.engine.worker.pipeline import Pipeline
from longline.engine.worker.reporter import Reporter, ReportObserver, ReportParts
from longline.engine.worker.worker import Progress, Worker, WorkerParts
from longline.parsers.article.content import is_content_url
from longline.settings import Settings
from longline.wiring.house import House
from longline.wiring.parts.discovery import discovery
from longline.wiring.parts.sources import plan_cache, standing_runs


def fetch_worker(
    house: House,
    owner: int,
    *,
    plans: PlanCache | None = None,
    parse: bool = True,
    watch: Callable[[Progress], None] | None = None,
    response_observer: ResponseObserver | None = None,
    report: ReportParts | None = None,
) -> Worker:
    """Return a worker that fetches and, with `parse`, parses; the default plans need no source lookup."""
    s = house.settings
    sending = FetchSettings(
        s.user_agent, s.connect_timeout, s.idle_timeout, s.request_timeout, s.max_body, s.referer, bool(s.render_url)
    )
    proxies = ProxyRotation(house.stored_proxies, house.clock, s.proxy_sticky)
    credentials = RunCredentials(house.vault)
    sender = Sender(house.http, house.clock, sending, proxies, credentials=credentials, streams=house.http)
    sessions = _sessions(house, SessionParts(sender, credentials, house.records.sessions, house.vault, house.clock))
    rules = RobotsRules(sender, house.clock, known=house.robots)
    parts = WorkerParts(
        lifecycle=house.lifecycle,
        pipeline=Pipeline(
            plans=plans or PlanCache(house.records.runs),
            fetcher=Fetcher(
                FetchParts(
                    sender, rules, house.clock, house.politeness, house.records.tasks, sessions, response_observer
                ),
                s.max_body,
            ),
            parser=house.parser if parse else None,
            archive=PageReader(house.records.pages, house.blobs),
            clock=house.clock,
            in_words=house.indexes_itself,
            downloads=DownloadStage(sender, house.blobs, house.politeness, house.clock),
        ),
        reporter=_reporter(house, owner, report),
        proxies=proxies,
        clock=house.clock,
        owner=owner,
        work_request=WorkRequest(house.call_for_work, house.clock),
        metrics=house.metrics,
        disputed_files=DisputedFiles(house.blobs, house.records.downloads, house.lifecycle.tasks),
    )
    return Worker(
        parts,
        WorkerSettings(
            concurrency=s.concurrency, lease=s.lease, idle_poll=s.claim_pause, downloads=s.download_concurrency
        ),
        watch,
    )


def _sessions(house: House, parts: SessionParts) -> Sessions | None:
    """Return the logins of the operator's files; recorded responses need none."""
    settings = house.settings
    replays = bool(settings.fixtures) and settings.fixtures_mode == "replay"
    return Sessions(parts, lambda: house.parser.sessions) if settings.parsers and not replays else None


def warc_info(settings: Settings) -> dict[str, str]:
    """Return the fields of warcinfo records."""
    return {"software": f"longline/{__version__}", "http-header-user-agent": settings.user_agent}


def _reporter(house: House, owner: int, parts: ReportParts | None) -> Reporter:
    s = house.settings
    segments = SegmentWriter(
        house.blobs, house.records.segments, house.clock, owner, warc_info(s), requests=s.archive_requests
    )
    return Reporter(house.lifecycle, segments, house.clock, parts)


def fetch_metrics(house: House) -> ReportObserver:
    """Return the observer of reports that counts requests and pages."""
    return FetchMetrics(house.metrics, frozenset(house.settings.metrics_hosts)).save


def report_observers(house: House, run_log: RunLogWriter | None) -> list[ReportObserver]:
    """Return the observers of reports for metrics and run log."""
    observers = [fetch_metrics(house)]
    if run_log is not None:
        observers.append(PageLog(run_log).save)
    return observers


def link_contributors(house: House) -> list[Contributor]:
    """Return the contributors to reports for saved links, frontier links and discovery."""
    found: list[Contributor] = []
    if house.settings.save_links:
        found.append(Outlinks(house.records.links).contribute)
    if house.settings.frontier_links:
        found.append(OnsiteLinks(standing_runs(house), is_content_url).contribute)
    if house.settings.discovery:
        found.append(discovery(house).contribute)
    return found


def parse_worker(house: House, owner: int) -> ParseWorker:
    """Return a worker that parses pages from the archive."""
    return ParseWorker(
        reparse.ParseWorkerParts(
            lifecycle=house.lifecycle,
            pages=house.records.pages,
            plans=plan_cache(house),
            blobs=house.blobs,
            parser=house.parser,
            clock=house.clock,
            owner=owner,
            lease=house.settings.lease,
            idle_poll=house.settings.claim_pause,
            at_once=max(1, 2 * house.settings.parse_processes),  # one is read while another is parsed
            in_words=house.indexes_itself,
            contributors=link_contributors(house),
        )
    )
