"""The pages of all subjects but runs: the services behind them, and their groups of operations."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from longline.console.bots.bot_pages import BOT_PAGES, BotPageServices
from longline.console.catalogue.catalogue_pages import CATALOGUE_PAGES, CataloguePageServices
from longline.console.items.item_pages import ITEM_PAGES, ItemPageServices
from longline.console.manifests.manifest_pages import MANIFEST_PAGES, ManifestPageServices
from longline.console.pages import Clock, Pages
from longline.console.platform.platform_pages import PLATFORM_PAGES, PlatformPageServices, ShownSetting
from longline.console.proxies.proxy_pages import PROXY_PAGES, ProxyPageServices
from longline.console.schedules.schedule_list import SCHEDULE_LIST, ScheduleListServices
from longline.console.schedules.schedule_page import SCHEDULE_PAGE, SchedulePageServices
from longline.console.sources.source_form import SOURCE_FORM, SourceFormServices
from longline.console.sources.source_list import SOURCE_LIST, SourceListServices
from longline.console.sources.source_page import SOURCE_PAGE, SourcePageServices
from longline.console.tasks.host_list import HOST_LIST, HostListServices
from longline.console.tasks.task_list import TASK_LIST, TaskListServices
from longline.console.tasks.task_page import TASK_PAGE, TaskPageServices
from longline.services.archive.item_history import ItemHistories
from longline.services.archive.pages import ArchivedPages
from longline.services.bots.policies import BotPolicies
from longline.services.bots.registry import BotRegistry
from longline.services.bots.tasks import BotTasks
from longline.services.callers.api_keys import ApiKeys
from longline.services.callers.audit_trail import AuditTrail
from longline.services.frontier.host_lists import HostLists
from longline.services.frontier.task_lists import TaskLists
from longline.services.frontier.task_moves import TaskMoves
from longline.services.manifests.dead_letters import DeadLetters
from longline.services.manifests.snapshots import ManifestSnapshots
from longline.services.proxies.alerts import Alerts
from longline.services.proxies.pools import Pools
from longline.services.proxies.proxies import Proxies
from longline.services.proxies.proxy_figures import ProxyFigures
from longline.services.runs.run_pages import RunPages
from longline.services.schedules.adaptive_intervals import AdaptiveIntervals
from longline.services.schedules.run_history import Runs
from longline.services.schedules.schedules import Schedules
from longline.services.schedules.slots import Slots
from longline.services.search import Searches
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
    schedule_runs: Runs
    intervals: AdaptiveIntervals
    slots: Slots
    audit: AuditTrail
    tasks: TaskLists
    task_mover: TaskMoves
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
    alerts: Alerts
    settings: Sequence[ShownSetting]
    doors: Sequence[str]
    now: Clock


def subject_groups(pages: Pages, given: SubjectServices) -> Iterator[OperationGroup]:
    """Yield the groups of operations of all subjects."""
    for operations, services in (*_parts(pages, given), *_more_parts(pages, given)):
        yield OperationGroup("console", ABOUT, operations, services)


def _parts(pages: Pages, given: SubjectServices) -> Iterator[tuple[tuple[Operation, ...], object]]:
    yield SOURCE_LIST, SourceListServices(pages, given.sources)
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
    yield TASK_LIST, TaskListServices(pages, given.tasks, given.task_mover)
    yield TASK_PAGE, TaskPageServices(pages, given.tasks, given.task_mover, given.archive)
    yield HOST_LIST, HostListServices(pages, given.hosts)
    yield SCHEDULE_LIST, ScheduleListServices(pages, given.schedules, given.slots)
    yield (
        SCHEDULE_PAGE,
        SchedulePageServices(pages, given.schedules, given.schedule_runs, given.intervals, given.tasks, given.sources),
    )


def _more_parts(pages: Pages, given: SubjectServices) -> Iterator[tuple[tuple[Operation, ...], object]]:
    yield PROXY_PAGES, ProxyPageServices(pages, given.proxies, given.proxy_figures, given.pools, given.source_overviews)
    yield MANIFEST_PAGES, ManifestPageServices(pages, given.manifests, given.letters)
    yield ITEM_PAGES, ItemPageServices(pages, given.searches, given.histories, given.now)
    yield BOT_PAGES, BotPageServices(pages, given.bot_registry, given.bot_work, given.bot_policies)
    yield CATALOGUE_PAGES, CataloguePageServices(pages, given.series, given.series_runs)
    yield (
        PLATFORM_PAGES,
        PlatformPageServices(pages, given.audit, given.keys, given.alerts, given.settings, given.doors),
    )
