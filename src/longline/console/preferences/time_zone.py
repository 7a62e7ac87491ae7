"""The time zone in which a visitor reads times: UTC, or one of the visitor's choice, kept for all logins."""

from typing import Annotated, Any

import msgspec

from longline.console.actions import acted
from longline.console.template_rendering import Pages
from longline.console.visitor import Visitor
from longline.model.callers.time_zones import known_time_zones
from longline.services.callers.console_sessions import ConsoleSessions
from longline.surfaces.operation import ApiResponse, operation

PATH = "/console/preferences"


class PreferenceServices(msgspec.Struct, frozen=True):
    """The services behind the choices of visitors."""

    pages: Pages
    sessions: ConsoleSessions


class TimeZoneForm(msgspec.Struct, frozen=True):
    """The form with the name of a time zone."""

    time_zone: Annotated[str, msgspec.Meta(max_length=100)] = "UTC"


@operation("GET", PATH, "Show the choice of a time zone", access="reader")
async def show_preferences(services: PreferenceServices, identity: Visitor) -> ApiResponse[Any]:
    return services.pages.page("preferences.html", identity, section="preferences", zones=known_time_zones())


@operation("POST", PATH, "Choose a time zone", access="form")
async def choose_time_zone(services: PreferenceServices, body: TimeZoneForm, identity: Visitor) -> ApiResponse[Any]:
    await services.sessions.choose_time_zone(identity, body.time_zone)
    return acted(PATH, f"Times are shown in {body.time_zone} now.")


PREFERENCES = (show_preferences, choose_time_zone)
