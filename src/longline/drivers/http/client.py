"""One request, one response, by the wreq library: no redirects, no decoding, no cookies, no system proxies.

Names are resolved here and pinned to the client that dials, so a client belongs to a host, its addresses and its proxy.
The deadline that passes first names the failure: connecting, idle, or total.

A server may close a kept connection at the moment at which a request is sent on it. Such a request is sent once more,
at once, on a connection of its own (RFC 9112, section 9.3.1: a GET is idempotent). A POST may have been acted on, so
it is never sent again; it goes on a connection of its own from the start, which no server has been waiting to close.
"""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from pathlib import Path
from time import monotonic
from types import MappingProxyType
from typing import get_args

import wreq

from longline.drivers.http.certificates import load_issuers
from longline.drivers.http.connection_pool import DEFAULT_TLS, ClientCache, TlsSettings
from longline.drivers.http.credentials import split_credentials
from longline.drivers.http.dns import NameResolver, Resolve
from longline.drivers.http.failures import RAISED, closed_connection, fetch_failure, is_tunnel_refused, tunnel_refused
from longline.drivers.http.proxy_tunnel import refusal_status
from longline.drivers.http.route import Route, find_route
from longline.drivers.http.streaming import WreqStream
from longline.model.fetch.egress import Address
from longline.model.urls.url import BadUrl, Url, parse
from longline.ports.http import FetchFailed, Method, Request, Response

MAX_CLIENTS = 512

_BODILESS = (204, 304)
_METHODS = MappingProxyType({name: getattr(wreq.Method, name) for name in get_args(Method)})
_REQUEST_TIMEOUT = 408
_CONNECT_SHARE = 0.95
_VERSIONS = {
    "Version.HTTP_09": "HTTP/0.9",
    "Version.HTTP_10": "HTTP/1.0",
    "Version.HTTP_11": "HTTP/1.1",
    "Version.HTTP_2": "HTTP/2",
    "Version.HTTP_3": "HTTP/3",
}


class RequestTimes:
    """The times of one request: its start, and the milliseconds after which the request was sent again, if at all."""

    def __init__(self, started: float) -> None:
        self.started = started
        self.resent_ms: int | None = None

    def note_resend(self) -> None:
        """Note that the request is sent once more now."""
        self.resent_ms = self.elapsed_ms()

    def elapsed_ms(self) -> int:
        """Return the milliseconds since the start."""
        return round((monotonic() - self.started) * 1000)


