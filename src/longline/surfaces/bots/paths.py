"""Paths of the admin routes as they were sent: an id may hold a slash, which only its escape tells from a separator."""

from urllib.parse import unquote

from litestar.enums import ScopeType
from litestar.types import ASGIApp, Receive, Scope, Send

from longline.surfaces.bots.envelope import PREFIX, Ask

ADMIN = f"{PREFIX}/admin/"


class EscapedPaths:
    """Has requests for admin routes found by their escaped path, and leaves all others alone."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass one request on."""
        if scope["type"] == ScopeType.HTTP and scope["path"].startswith(ADMIN):
            sent = scope.get("raw_path", b"").decode("latin-1")
            # The names of the routes themselves are read as ever, whichever of their letters are escaped.
            if "%" in sent:
                scope["path"] = "/".join(_plain(segment) for segment in sent.split("/"))
        await self._app(scope, receive, send)


def _plain(segment: str) -> str:
    read = unquote(segment)
    return read if read.isascii() and read.replace("-", "").isalnum() else segment


def path_id(request: Ask) -> str:
    """Return the id in a request's path."""
    named: str = unquote(request.path_params["id"])
    # No id has a null character, and PostgreSQL takes none: with another in its place it is simply not found.
    return named.replace("\0", "\ufffd")
