"""Paths of the bot API, and undecoded paths of admins: an id may contain a slash, which only its escape marks."""

from urllib.parse import unquote

from litestar.enums import ScopeType
from litestar.types import ASGIApp, Receive, Scope, Send

PREFIX = "/api/crawl"
ADMIN = f"{PREFIX}/admin"


class EscapedPaths:
    """An ASGI wrapper that routes admin requests by their undecoded path, and leaves others unchanged."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass one request to the application."""
        if scope["type"] == ScopeType.HTTP and scope["path"].startswith(f"{ADMIN}/"):
            sent = scope.get("raw_path", b"").decode("latin-1")
            # Segments of plain ASCII names are still decoded, so that routes match with any letters escaped.
            if "%" in sent:
                scope["path"] = "/".join(_plain(segment) for segment in sent.split("/"))
        await self._app(scope, receive, send)


def _plain(segment: str) -> str:
    read = unquote(segment)
    return read if read.isascii() and read.replace("-", "").isalnum() else segment
