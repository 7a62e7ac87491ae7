"""The console as a door: its groups of pages, its format and its access."""

from dataclasses import dataclass

from longline.console.access import PageAccess, PagePaths
from longline.console.content_security import CONTENT_SECURITY, PolicyReports
from longline.console.error_pages import PageFormat
from longline.console.live_updates import LivePages
from longline.console.overview.overview import OVERVIEW_PAGES, OverviewServices
from longline.console.page_groups import SubjectServices, subject_groups
from longline.console.preferences.time_zone import PREFERENCES, PreferenceServices
from longline.console.redirects import OLD_PATHS
from longline.console.runs.live_runs import LiveRuns
from longline.console.runs.run_detail import RUN_DETAIL, RunDetailServices
from longline.console.runs.run_list import RUN_LIST, RunListServices
from longline.console.search.search_page import SEARCH_PAGE, SearchPageServices
from longline.console.sessions.login import LOGIN, LoginServices, browser_access
from longline.console.sessions.session_list import SESSIONS, SessionPageServices
from longline.console.static_files import STATIC, StaticFiles
from longline.console.template_rendering import Clock, Pages
from longline.model.callers.caller import AccessRule
from longline.model.callers.door import CONSOLE
from longline.model.callers.roles import ADMINS, NOT_BANNED, OPERATORS
from longline.services.callers.console_sessions import ConsoleSessions
from longline.services.logs.live_logs import LiveLogs
from longline.services.overview import Overview
from longline.services.runs.run_actions import RunActions
from longline.services.runs.run_views import RunPages
from longline.services.search.global_search import Finder
from longline.surfaces.door import PUBLIC, Door, OperationGroup

VISITORS = AccessRule(CONSOLE, NOT_BANNED)
"""Callers that may log in."""


@dataclass(frozen=True, slots=True)
class ConsoleServices:
    """The services behind the console."""

    sessions: ConsoleSessions
    overview: Overview
    runs: RunPages
    subjects: SubjectServices
    run_actions: RunActions
    logs: LiveLogs
    finder: Finder
    live: LivePages
    now: Clock
    version: str


def console_door(services: ConsoleServices, reports: PolicyReports | None = None) -> Door:
    """Return the console; `reports` collects the reports of browsers about refused content."""
    static = StaticFiles()
    pages = Pages(static, services.now, services.version)
    about = "Pages for people."
    groups = (
        OperationGroup("console", about, STATIC, static),
        OperationGroup("console", about, CONTENT_SECURITY, reports or PolicyReports()),
        OperationGroup("console", about, OLD_PATHS.operations),
        OperationGroup("console", about, LOGIN, LoginServices(pages, services.sessions)),
        OperationGroup("console", about, SESSIONS, SessionPageServices(pages, services.sessions)),
        OperationGroup("console", about, PREFERENCES, PreferenceServices(pages, services.sessions)),
        OperationGroup("console", about, OVERVIEW_PAGES, OverviewServices(pages, services.overview, services.live)),
        OperationGroup("console", about, SEARCH_PAGE, SearchPageServices(pages, services.finder)),
        OperationGroup("console", about, RUN_LIST, _run_list(pages, services)),
        *subject_groups(pages, services.subjects, services.live),
        OperationGroup("console", about, RUN_DETAIL, _run_detail(pages, services)),
    )
    paths = PagePaths(operation for group in groups for operation in group.operations)
    access = PageAccess(services.sessions, CONSOLE, paths)
    return Door(
        name=CONSOLE,
        title="Console",
        prefixes=("/console", *OLD_PATHS.paths),
        format=PageFormat(pages),
        groups=groups,
        access={
            "public": PUBLIC,
            "browser": browser_access(),
            "reader": access.of(NOT_BANNED),
            "admin": access.of(ADMINS),
            "form": access.of_forms(NOT_BANNED),
            "action": access.of_forms(OPERATORS),
            "admin_action": access.of_forms(ADMINS),
        },
        is_described=False,
    )


def _run_list(pages: Pages, services: ConsoleServices) -> RunListServices:
    return RunListServices(pages, services.runs, services.live, LiveRuns(pages, services.runs, services.live))


def _run_detail(pages: Pages, services: ConsoleServices) -> RunDetailServices:
    return RunDetailServices(pages, services.runs, services.run_actions, services.logs, services.live)
