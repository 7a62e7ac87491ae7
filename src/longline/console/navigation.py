"""The navigation of the console: groups of entries, each with its section, its title and its path.

A new page adds its entry here; the entry is lit on every page of the section.
"""

from typing import NamedTuple


class NavigationEntry(NamedTuple):
    """An entry of the navigation; `icon` is for the bar at the bottom of a small screen."""

    section: str
    title: str
    path: str
    icon: str = ""
    admins_only: bool = False


class NavigationGroup(NamedTuple):
    """Entries under a title; the first group has none."""

    title: str
    entries: tuple[NavigationEntry, ...]


OVERVIEW = NavigationEntry("overview", "Overview", "/console", "wave")
RUNS = NavigationEntry("runs", "Runs", "/console/runs", "hooks")
TASKS = NavigationEntry("tasks", "Tasks", "/console/tasks", "grid")
SCHEDULES = NavigationEntry("schedules", "Schedules", "/console/schedules", "bell")
SOURCES = NavigationEntry("sources", "Sources", "/console/sources", "anchor")
HOSTS = NavigationEntry("hosts", "Hosts", "/console/hosts")
WORKERS = NavigationEntry("workers", "Workers", "/console/workers")
SESSIONS = NavigationEntry("sessions", "Sessions", "/console/sessions", "anchor", admins_only=True)

NAVIGATION = (
    NavigationGroup("", (OVERVIEW,)),
    NavigationGroup("Crawling", (RUNS, TASKS, SCHEDULES)),
    NavigationGroup("Places", (SOURCES, HOSTS, WORKERS)),
    NavigationGroup("Platform", (SESSIONS,)),
)

PHONE_NAVIGATION = (OVERVIEW, RUNS, SOURCES, TASKS, SCHEDULES)
"""Entries of the bar at the bottom of a small screen, five at most."""
