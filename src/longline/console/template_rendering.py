"""Pages from templates: one environment, in which undefined names are errors and every value is escaped."""

from collections.abc import Callable, Mapping
from typing import Any

import jinja2

from longline.console import template_filters
from longline.console.actions import toast_header
from longline.console.content_security import HEADERS
from longline.console.drawing import fate_bar, icons, plot
from longline.console.navigation import NAVIGATION, PHONE_NAVIGATION
from longline.console.static_files import StaticFiles
from longline.console.visitor import Visitor
from longline.surfaces.operation import ApiResponse, Content
from longline.surfaces.server.request_id import REQUEST_ID

HTML = "text/html; charset=utf-8"
PAGE_HEADERS: Mapping[str, str] = {**HEADERS, "Cache-Control": "no-store"}

Clock = Callable[[], int]
"""Returns the engine's time in UTC milliseconds."""


class Pages:
    """The templates of the console. `now` is the engine's time, which pages show and count down by."""

    def __init__(self, static: StaticFiles, now: Clock, version: str) -> None:
        self._now = now
        self._environment = jinja2.Environment(
            loader=jinja2.PackageLoader("longline.console"),
            autoescape=True,
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._environment.filters |= template_filters.FILTERS
        self._environment.globals |= {
            "asset": static.path,
            "icon": icons.icon,
            "badge": icons.badge,
            "state_badge": icons.state_badge,
            "check_icon": icons.check_icon,
            "check_badge": icons.check_badge,
            "event_tone": icons.event_tone,
            "fate_bar": fate_bar.fate_bar,
            "share_bar": fate_bar.share_bar,
            "stacked_bar": fate_bar.stacked_bar,
            "fill_key": fate_bar.fill_key,
            "fates": fate_bar.FATES,
            "address": template_filters.address,
            "byte_parts": template_filters.byte_parts,
            "plot": plot.plot,
            "sparkline": plot.sparkline,
            "axis_number": template_filters.axis_number,
            "zone_name": template_filters.zone_name,
            "navigation": NAVIGATION,
            "phone_navigation": PHONE_NAVIGATION,
            "version": version,
        }

    def page(
        self, template: str, visitor: Visitor, /, *, section: str, is_refusal: bool = False, **shown: Any
    ) -> ApiResponse[Any]:
        """Return a page in the frame; `section` is the entry of the navigation that it belongs to.

        A page with a form `is_refusal` if the form was sent with problems.
        """
        text = self.text(template, visitor=visitor, theme=visitor.theme, section=section, **shown)
        headers = PAGE_HEADERS if visitor.toast is None else {**PAGE_HEADERS, **toast_header()}
        return ApiResponse(Content(HTML, text.encode()), 400 if is_refusal else 200, headers)

    def bare(self, template: str, status: int = 200, /, **shown: Any) -> ApiResponse[Any]:
        """Return a page without the frame, for a browser without a session."""
        return ApiResponse(Content(HTML, self.text(template, **shown).encode()), status, PAGE_HEADERS)

    def error(self, status: int, title: str, text: str) -> ApiResponse[Any]:
        """Return the page of an error."""
        number = REQUEST_ID.get()
        return self.bare("error.html", status, status=status, title=title, text=text, request_id=number, theme="")

    def parts(self, folder: str, names: tuple[str, ...], **shown: Any) -> dict[str, str]:
        """Return rendered parts of a page by their names; each has a template of its own in the folder."""
        return {name: self.text(f"{folder}/{name}.html", **shown) for name in names}

    def text(self, template: str, **shown: Any) -> str:
        """Return a rendered template; `now` is the engine's time."""
        return self._environment.get_template(template).render(now=self._now(), **shown)
