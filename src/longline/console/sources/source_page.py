"""The page of one source: everything that hangs on it, and the switch."""

from typing import Any

import msgspec

from longline.console.actions import acted
from longline.console.schedules.schedule_list import buttons_of
from longline.console.template_rendering import Pages
from longline.console.visitor import Visitor
from longline.model.runs.run_view import RunQuery
from longline.services.runs.run_views import RunPages
from longline.services.schedules.schedules import Schedules
from longline.services.sources.source_overview import SourceOverviews
from longline.services.sources.source_robots import SourceRobots
from longline.services.sources.source_schedules import SourceSchedules
from longline.services.sources.sources import Sources
from longline.surfaces.operation import ApiResponse, operation

MAX_RUNS = 10


class SourcePageServices(msgspec.Struct, frozen=True):
    """The services behind the page of a source."""

    pages: Pages
    overviews: SourceOverviews
    sources: Sources
    source_schedules: SourceSchedules
    schedules: Schedules
    robots: SourceRobots
    runs: RunPages


@operation("GET", "/console/sources/{source_id}", "Show a source", access="reader")
async def show_source(services: SourcePageServices, source_id: int, identity: Visitor) -> ApiResponse[Any]:
    look = await services.overviews.get(source_id)
    return services.pages.page(
        "sources/page.html",
        identity,
        section="sources",
        look=look,
        source=look.source,
        runs=(await services.runs.find(RunQuery(source_id=source_id), MAX_RUNS)).runs,
        schedules=[(row, buttons_of(row.state)) for row in look.schedules],
    )


@operation("POST", "/console/sources/{source_id}/enable", "Enable a source", access="action", action="source.enable")
async def enable_source(services: SourcePageServices, source_id: int) -> ApiResponse[Any]:
    row = await services.sources.switch(await services.sources.ours(source_id), on=True)
    await services.source_schedules.enabled(row.public_id)
    return acted(f"/console/sources/{source_id}", f"Source {row.name} is enabled.")


@operation("POST", "/console/sources/{source_id}/disable", "Disable a source", access="action", action="source.disable")
async def disable_source(services: SourcePageServices, source_id: int, identity: Visitor) -> ApiResponse[Any]:
    row = await services.sources.switch(await services.sources.ours(source_id), on=False, reason=identity.reason)
    await services.source_schedules.disabled(row.public_id)
    return acted(f"/console/sources/{source_id}", f"Source {row.name} is disabled.")


@operation(
    "POST",
    "/console/sources/{source_id}/robots",
    "Fetch the robots.txt of a source",
    access="action",
    action="source.refresh_robots",
)
async def refresh_robots(services: SourcePageServices, source_id: int) -> ApiResponse[Any]:
    await services.robots.refresh(source_id)
    return acted(f"/console/sources/{source_id}", "The robots.txt is fetched again.")


@operation("POST", "/console/sources/{source_id}/delete", "Delete a source", access="action", action="source.delete")
async def delete_source(services: SourcePageServices, source_id: int) -> ApiResponse[Any]:
    row = await services.sources.get(await services.sources.ours(source_id))
    await services.sources.remove(source_id)
    await services.schedules.forget(row.public_id)
    return acted("/console/sources", f"Source {row.name} is deleted.")


SOURCE_PAGE = (show_source, enable_source, disable_source, refresh_robots, delete_source)
