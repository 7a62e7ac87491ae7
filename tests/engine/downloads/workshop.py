"""A worker that downloads files from servers of a test into a store, with real records and a real client."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from longline.drivers.blobs import open_blobs
from longline.drivers.clock import SystemClock
from longline.drivers.http import WreqHttp
from longline.drivers.records import open_records
from longline.engine.archive.page_reader import PageReader
from longline.engine.archive.segment_writer import SegmentWriter
from longline.engine.downloads.disputed_files import DisputedFiles
from longline.engine.downloads.downloader import DownloadStage
from longline.engine.fetch.fetcher import Fetcher, FetchParts
from longline.engine.fetch.request_sender import FetchSettings, Sender
from longline.engine.fetch.robots import RobotsRules
from longline.engine.fetch.run_credentials import RunCredentials
from longline.engine.frontier.claims import WorkerSettings
from longline.engine.frontier.plan_cache import PlanCache
from longline.engine.lifecycle.moves import Lifecycle
from longline.engine.lifecycle.politeness_key import PolitenessKey
from longline.engine.proxies.rotation import ProxyRotation
from longline.engine.proxies.stored_proxies import StoredProxies
from longline.engine.stored_secrets import Vault
from longline.engine.worker.pipeline import Pipeline
from longline.engine.worker.reporter import Reporter, ReportParts
from longline.engine.worker.worker import Worker, WorkerParts
from longline.model.downloads.download import DownloadRow, NewDownload
from longline.model.downloads.download_plan import DownloadPlan
from longline.model.ids import new_id
from longline.model.runs.crawl_plan import CrawlPlan, FetchOptions, Politeness, Retries
from longline.model.runs.end_judgement import EndRules
from longline.model.runs.run import NewRun, RunKind, RunRow
from longline.ports.blobs import StreamingBlobs
from longline.ports.records import Records
from tests.drivers.http.wire import to_loopback

VAULT = Vault("a key for tests")

PLAN = CrawlPlan(
    (),
    single=True,
    downloads=DownloadPlan(kind="images", tenant="acme", idle_seconds=1.0),
    politeness=Politeness(robots=False, delay_ms=0, concurrency=8),
    retries=Retries(max_attempts=3, delay_seconds=0.01, statuses=(408, 429, 499)),
    fetch=FetchOptions(max_redirects=5, cookies=False, conditional=False),
    end=EndRules(judged="any"),
)


class Workshop:
    """Records, a store and a client; `worker` makes a worker with them."""

    def __init__(self, records: Records, blobs: StreamingBlobs, http: WreqHttp) -> None:
        self.records, self.blobs, self.http = records, blobs, http
        self.clock, self.politeness = SystemClock(), PolitenessKey()
        self.lifecycle = Lifecycle(records, self.politeness)

    def worker(
        self, owner: int = 1, report: ReportParts | None = None, settings: WorkerSettings | None = None
    ) -> Worker:
        """Return a worker of this workshop."""
        proxies = ProxyRotation(StoredProxies(self.records.proxies, VAULT), self.clock)
        sending = FetchSettings("test", total_seconds=10)
        credentials = RunCredentials(VAULT)
        sender = Sender(self.http, self.clock, sending, proxies, credentials=credentials, streams=self.http)
        fetcher = Fetcher(FetchParts(sender, RobotsRules(sender, self.clock), self.clock, self.politeness), 1 << 20)
        pipeline = Pipeline(
            PlanCache(self.records.runs),
            fetcher,
            None,
            PageReader(self.records.pages, self.blobs),
            self.clock,
            downloads=DownloadStage(sender, self.blobs, self.politeness, self.clock),
        )
        segments = SegmentWriter(self.blobs, self.records.segments, self.clock, owner, {})
        parts = WorkerParts(
            self.lifecycle,
            pipeline,
            Reporter(self.lifecycle, segments, self.clock, report),
            proxies,
            self.clock,
            owner,
            disputed_files=DisputedFiles(self.blobs, self.records.downloads, self.lifecycle.tasks),
        )
        usual = WorkerSettings(concurrency=16, idle_poll=0.05, flush_after=0.05, downloads=16)
        return Worker(parts, settings or usual)

    async def begin(self, files: Sequence[NewDownload], plan: CrawlPlan = PLAN) -> int:
        """Begin a run of these files; return its id."""
        run = NewRun(new_id(), RunKind.MANIFEST, plan.text())
        return await self.lifecycle.downloads.begin(run, files, plan, "manifest")

    async def done(self, run_id: int, worker: Worker | None = None, seconds: float = 30.0) -> RunRow:
        """Work until a run has ended; return it."""
        stop = asyncio.Event()
        working = asyncio.create_task((worker or self.worker()).run(stop))
        try:
            async with asyncio.timeout(seconds):
                while True:
                    run = await self.records.runs.get(run_id)
                    assert run is not None
                    if run.ended_at is not None:
                        return run
                    await asyncio.sleep(0.02)
        finally:
            stop.set()
            await working

    async def download(self, files: Sequence[NewDownload], plan: CrawlPlan = PLAN) -> dict[str, DownloadRow]:
        """Download files; return their rows by resource."""
        run_id = await self.begin(files, plan)
        await self.done(run_id)
        return {row.resource_id: row for row in await self.records.downloads.find(run_id, limit=10_000)}


@asynccontextmanager
async def open_workshop(database: str, objects: str | Path) -> AsyncIterator[Workshop]:
    """Open a workshop over a migrated database and a store."""
    records = await open_records(database, SystemClock())
    http = WreqHttp(to_loopback)
    try:
        yield Workshop(records, open_blobs(str(objects)), http)
    finally:
        await http.close()
        await records.schema.close()
