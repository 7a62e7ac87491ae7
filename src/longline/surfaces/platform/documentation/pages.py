"""`/`, `/docs` and `/openapi.json`: pages about this server. They load nothing from other hosts."""

from collections.abc import Callable, Mapping
from importlib.resources import files
from typing import Annotated, Any

import jinja2
import msgspec

from longline.model.cached_property import cached_property
from longline.surfaces.operation import ApiResponse, Content, operation
from longline.surfaces.platform.documentation.reference import Reference, reference

_HTML = "text/html; charset=utf-8"
_CSS = "text/css; charset=utf-8"
_HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'",
    "X-Content-Type-Options": "nosniff",
}
_TEMPLATES = "longline.surfaces.platform.documentation"


class Documentation:
    """The OpenAPI document and the pages made from it; each is made when it is first requested."""

    def __init__(self, document: Callable[[], dict[str, Any]], *, has_console: bool = False) -> None:
        self._make, self.has_console = document, has_console

    @cached_property
    def document(self) -> dict[str, Any]:
        """The OpenAPI document."""
        return self._make()

    @cached_property
    def reference_page(self) -> bytes:
        """The page with all operations."""
        return _render("reference.html", reference=self._reference)

    @cached_property
    def home_page(self) -> bytes:
        """The page at the root."""
        found = self._reference
        return _render("home.html", version=found.version, groups=found.groups)

    @cached_property
    def style(self) -> bytes:
        """The style sheet of both pages."""
        return files(_TEMPLATES).joinpath("templates", "style.css").read_bytes()

    @cached_property
    def _reference(self) -> Reference:
        return reference(self.document)


def _render(name: str, **values: Any) -> bytes:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader(_TEMPLATES), autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True
    )
    return environment.get_template(name).render(**values).encode()


def _page(media_type: str, data: bytes) -> ApiResponse[Content]:
    return ApiResponse(Content(media_type, data), 200, _HEADERS)


class HomeHeaders(msgspec.Struct, frozen=True):
    """The header by which a browser that opens a page is known."""

    accept: Annotated[str, msgspec.Meta(description="Media types that the client accepts.")] = ""


@operation(
    "GET",
    "/",
    "Show the start page; a browser is led to the console",
    access="public",
    answers={200: Content("text/html"), 303: Content("text/plain")},
)
async def show_home(services: Documentation, headers: HomeHeaders) -> ApiResponse[Any]:
    if services.has_console and "text/html" in headers.accept:
        return ApiResponse(Content("text/plain", b"see /console"), 303, {"Location": "/console", "Vary": "Accept"})
    return _page(_HTML, services.home_page)


@operation("GET", "/docs", "Show the reference of the HTTP APIs", access="public", answers={200: Content("text/html")})
async def show_reference(services: Documentation) -> ApiResponse[Content]:
    return _page(_HTML, services.reference_page)


@operation("GET", "/docs/style.css", "Return the style sheet", access="public", answers={200: Content("text/css")})
async def show_style(services: Documentation) -> ApiResponse[Content]:
    return _page(_CSS, services.style)


@operation("GET", "/openapi.json", "Return the OpenAPI document", access="public")
async def show_openapi(services: Documentation) -> dict[str, Any]:
    return services.document


DOCUMENTATION = (show_home, show_reference, show_style, show_openapi)
