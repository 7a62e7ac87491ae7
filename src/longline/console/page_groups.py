"""The pages of all subjects but runs: the services behind them, and their groups of operations."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from longline.console.bots.bot_pages import BOT_PAGES, BotPageServices
from longline.console.catalogue.catalogue_pages import CATALOGUE_PAGES, CataloguePageServices
from longline.console.items.item_pages import ITEM_PAGES, ItemPageServices
from longline.console.live_updates import LivePages
from longline.console.manifests.manifest_pages import MANIFEST_PAGES, ManifestPageServices
from longline.console.platform.alert_page import ALERT_PAGE, AlertPageServices
from longline.console.platform.platform_pages import PLATFORM_PAGES, PlatformPageServices, ShownSetting
from longline.console.proxies.proxy_pages import PROXY_PAGES, ProxyPageServices
from longline.console.schedules.schedule_list import SCHEDULE_LIST, ScheduleListServices
from longline.console.schedules.schedule_page import SCHEDULE_PAGE, SchedulePageServices
from longline.console.sources.source_form import SOURCE_FORM, SourceFormServices
from longline.console.sources.source_list import SOURCE_LIST, SourceListServices
from longline.console.sources.source_page import SOURCE_PAGE, SourcePageServices
from longline.console.sources.source_proxies import SOURCE_PROXIES, SourceProxyServices
from longline.console.tasks.host_list import HOST_LIST, HostListServices
from longline.console.tasks.task_list import TASK_LIST, TaskListServices
from longline.console.tasks.task_page import TASK_PAGE, TaskPageServices
from longline.console.template_rendering import Clock, Pages
from longline.services.archive.pages import ArchivedPages
from longline.services.bots.bots import BotRegistry
from longline.services.bots.policies import BotPolicies
from longline.services.bots.tasks import BotTasks
from longline.services.callers.api_keys import ApiKeys
from longline.services.callers.audit_trail import AuditTrail
from longline.services.frontier.host_lists import HostLists
from longline.services.frontier.task_actions import TaskOrders
from longline.services.frontier.task_lists import TaskLists
from longline.services.manifests.dead_letters import DeadLetters
from longline.services.manifests.snapshots import ManifestSnapshots
from longline.services.metrics.platform_alerts import PlatformAlerts
from longline.services.proxies.pools import Pools
from longline.services.proxies.proxies import Proxies
from longline.services.proxies.proxy_figures import ProxyFigures
from longline.services.runs.run_views import RunPages
from longline.services.schedules.adaptive_intervals import AdaptiveIntervals
from longline.services.schedules.run_history import Runs
from longline.services.schedules.schedule_lists import ScheduleLists
from longline.services.schedules.schedules import Schedules
from longline.services.schedules.slots import Slots
from longline.services.search.item_history import ItemHistories
from longline.services.search.item_search import Searches
from longline.services.series.series import Series
from longline.services.series.series_runs import SeriesRuns
from longline.services.sources.source_overview import SourceOverviews
from longline.services.sources.source_robots import SourceRobots
from longline.services.sources.source_schedules import SourceSchedules
from longline.services.sources.sources import Sources
from longline.surfaces.door import OperationGroup
from longline.surfaces.operation import Operation

ABOUT = "Pages for people."


@dataclass(frozen=True, slots=True)
class SubjectServices:
    """The services behind the pages of subjects; `parsers` are known parsers, `doors` the APIs that keys open."""

    sources: Sources
    source_overviews: SourceOverviews
    source_schedules: SourceSchedules
    source_robots: SourceRobots
    parsers: tuple[str, ...]
    schedules: Schedules
    schedule_lists: ScheduleLists
    schedule_runs: Runs
    intervals: AdaptiveIntervals
    slots: Slots
    audit: AuditTrail
    tasks: TaskLists
    task_orders: TaskOrders
    hosts: HostLists
    archive: ArchivedPages
    runs: RunPages
    proxies: Proxies
    proxy_figures: ProxyFigures
    pools: Pools
    manifests: ManifestSnapshots
    letters: DeadLetters
    searches: Searches
    histories: ItemHistories
    bot_registry: BotRegistry
    bot_work: BotTasks
    bot_policies: BotPolicies
    series: Series
    series_runs: SeriesRuns
    keys: ApiKeys
    alerts: PlatformAlerts
    settings: Sequence[ShownSetting]
    doors: Sequence[str]
    now: Clock


def subject_groups(pages: Pages, given: SubjectServices, live: LivePages) -> Iterator[OperationGroup]:
    """Yield the groups of operations of all subjects."""
    for operations, services in (*_parts(pages, given), *_more_parts(pages, given)):
        yield OperationGroup("console", ABOUT, operations, services)
    yield OperationGroup("console", ABOUT, ALERT_PAGE, AlertPageServices(pages, given.alerts, live))


def _parts(pages: Pages, given: SubjectServices) -> Iterator[tuple[tuple[Operation, ...], object]]:
    yield SOURCE_LIST, SourceListServices(pages, given.source_overviews)
    yield SOURCE_FORM, SourceFormServices(pages, given.sources, given.source_schedules, given.parsers)
    yield (
        SOURCE_PAGE,
        SourcePageServices(
            pages,
            given.source_overviews,
            given.sources,
            given.source_schedules,
            given.schedules,
            given.source_robots,
            given.runs,
        ),
    )
    yield TASK_LIST, TaskListServices(pages, given.tasks, given.task_orders)
    yield TASK_PAGE, TaskPageServices(pages, given.tasks, given.task_orders, given.archive)
    yield HOST_LIST, HostListServices(pages, given.hosts)
    yield (
        SCHEDULE_LIST,
        ScheduleListServices(pages, given.schedules, given.schedule_lists, given.slots, given.source_overviews),
    )
    yield (
        SCHEDULE_PAGE,
        SchedulePageServices(
            pages,
            given.schedules,
            given.schedule_runs,
            given.intervals,
            given.tasks,
            given.sources,
            given.source_overviews,
        ),
    )


def _more_parts(pages: Pages, given: SubjectServices) -> Iterator[tuple[tuple[Operation, ...], object]]:
    yield SOURCE_PROXIES, SourceProxyServices(pages, given.sources, given.proxies)
    yield PROXY_PAGES, ProxyPageServices(pages, given.proxies, given.proxy_figures, given.pools, given.source_overviews)
    yield MANIFEST_PAGES, ManifestPageServices(pages, given.manifests, given.letters)
    yield ITEM_PAGES, ItemPageServices(pages, given.searches, given.histories, given.source_overviews, given.now)
    yield BOT_PAGES, BotPageServices(pages, given.bot_registry, given.bot_work, given.bot_policies)
    yield CATALOGUE_PAGES, CataloguePageServices(pages, given.series, given.series_runs)
    yield (
        PLATFORM_PAGES,
        PlatformPageServices(pages, given.audit, given.keys, given.settings, given.doors),
    )
