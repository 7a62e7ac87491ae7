"""The overview: trouble first, then figures, curves and lists, all of them live."""

from typing import Any, Literal

import msgspec

from longline.console.drawing.plot import Curve
from longline.console.live_updates import LivePages
from longline.console.platform.alert_page import alert_path
from longline.console.template_filters import clock_time, moment, rate, zone_name
from longline.console.template_rendering import Pages
from longline.console.visitor import Visitor
from longline.model.duration import HOUR_MS
from longline.model.metrics.throughput import WINDOWS
from longline.services.metrics.throughput import ThroughputView
from longline.services.overview import Overview, OverviewView
from longline.surfaces.operation import ApiResponse, operation
from longline.surfaces.sse import EventStream

PARTS = ("alerts", "figures", "throughput", "failures", "running", "trouble", "queue", "engines")
"""Parts of the page, each with a template of its own."""

WindowName = Literal["15m", "1h", "6h", "2d", "90d"]
WINDOW_TITLES = {"15m": "15 min", "1h": "1 h", "6h": "6 h", "2d": "2 d", "90d": "90 d"}


class OverviewServices(msgspec.Struct, frozen=True):
    """The services behind the overview."""

    pages: Pages
    overview: Overview
    live: LivePages

    async def shown(self, window: str) -> dict[str, Any]:
        """Return the values of all parts."""
        view = await self.overview.read(WINDOWS[window])
        return {"view": view, "curve": curve_of(view.throughput), "window": window, "window_titles": WINDOW_TITLES} | {
            "troubles": troubles(view)
        }

    async def parts(self, window: str) -> dict[str, str]:
        """Return the rendered parts, which are the same for every visitor."""
        shown = await self.shown(window)
        count = self.pages.parts("platform/alerts", ("count",), alerts=len(shown["view"].alerts))
        return self.pages.parts("overview", PARTS, **shown) | {"alert-count": count["count"]}


class OverviewQuery(msgspec.Struct, frozen=True):
    """The window of the curves."""

    window: WindowName = "1h"


class Trouble(msgspec.Struct, frozen=True):
    """A line of the alerts."""

    word: str
    text: str
    since: int | None = None
    is_critical: bool = False
    path: str = "/console/alerts"


def troubles(view: OverviewView) -> list[Trouble]:
    """Return the alerts: engines that do not answer first."""
    engines = [
        Trouble(
            "engine",
            f"{name} does not answer: {check.error or 'failed'}",
            None,
            check.status == "unhealthy",
            "#engines",
        )
        for name, check in view.health.checks.items()
        if check.status != "healthy"
    ]
    engines.sort(key=lambda one: not one.is_critical)
    rows = [one for one in view.alerts if one.kind != "engine_down" or one.subject not in view.health.checks]
    return engines + [Trouble(one.kind.replace("_", " "), one.text, one.since, path=alert_path(one)) for one in rows]


def curve_of(view: ThroughputView) -> Curve:
    """Return the curve of pages and failures per second."""
    pages, failures = view.rates("pages"), view.rates("failures")
    long = view.window.span_ms > 24 * HOUR_MS
    labels = [moment(point.at)[5:10] if long else clock_time(point.at)[:5] for point in view.points]
    tips = [
        f"{moment(point.at)[5:16] if long else clock_time(point.at)[:5]} {zone_name()}: "
        f"{rate(page)} pages/s, {rate(failed)} failures/s"
        for point, page, failed in zip(view.points, pages, failures, strict=True)
    ]
    title = f"Pages and failures per second; now {rate(pages[-1])} pages and {rate(failures[-1])} failures"
    return Curve(pages, labels, tips, title, failures)


@operation("GET", "/console", "Show the overview", access="reader")
async def show_overview(services: OverviewServices, query: OverviewQuery, identity: Visitor) -> ApiResponse[Any]:
    shown = await services.shown(query.window)
    return services.pages.page("overview/page.html", identity, section="overview", **shown)


@operation("GET", "/console/stream", "Follow the overview", access="reader")
async def follow_overview(services: OverviewServices, query: OverviewQuery, identity: Visitor) -> EventStream:
    window = query.window
    parts = services.live.topic(("overview", window), lambda: services.parts(window))
    return services.live.stream([parts], identity.session)


OVERVIEW_PAGES = (show_overview, follow_overview)
