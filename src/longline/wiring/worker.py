"""Workers, from the parts of the platform."""

from collections.abc import Callable

from longline.engine.archive.non_html_objects import PageObjects
from longline.engine.archive.page_reader import PageReader
from longline.engine.archive.segment_writer import SegmentWriter
from longline.engine.discovery.onsite_links import OnsiteLinks
from longline.engine.discovery.outlinks import Outlinks
from longline.engine.downloads.disputed_files import DisputedFiles
from longline.engine.downloads.downloader import DownloadStage
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
from longline.engine.recrawls.found_urls import RecrawlFinds
from longline.engine.worker.fetch_metrics import FetchMetrics
from longline.engine.worker.page_log import PageLog
from longline.engine.worker.pipeline import Pipeline
from longline.engine.worker.reporter import Reporter, ReportObserver, ReportParts
from longline.engine.worker.worker import Progress, Worker, WorkerParts
from longline.model.archive.warc import warcinfo_fields
from longline.parsers.article.content_types import is_content_url
from longline.settings import Settings
from longline.wiring.platform import Platform
from longline.wiring.subjects.discovery import discovery
from longline.wiring.subjects.sources import plan_cache, standing_runs


def fetch_worker(
    platform: Platform,
    owner: int,
    *,
    plans: PlanCache | None = None,
    parse: bool = True,
    watch: Callable[[Progress], None] | None = None,
    response_observer: ResponseObserver | None = None,
    report: ReportParts | None = None,
) -> Worker:
    """Return a worker that fetches and, with `parse`, parses; the default plans need no source lookup."""
    s = platform.settings
    sending = _fetch_settings(s)
    proxies = ProxyRotation(platform.stored_proxies, platform.clock, s.proxy_sticky, platform.metrics)
    credentials = RunCredentials(platform.vault)
    sender = Sender(platform.http, platform.clock, sending, proxies, credentials=credentials, streams=platform.http)
    sessions = _sessions(
        platform, SessionParts(sender, credentials, platform.records.sessions, platform.vault, platform.clock)
    )
    rules = RobotsRules(sender, platform.clock, known=platform.robots)
    parts = WorkerParts(
        lifecycle=platform.lifecycle,
        pipeline=Pipeline(
            plans=plans or PlanCache(platform.records.runs),
            fetcher=Fetcher(
                FetchParts(
                    sender,
                    rules,
                    platform.clock,
                    platform.politeness,
                    platform.records.tasks,
                    sessions,
                    response_observer,
                ),
                s.max_body,
            ),
            parser=platform.parser if parse else None,
            archive=PageReader(platform.records.pages, platform.blobs),
            clock=platform.clock,
            in_words=platform.indexes_itself,
            objects=PageObjects(platform.blobs),
            downloads=DownloadStage(sender, platform.blobs, platform.politeness, platform.clock),
            metrics=platform.metrics,
        ),
        reporter=_reporter(platform, owner, report),
        proxies=proxies,
        clock=platform.clock,
        owner=owner,
        work_request=WorkRequest(platform.call_for_work, platform.clock),
        metrics=platform.metrics,
        disputed_files=DisputedFiles(platform.blobs, platform.records.downloads, platform.lifecycle.tasks),
    )
    return Worker(
        parts,
        WorkerSettings(
            concurrency=s.concurrency, lease=s.lease, idle_poll=s.claim_pause, downloads=s.download_concurrency
        ),
        watch,
    )


def _fetch_settings(s: Settings) -> FetchSettings:
    return FetchSettings(
        s.user_agent, s.connect_timeout, s.idle_timeout, s.request_timeout, s.max_body, s.referer, bool(s.render_url)
    )


def _sessions(platform: Platform, parts: SessionParts) -> Sessions | None:
    """Return the logins of the operator's files; recorded responses need none."""
    settings = platform.settings
    replays = bool(settings.fixtures) and settings.fixtures_mode == "replay"
    return Sessions(parts, lambda: platform.parser.sessions) if settings.parsers and not replays else None


def _reporter(platform: Platform, owner: int, parts: ReportParts | None) -> Reporter:
    s = platform.settings
    segments = SegmentWriter(
        platform.blobs,
        platform.records.segments,
        platform.clock,
        owner,
        warcinfo_fields(s.user_agent),
        requests=s.archive_requests,
    )
    return Reporter(platform.lifecycle, segments, platform.clock, parts)


def fetch_metrics(platform: Platform) -> ReportObserver:
    """Return the observer of reports that counts requests and pages."""
    return FetchMetrics(platform.metrics, frozenset(platform.settings.metrics_hosts)).save


def report_observers(platform: Platform, run_log: RunLogWriter | None) -> list[ReportObserver]:
    """Return the observers of reports for metrics and run log."""
    observers = [fetch_metrics(platform)]
    if run_log is not None:
        observers.append(PageLog(run_log).save)
    return observers


def link_contributors(platform: Platform) -> list[Contributor]:
    """Return the contributors to reports for URLs of recrawls, saved links, frontier links and discovery."""
    found: list[Contributor] = [RecrawlFinds().contribute]
    if platform.settings.save_links:
        found.append(Outlinks(platform.records.links).contribute)
    if platform.settings.frontier_links:
        found.append(OnsiteLinks(standing_runs(platform), is_content_url).contribute)
    if platform.settings.discovery:
        found.append(discovery(platform).contribute)
    return found


def parse_worker(platform: Platform, owner: int, run_log: RunLogWriter | None = None) -> ParseWorker:
    """Return a worker that parses pages from the archive."""
    return ParseWorker(
        reparse.ParseWorkerParts(
            lifecycle=platform.lifecycle,
            pages=platform.records.pages,
            plans=plan_cache(platform),
            blobs=platform.blobs,
            parser=platform.parser,
            clock=platform.clock,
            owner=owner,
            lease=platform.settings.lease,
            idle_poll=platform.settings.claim_pause,
            at_once=max(1, 2 * platform.settings.parse_processes),  # one is read while another is parsed
            in_words=platform.indexes_itself,
            contributors=link_contributors(platform),
            observe=None if run_log is None else PageLog(run_log).save_parsed,
        )
    )
