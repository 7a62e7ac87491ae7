"""How a request leaves the house and what comes back."""

from typing import Protocol

import msgspec


class Request(msgspec.Struct, frozen=True):
    """One GET. Redirects are never followed here: every hop is somebody's decision."""

    url: str
    headers: tuple[tuple[str, str], ...] = ()
    connect_seconds: float = 10.0
    idle_seconds: float = 15.0
    total_seconds: float = 60.0
    max_bytes: int = 10 * 1024 * 1024


class Response(msgspec.Struct, frozen=True):
    """An answer as it came off the wire; `body` is undecoded, `headers` keep their order and repeats."""

    url: str
    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    version: str
    elapsed_ms: int

    def header(self, name: str) -> str | None:
        """The first header of that name, whatever its case."""
        wanted = name.lower()
        return next((v for k, v in self.headers if k.lower() == wanted), None)


class FetchFailed(Exception):
    """No whole answer came. `kind` is one word of the taxonomy in `model/fate.py`."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class Http(Protocol):
    """The one client for everything that is fetched."""

    async def fetch(self, request: Request) -> Response:
        """Send one request and read the whole answer, or raise `FetchFailed`."""
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...
