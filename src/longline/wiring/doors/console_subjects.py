"""The services behind the pages of the console's subjects."""

from typing import Any

from longline.console.page_groups import SubjectServices
from longline.console.platform.platform_pages import ShownSetting
from longline.engine.lifecycle.bot_tasks import BotLifecycle
from longline.model.callers.door import BOTS, CATALOGUE, CONSOLE, INTERVALS, MANIFESTS, PRODUCTS
from longline.services.archive.pages import ArchivedPages
from longline.services.bots.bots import BotRegistry
from longline.services.bots.policies import BotPolicies
from longline.services.bots.tasks import BotTasks
from longline.services.callers.audit_trail import AuditTrail
from longline.services.frontier.host_lists import HostLists
from longline.services.frontier.task_actions import TaskOrders
from longline.services.frontier.task_lists import TaskLists
from longline.services.manifests.dead_letters import DeadLetters
from longline.services.manifests.snapshots import ManifestSnapshots
from longline.services.metrics.platform_alerts import PlatformAlerts
from longline.services.proxies.pools import Pools
from longline.services.proxies.proxy_figures import ProxyFigures
from longline.services.runs.run_views import RunPages
from longline.services.schedules.adaptive_intervals import AdaptiveIntervals
from longline.services.schedules.run_history import Runs
from longline.services.schedules.schedule_lists import ScheduleLists
from longline.services.schedules.slots import Slots
from longline.services.search.item_history import ItemHistories
from longline.services.search.item_search import Searches
from longline.services.series.series import Series
from longline.services.series.series_runs import SeriesRuns
from longline.services.sources.source_overview import SourceOverviews
from longline.settings import KEYS
from longline.wiring.platform import Platform
from longline.wiring.subjects.callers import api_keys
from longline.wiring.subjects.schedules import schedule_services
from longline.wiring.subjects.sources import source_robots, source_service

DOORS = (INTERVALS, BOTS, CATALOGUE, MANIFESTS, PRODUCTS, CONSOLE)
"""APIs that a key may open."""


def subject_services(platform: Platform, runs: RunPages, alerts: PlatformAlerts) -> SubjectServices:
    """Return the services behind the pages of subjects."""
    records = platform.records
    schedules, source_schedules = schedule_services(platform, records)
    return SubjectServices(
        sources=source_service(platform),
        source_overviews=SourceOverviews(records),
        source_schedules=source_schedules,
        source_robots=source_robots(platform),
        parsers=tuple(sorted(platform.parsers.names)),
        schedules=schedules,
        schedule_runs=Runs(records.history, records.schedules, records.counters, platform.clock),
        intervals=AdaptiveIntervals(platform.page_change_store),
        audit=AuditTrail(records.audit),
        schedule_lists=ScheduleLists(records.schedules),
        slots=Slots(records.slots, records.schedules, platform.clock),
        tasks=TaskLists(records),
        task_orders=TaskOrders(platform.lifecycle, BotLifecycle(records), records),
        hosts=HostLists(records.host_lists, records.workers),
        archive=ArchivedPages(records.pages, platform.blobs),
        runs=runs,
        alerts=alerts,
        **_platform_services(platform),
        **_yield_services(platform),
    )


def _platform_services(platform: Platform) -> dict[str, Any]:
    records, settings = platform.records, platform.settings
    return {
        "proxies": platform.proxies,
        "proxy_figures": ProxyFigures(records.proxy_figures),
        "pools": Pools(records.pools),
        "keys": api_keys(platform),
        "settings": [ShownSetting(name, settings.display(name), key.doc) for name, key in KEYS.items()],
        "doors": DOORS,
        "now": platform.clock.now,
    }


def _yield_services(platform: Platform) -> dict[str, Any]:
    """Return the services of items, manifests, bots and series."""
    records, blobs, clock = platform.records, platform.blobs, platform.clock
    delay_ms = round(platform.settings.delay * 1000)
    catalogues = records.catalogues
    return {
        "manifests": ManifestSnapshots(records.manifests.snapshots),
        "letters": DeadLetters(records.dead_letters, platform.lifecycle.downloads, clock),
        "searches": Searches(platform.search, records.items),
        "histories": ItemHistories(records.items, records.item_changes),
        "bot_registry": BotRegistry(records.bots),
        "bot_work": BotTasks(records, blobs, clock, delay_ms),
        "bot_policies": BotPolicies(records, blobs, delay_ms),
        "series": Series(catalogues.series, catalogues.targets, records.sources),
        "series_runs": SeriesRuns(catalogues.runs, platform.lifecycle, records.logs, clock),
    }
