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
PROXIES = NavigationEntry("proxies", "Proxies", "/console/proxies")
ITEMS = NavigationEntry("items", "Items", "/console/items")
CATALOGUE = NavigationEntry("catalogue", "Catalogue", "/console/catalogue")
MANIFESTS = NavigationEntry("manifests", "Manifests", "/console/manifests")
DEAD_LETTERS = NavigationEntry("dead-letters", "Dead letters", "/console/dead-letters")
BOTS = NavigationEntry("bots", "Bots", "/console/bots")
POLICIES = NavigationEntry("policies", "Policies", "/console/policies")
RESULTS = NavigationEntry("results", "Results", "/console/results")
ALERTS = NavigationEntry("alerts", "Alerts", "/console/alerts")
AUDIT = NavigationEntry("audit", "Audit", "/console/audit", admins_only=True)
KEYS = NavigationEntry("keys", "API keys", "/console/keys", admins_only=True)
SETTINGS = NavigationEntry("settings", "Settings", "/console/settings", admins_only=True)
SESSIONS = NavigationEntry("sessions", "Sessions", "/console/sessions", "anchor", admins_only=True)

NAVIGATION = (
    NavigationGroup("", (OVERVIEW,)),
    NavigationGroup("Crawling", (RUNS, TASKS, SCHEDULES)),
    NavigationGroup("Places", (SOURCES, HOSTS, WORKERS, PROXIES)),
    NavigationGroup("Yield", (ITEMS, CATALOGUE, MANIFESTS, DEAD_LETTERS)),
    NavigationGroup("Bots", (BOTS, POLICIES, RESULTS)),
    NavigationGroup("Platform", (ALERTS, AUDIT, KEYS, SESSIONS, SETTINGS)),
)

PHONE_NAVIGATION = (OVERVIEW, RUNS, SOURCES, TASKS)
"""Entries of the bar at the bottom of a small screen; its fifth place opens the whole navigation."""
