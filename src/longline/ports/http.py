"""Outgoing HTTP requests, their proxies, responses and failures."""

from collections.abc import AsyncIterator
from typing import Literal, Protocol

import msgspec

from longline.model.errors import BadInput
from longline.model.fetch.redirects import RefusedLocation, redirect_target
from longline.model.fetch.request_limits import MAX_REQUEST_BODY_BYTES
from longline.model.proxies.proxy_uri import Proxy

Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]


class Request(msgspec.Struct, frozen=True):
    """One request. The client never follows redirects: the caller decides about every hop.

    The Content-Type of a `body` is one of the `headers`. A request of another method than GET is sent once, on a
    connection of its own, because it could not be sent again after a failure.

    Credentials in the URL are sent to that host as Basic authorization, unless `headers` has an Authorization.
    `connect_seconds` limits connecting to the host, through a proxy if there is one; `idle_seconds` limits the longest
    silence, connecting included; when several deadlines pass together, the total names the failure. A body of more than
    `max_bytes` is a failure, or is cut there with `cut`. With `render` a browser renders the page and follows its
    redirects; a client that cannot render returns the page itself.
    """

    url: str
    headers: tuple[tuple[str, str], ...] = ()
    connect_seconds: float = 10.0
    idle_seconds: float = 15.0
    total_seconds: float = 60.0
    max_bytes: int = 10 * 1024 * 1024
    proxy: Proxy | None = None
    cut: bool = False
    render: bool = False
    method: Method = "GET"
    body: bytes = b""

    def __post_init__(self) -> None:
        if self.body and self.method == "GET":
            raise BadInput("a GET request has no body")
        if len(self.body) > MAX_REQUEST_BODY_BYTES:
            raise BadInput(f"the body of a request has more than {MAX_REQUEST_BODY_BYTES} bytes")


class Response(msgspec.Struct, frozen=True):
    """A response as received; `url` is the requested URL without credentials, and `body` is undecoded.

    `headers` has every value, and keeps the order of values of one name. HTTP/2 and the client's own table may lower
    the case of names and reorder headers of different names. A request that broke on a kept connection was sent again
    after `resent_ms`. `ip` is the server's address on a direct connection, and None behind a proxy.
    """

    url: str
    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    version: str
    elapsed_ms: int
    resent_ms: int | None = None
    ip: str | None = None

    def header(self, name: str) -> str | None:
        """Return the first header of that name, ignoring case."""
        wanted = name.lower()
        # A loop: a generator would take twice as long, and six headers of every page are looked up.
        for key, value in self.headers:
            if key.lower() == wanted:
                return value
        return None

    @property
    def media_type(self) -> str:
        """Return the Content-Type without parameters, in lower case; empty when the response has none."""
        return (self.header("content-type") or "").partition(";")[0].strip().lower()

    def leads_to(self, base: str) -> str:
        """Return the Location resolved against `base`; raise `FetchFailed` for a URL that the parser rejects."""
        try:
            return redirect_target(self.header("location") or "", base)
        except RefusedLocation as refused:
            raise FetchFailed("bad_url", str(refused)) from None


class StreamedResponse(Protocol):
    """A response whose body has not been read: `head` is the response without its body.

    `close` must be called, and closes the connection of a body that was not read to its end.
    """

    head: Response
    content_length: int | None

    def pieces(self) -> AsyncIterator[memoryview]:
        """Yield the body as it comes, undecoded; raise `FetchFailed` when it breaks off or nothing comes for long."""
        ...

    async def close(self) -> None:
        """Close the connection, unless the body was read to its end."""
        ...


class FetchFailed(Exception):
    """A fetch without a complete response. `kind` is one word of the taxonomy in `model/frontier/reasons.py`.

    `proxy_fault` blames the proxy and not the target: another proxy may succeed, and the failure does not count against
    the page. The flag is set when the proxy reported the failure, could not be reached, or broke off; a refusal that is
    known to be the target's, an untrusted certificate and a long silence do not count against the proxy. A request that
    broke on a kept connection was sent again after `resent_ms`. `retry_after` is the number of seconds of the host's
    Retry-After, or of the rest of proxies.
    """

    def __init__(
        self,
        kind: str,
        message: str,
        *,
        proxy_fault: bool = False,
        resent_ms: int | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.proxy_fault = proxy_fault
        self.resent_ms = resent_ms
        self.retry_after = retry_after


class Http(Protocol):
    """The client for all fetches."""

    async def fetch(self, request: Request) -> Response:
        """Send one request and read the whole response, or raise `FetchFailed`."""
        ...

    async def close(self) -> None:
        """Close all connections."""
        ...


class StreamingHttp(Http, Protocol):
    """A client that can also give a response piece by piece."""

    async def open(self, request: Request) -> StreamedResponse:
        """Send one GET request and return the response as soon as its headers are there, or raise `FetchFailed`.

        Neither `total_seconds` nor `max_bytes` bounds the body: the reader does.
        """
        ...
