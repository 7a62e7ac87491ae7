"""Wiring of the web console."""

from longline import __version__
from longline.console.door import NAME, VISITORS, ConsoleServices, console_door
from longline.services.callers.callers import Callers
from longline.services.callers.console_sessions import ConsoleSessions, OneTimeLogin
from longline.services.runs.run_pages import RunPages
from longline.surfaces.door import Door
from longline.wiring.doors.console_subjects import subject_services
from longline.wiring.parts.callers import access_tokens, api_keys
from longline.wiring.platform import Platform

__all__ = ["NAME", "console"]


def console(platform: Platform, link: OneTimeLogin | None = None) -> Door:
    """Return the console; `link` logs in once."""
    records, clock = platform.records, platform.clock
    callers = Callers(access_tokens(platform), api_keys(platform))
    runs = RunPages(records.run_views, records.runs)
    return console_door(
        ConsoleServices(
            sessions=ConsoleSessions(records.console_sessions, callers, clock, VISITORS, link),
            runs=runs,
            subjects=subject_services(platform, runs),
            now=clock.now,
            version=__version__,
        )
    )
