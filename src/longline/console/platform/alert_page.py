"""The page of alerts: those that hold, and those that ended lately; live."""

from typing import Any

import msgspec

from longline.console.live_updates import LivePages
from longline.console.paging import page_of
from longline.console.template_rendering import Pages
from longline.console.visitor import Visitor
from longline.model.proxies.source_alerts import AlertRow
from longline.services.metrics.platform_alerts import PlatformAlerts
from longline.surfaces.operation import ApiResponse, operation
from longline.surfaces.sse import EventStream

PAGE_SIZE = 50
PARTS = ("raised", "cleared")


class AlertPageServices(msgspec.Struct, frozen=True):
    """The services behind the page of alerts."""

    pages: Pages
    alerts: PlatformAlerts
    live: LivePages

    async def shown(self, before: tuple[int, int] | None = None) -> dict[str, Any]:
        """Return the values of both parts; `before` continues the list of alerts that ended."""
        cleared, last = page_of(await self.alerts.cleared(PAGE_SIZE + 1, before), PAGE_SIZE)
        return {
            "raised": [(one, alert_path(one)) for one in await self.alerts.raised()],
            "cleared": [(one, alert_path(one)) for one in cleared],
            "older": None if last is None else {"at": last.cleared_at, "id": last.id},
        }

    async def parts(self) -> dict[str, str]:
        """Return the rendered parts, which are the same for every visitor."""
        shown = await self.shown()
        parts = self.pages.parts("platform/alerts", (*PARTS, "count"), alerts=len(shown["raised"]), **shown)
        return parts | {"alert-count": parts.pop("count")}


def alert_path(row: AlertRow) -> str:
    """Return the page of the thing that an alert is about."""
    for path, found in (("runs", row.run_id), ("proxies", row.proxy_id), ("sources", row.source_id)):
        if found is not None:
            return f"/console/{path}/{found}"
    places = {"engine_down": "/console#engines", "failed_requests": "/console#failures"}
    return places.get(row.kind, "/console/hosts")


class AlertListQuery(msgspec.Struct, frozen=True):
    """The place in the list of alerts that ended: the end and the number of the last one that was shown."""

    at: int | None = None
    id: int = 0


@operation("GET", "/console/alerts", "Show alerts", access="reader")
async def show_alerts(services: AlertPageServices, query: AlertListQuery, identity: Visitor) -> ApiResponse[Any]:
    shown = await services.shown(None if query.at is None else (query.at, query.id))
    return services.pages.page("platform/alerts.html", identity, section="alerts", is_newest=query.at is None, **shown)


@operation("GET", "/console/alerts/stream", "Follow the alerts", access="reader")
async def follow_alerts(services: AlertPageServices, identity: Visitor) -> EventStream:
    return services.live.stream([services.live.topic("alerts", services.parts)], identity.session)


ALERT_PAGE = (show_alerts, follow_alerts)
