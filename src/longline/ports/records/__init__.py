"""Records in the database, one small port for each noun."""

from dataclasses import dataclass

from longline.ports.login_sessions import SessionStore
from longline.ports.records.archive import PageStore, SegmentStore
from longline.ports.records.bots import BotOverviewStore, BotPolicyStore, BotStore, BotTaskStore
from longline.ports.records.callers import (
    ApiKeyStore,
    AuditStore,
    ConsoleSessionStore,
    DoorSettingStore,
    RateLimitStore,
)
from longline.ports.records.database import Schema
from longline.ports.records.discovery import CandidateStore, LinkStore
from longline.ports.records.downloads import DeadLetterStore, DownloadAdmissionStore, DownloadStore
from longline.ports.records.feeds import FeedStore, SitemapStore
from longline.ports.records.frontier.frontier import (
    FrontierStore,
    MoveStore,
    QueueFigureStore,
    TaskLeaseStore,
    TaskMoveStore,
    TaskStore,
    WorkerStore,
)
from longline.ports.records.frontier.frontier_lists import HostListStore, TaskListStore
from longline.ports.records.frontier.refused_urls import RefusedUrlStore
from longline.ports.records.frontier.standing_frontier import StandingFrontierStore
from longline.ports.records.logs import EventStore, LogPageStore, LogStore
from longline.ports.records.manifests import ManifestStores
from longline.ports.records.metrics import CounterStore, ThroughputStore
from longline.ports.records.proxies import AlertStore, PoolStore, ProxyFigureStore, ProxyStore
from longline.ports.records.recrawls.recrawls import (
    BatchStore,
    FoundUrlStore,
    GenerationStore,
    HoldStore,
    RecrawlPageStore,
    RecrawlStore,
)
from longline.ports.records.recrawls.webhooks import WebhookStore
from longline.ports.records.runs.retention import RetentionStore
from longline.ports.records.runs.runs import (
    DueRunStore,
    MaintenanceStore,
    RunEffectStore,
    RunHistoryStore,
    RunStore,
    RunViewStore,
)
from longline.ports.records.schedules import PageChangeStore, ScheduleStore, SlotStore, TickStore
from longline.ports.records.search import ItemChangeStore, ItemStore
from longline.ports.records.series import SeriesStores
from longline.ports.records.sources import (
    FailingSourceStore,
    HandledMessageStore,
    RemoteSourceStore,
    SourceNameStore,
    SourceStore,
)
from longline.ports.search import Search
from longline.ports.sinks import SinkProgressStore, SinkRunStore, SinkStore


@dataclass(frozen=True, slots=True)
class Records:
    """All stores of one records engine; `search` is the index inside the database.

    `frontier`, `hands`, `moves`, `task_moves`, `ticks`, `bot_tasks`, `download_runs` and `manifests.runs` are for
    `engine/lifecycle/` alone.
    """

    schema: Schema
    sources: SourceStore
    source_names: SourceNameStore
    failing_sources: FailingSourceStore
    remote_sources: RemoteSourceStore
    schedules: ScheduleStore
    slots: SlotStore
    runs: RunStore
    run_views: RunViewStore
    history: RunHistoryStore
    due_runs: DueRunStore
    run_effects: RunEffectStore
    retention: RetentionStore
    page_changes: PageChangeStore
    counters: CounterStore
    throughput: ThroughputStore
    tasks: TaskStore
    task_lists: TaskListStore
    host_lists: HostListStore
    refused_urls: RefusedUrlStore
    catalogues: SeriesStores
    sessions: SessionStore
    sinks: SinkStore
    sink_runs: SinkRunStore
    sink_progress: SinkProgressStore
    segments: SegmentStore
    workers: WorkerStore
    figures: QueueFigureStore
    events: EventStore
    logs: LogStore
    log_pages: LogPageStore
    handled_messages: HandledMessageStore
    links: LinkStore
    candidates: CandidateStore
    standing: StandingFrontierStore
    recrawls: RecrawlStore
    generations: GenerationStore
    found_urls: FoundUrlStore
    recrawl_pages: RecrawlPageStore
    holds: HoldStore
    batches: BatchStore
    proxies: ProxyStore
    proxy_figures: ProxyFigureStore
    alerts: AlertStore
    webhooks: WebhookStore
    pools: PoolStore
    api_keys: ApiKeyStore
    console_sessions: ConsoleSessionStore
    rate_limits: RateLimitStore
    audit: AuditStore
    door_settings: DoorSettingStore
    bots: BotStore
    bot_schedules: BotPolicyStore
    bot_look: BotOverviewStore
    bot_tasks: BotTaskStore
    feeds: FeedStore
    sitemaps: SitemapStore
    pages: PageStore
    items: ItemStore
    item_changes: ItemChangeStore
    search: Search
    downloads: DownloadStore
    download_runs: DownloadAdmissionStore
    dead_letters: DeadLetterStore
    manifests: ManifestStores
    maintenance: MaintenanceStore
    frontier: FrontierStore
    hands: TaskLeaseStore
    moves: MoveStore
    task_moves: TaskMoveStore
    ticks: TickStore