class WreqHttp:
    """The `Http` port. `resolve` decides which addresses may be dialled; `roots` is a PEM file of extra issuers.

    `names` resolves the proxies' own addresses, which are not subject to `resolve`. `issuers` are the files of trusted
    certificates.
    """

    def __init__(
        self,
        resolve: Resolve | None = None,
        *,
        names: NameResolver | None = None,
        max_clients: int = MAX_CLIENTS,
        roots: Path | None = None,
        tls: TlsSettings = DEFAULT_TLS,
    ) -> None:
        self._names = names or NameResolver()
        self._resolve = resolve or self._names.resolve
        store, self.issuers = load_issuers(roots)
        self._clients = ClientCache(max_clients, store, tls)
        self._closed = False

    async def fetch(self, request: Request) -> Response:
        """Send one request and read the whole response, or raise `FetchFailed`."""
        url, times = _parse_url(request.url), RequestTimes(monotonic())
        try:
            async with asyncio.timeout(request.total_seconds):
                return await self._fetch_by_route(request, url, times)
        except TimeoutError:
            message = f"{url.host}: not done within {request.total_seconds:g} s"
            raise FetchFailed("total_timeout", message, resent_ms=times.resent_ms) from None
        except FetchFailed as failed:
            failed.resent_ms = times.resent_ms
            raise
        except asyncio.CancelledError:
            if self._cancelled_by_close():
                raise FetchFailed("network", "the client was closed") from None
            raise

    async def open(self, request: Request) -> WreqStream:
        """Send one GET request and return the response as soon as its headers are there, or raise `FetchFailed`."""
        url, times = _parse_url(request.url), RequestTimes(monotonic())
        try:
            async with asyncio.timeout(request.total_seconds):
                route = await find_route(url, request.proxy, self._resolve, self._names)
                if self._closed:
                    raise FetchFailed("network", "the client is closed")
                return await self._open_by_route(request, url, route, times)
        except TimeoutError:
            raise FetchFailed("total_timeout", f"{url.host}: no answer within {request.total_seconds:g} s") from None
        except FetchFailed as failed:
            failed.resent_ms = times.resent_ms
            raise
        except asyncio.CancelledError:
            if self._cancelled_by_close():
                raise FetchFailed("network", "the client was closed") from None
            raise

    async def _open_by_route(self, request: Request, url: Url, route: Route, times: RequestTimes) -> WreqStream:
        try:
            return await self._send(request, url, route, times)
        except RAISED as error:
            if is_tunnel_refused(error):
                raise tunnel_refused(route, await refusal_status(route, _host_and_port(url))) from None
            raise fetch_failure(error, route) from None

    async def _send(self, request: Request, url: Url, route: Route, times: RequestTimes) -> WreqStream:
        """Send a request, once more if its kept connection was closed; return the response with its unread body."""
        connect, idle = _deadlines(request)
        host = self._clients.get(route, connect)
        url_text, authorization = split_credentials(url.href)
        headers = _request_headers(request, authorization)
        shown = request.url if authorization is None else url_text
        try:
            answer = await host.pooled.get(url_text, headers=headers, read_timeout=idle)
            connection = str(answer.local_addr)
            if not host.note_answer(connection) or answer.status.as_int() != _REQUEST_TIMEOUT:
                return await _open_stream(answer, route, times, shown, partial(host.note_use, connection))
            await answer.close()
        except RAISED as error:
            closed = closed_connection(error)
            if closed is None or not host.has_answered(closed):
                raise
        times.note_resend()
        answer = await host.unpooled.get(url_text, headers=headers, read_timeout=idle)
        return await _open_stream(answer, route, times, shown, lambda: None)

    async def close(self) -> None:
        """Close all connections; requests without a response fail, bodies are read to their end."""
        self._closed = True
        self._clients.close()
        await self._names.close()

    async def _fetch_by_route(self, request: Request, url: Url, times: RequestTimes) -> Response:
        route = await find_route(url, request.proxy, self._resolve, self._names)
        if self._closed:
            raise FetchFailed("network", "the client is closed")
        try:
            return await self._exchange(request, url, route, times)
        except RAISED as error:
            if is_tunnel_refused(error):
                raise tunnel_refused(route, await refusal_status(route, _host_and_port(url))) from None
            raise fetch_failure(error, route) from None

    async def _exchange(self, request: Request, url: Url, route: Route, times: RequestTimes) -> Response:
        connect, idle = _deadlines(request)
        host = self._clients.get(route, connect)
        url_text, authorization = split_credentials(url.href)
        headers = _request_headers(request, authorization)
        shown = request.url if authorization is None else url_text
        if request.method != "GET":
            method, body = _METHODS[request.method], request.body or None
            async with host.unpooled.request(method, url_text, headers=headers, read_timeout=idle, body=body) as answer:
                return await _read_response(answer, request, route, times, shown)
        try:
            async with host.pooled.get(url_text, headers=headers, read_timeout=idle) as answer:
                connection = str(answer.local_addr)
                reused = host.note_answer(connection)
                # On a kept connection 408 refers to the time for which the connection was idle.
                if not reused or answer.status.as_int() != _REQUEST_TIMEOUT:
                    response = await _read_response(answer, request, route, times, shown)
                    host.note_use(connection)  # the pool counts the idle time of a connection from here
                    return response
        except RAISED as error:
            closed = closed_connection(error)
            if closed is None or not host.has_answered(closed):
                raise
        times.note_resend()
        async with host.unpooled.get(url_text, headers=headers, read_timeout=idle) as answer:
            return await _read_response(answer, request, route, times, shown)

    def _cancelled_by_close(self) -> bool:
        """Return True when closing the client, by which the library cancels open requests, cancelled this one."""
        task = asyncio.current_task()
        return self._closed and task is not None and not task.cancelling()


def _parse_url(text: str) -> Url:
    try:
        return parse(text, credentials=True)
    except BadUrl as error:
        # A URL that cannot be parsed cannot be cleared of its password either.
        message = str(error) if "@" not in text else f"bad URL: {str(error).rpartition(': ')[2]}"
        raise FetchFailed("bad_url", message) from None


def _host_and_port(url: Url) -> str:
    return url.host if url.host != url.hostname else f"{url.hostname}:443"


def _deadlines(request: Request) -> tuple[float, timedelta]:
    """Return the connect deadline and the idle deadline; the idle clock starts before connecting does."""
    # The connect deadline must pass first, or a connect timeout would be reported as an idle timeout.
    connect = min(request.connect_seconds, request.idle_seconds * _CONNECT_SHARE)
    return connect, timedelta(seconds=request.idle_seconds)


def _request_headers(request: Request, authorization: str | None) -> wreq.HeaderMap:
    headers = wreq.HeaderMap()
    for name, value in request.headers:
        headers.append(name, value if value.isascii() else _header_text(value))
    if len(headers) != len(request.headers):  # the library drops invalid headers silently
        raise ValueError(f"not headers: {', '.join(name for name, _ in request.headers)!r}")
    if authorization is not None and "authorization" not in headers:
        headers.append("authorization", authorization)
    return headers


def _header_text(value: str) -> str:
    """Return the text that the library encodes, as UTF-8, to the bytes of a header that a server has sent.

    Header bytes are decoded as Latin-1. The library can only write UTF-8: bytes that are not UTF-8 are written as text.
    """
    try:
        return value.encode("latin-1").decode()
    except UnicodeError:
        return value


async def _read_response(
    answer: wreq.Response, request: Request, route: Route, times: RequestTimes, url: str
) -> Response:
    """Check and read a response."""
    status = answer.status.as_int()
    peer = _checked_peer(answer, route, status)
    body = b"" if status in _BODILESS else await read_body(answer, request.max_bytes, cut=request.cut)
    return _response(answer, route, times, url, peer, body)


def _headers_of(answer: wreq.Response) -> tuple[tuple[str, str], ...]:
    return tuple([(str(name, "latin-1"), str(value, "latin-1")) for name, value in answer.headers])


async def _open_stream(
    answer: wreq.Response, route: Route, times: RequestTimes, url: str, read_whole: Callable[[], None]
) -> WreqStream:
    """Check a response and return it with its unread body."""
    status = answer.status.as_int()
    try:
        peer = _checked_peer(answer, route, status)
    except FetchFailed:
        await answer.close()
        raise
    return WreqStream(answer, _response(answer, route, times, url, peer), route, read_whole)


def _response(
    answer: wreq.Response, route: Route, times: RequestTimes, url: str, peer: Address, body: bytes = b""
) -> Response:
    """Return a response with its body, or without a body that is still to be read."""
    return Response(
        url=url,
        status=answer.status.as_int(),
        headers=_headers_of(answer),
        body=body,
        version=_VERSIONS.get(str(answer.version), "HTTP/1.1"),
        elapsed_ms=times.elapsed_ms(),
        resent_ms=times.resent_ms,
        ip=str(peer) if route.proxy is None else None,
    )


def _checked_peer(answer: wreq.Response, route: Route, status: int) -> Address:
    """Return the address that answered; raise `FetchFailed` for an unchecked address or a proxy's own refusal."""
    remote = answer.remote_addr
    peer = remote.ip() if remote is not None else None
    # Pinned names ensure a checked address; this second check rejects a response from any other address.
    if peer is None or peer not in route.dialled:
        raise FetchFailed("egress", f"{route.hostname}: answered from an address that was not checked")
    if route.forwarded and (status == 407 or (status == 401 and _is_proxys_own(answer.headers))):
        raise tunnel_refused(route, status)
    return peer


def _is_proxys_own(headers: wreq.HeaderMap) -> bool:
    """Return whether the proxy itself sent 401 instead of 407, as tinyproxy does; a forwarded response has a Via."""
    software = bytes(headers.get("server") or b"").lower()
    return "proxy-authenticate" in headers or (software.startswith(b"tinyproxy") and "via" not in headers)


async def read_body(answer: wreq.Response, limit: int, *, cut: bool) -> bytes:
    """Return the undecoded body; a body of known length is read in one go, which is cheaper than piece by piece."""
    length = answer.content_length
    if length is not None and length <= limit:
        return bytes(await answer.bytes())
    body = await _read_pieces(answer, limit) if length is None or cut else None
    if body is not None and len(body) <= limit:
        return body
    await answer.close()
    if body is None or not cut:
        raise FetchFailed("too_large", f"more than {limit} bytes")
    return body[:limit]


async def _read_pieces(answer: wreq.Response, limit: int) -> bytes:
    """Return the whole body, or somewhat more than the limit."""
    pieces: list[memoryview] = []
    size = 0
    async with answer.stream() as stream:
        async for piece in stream:
            if isinstance(piece, memoryview):  # the other kind is trailers
                pieces.append(piece)
                size += len(piece)
            if size > limit:
                break
    return b"".join(pieces)
