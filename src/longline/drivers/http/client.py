"""One request, one answer, by the wreq library: no redirects, no decoding, no cookies, no proxies of the system.

Names are resolved here and pinned to the client that dials, so a client belongs to a host and its addresses. Of the
three deadlines the one that passes first gives the failure its name: connecting, hearing nothing, taking too long.
"""

import asyncio
from collections import OrderedDict
from datetime import timedelta
from pathlib import Path
from time import monotonic
from typing import NamedTuple

import wreq

from longline.drivers.http.failures import RAISED, told
from longline.drivers.http.names import Address, Names, Resolve, as_address
from longline.model.url import BadUrl, Url, parse
from longline.ports.http import FetchFailed, Request, Response

MAX_CLIENTS = 512
"""Clients kept, one per host and about 50 KB each; the one not used for longest goes first."""

IDLE_CONNECTION_SECONDS = 30.0
MAX_HEADERS = 512

_BODILESS = (204, 304)
_VERSIONS = {
    "Version.HTTP_09": "HTTP/0.9",
    "Version.HTTP_10": "HTTP/1.0",
    "Version.HTTP_11": "HTTP/1.1",
    "Version.HTTP_2": "HTTP/2",
    "Version.HTTP_3": "HTTP/3",
}


class _Dialled(NamedTuple):
    """A client and the addresses that are pinned to it."""

    addresses: tuple[Address, ...]
    client: wreq.Client


class WreqHttp:
    """The `Http` port. `resolve` decides which addresses may be dialled; `roots` is a PEM file of trusted issuers."""

    def __init__(
        self, resolve: Resolve | None = None, *, max_clients: int = MAX_CLIENTS, roots: Path | None = None
    ) -> None:
        self._names = Names()
        self._resolve = resolve or self._names.resolve
        self._max_clients = max_clients
        self._roots = roots
        self._clients: OrderedDict[tuple[str, float], _Dialled] = OrderedDict()
        self._closed = False

    async def fetch(self, request: Request) -> Response:
        """Send one request and read the whole answer, or raise `FetchFailed`."""
        url = _parse(request.url)
        try:
            async with asyncio.timeout(request.total_seconds):
                return await self._exchange(request, url)
        except TimeoutError:
            message = f"{url.host}: not done within {request.total_seconds:g} s"
            raise FetchFailed("total_timeout", message) from None
        except RAISED as error:
            raise told(error, url.host) from None
        except asyncio.CancelledError:
            if self._cancelled_by_close():
                raise FetchFailed("network", "the client was closed") from None
            raise

    async def close(self) -> None:
        """Let go of connections; requests that still wait for an answer fail, bodies are read to their end."""
        self._closed = True
        clients, self._clients = self._clients, OrderedDict()
        for dialled in clients.values():
            dialled.client.close()
        await self._names.close()

    async def _exchange(self, request: Request, url: Url) -> Response:
        started = monotonic()
        addresses = await self._resolve(url.hostname)
        if self._closed:
            raise FetchFailed("network", "the client is closed")
        client = self._client(url.hostname, addresses, request.connect_seconds)
        headers, idle = _headers(request), timedelta(seconds=request.idle_seconds)
        async with client.get(url.href, headers=headers, read_timeout=idle) as answer:
            status = answer.status.as_int()
            body = b"" if status in _BODILESS else await _read(answer, request.max_bytes)
            return Response(
                url=request.url,
                status=status,
                headers=tuple((str(name, "latin-1"), str(value, "latin-1")) for name, value in answer.headers),
                body=body,
                version=_VERSIONS.get(str(answer.version), "HTTP/1.1"),
                elapsed_ms=round((monotonic() - started) * 1000),
            )

    def _client(self, hostname: str, addresses: tuple[Address, ...], connect_seconds: float) -> wreq.Client:
        key = (hostname, connect_seconds)
        known = self._clients.get(key)
        # Hashing addresses is slow; a remembered answer is the same object, so this seldom goes further than `is`.
        if known and (known.addresses is addresses or set(known.addresses) == set(addresses)):
            self._clients.move_to_end(key)
            return known.client
        client = self._build(hostname, addresses, connect_seconds)
        self._clients[key] = _Dialled(addresses, client)
        if len(self._clients) > self._max_clients:
            self._clients.popitem(last=False)  # not closed: requests under way keep it until they are done
        return client

    def _build(self, hostname: str, addresses: tuple[Address, ...], connect_seconds: float) -> wreq.Client:
        names = wreq.DnsOptions()
        if as_address(hostname) is None:
            names.add_resolve(hostname, addresses)
        return wreq.Client(
            redirect=wreq.Policy.none(),
            gzip=False,
            deflate=False,
            brotli=False,
            zstd=False,
            referer=False,
            no_proxy=True,
            dns_options=names,
            connect_timeout=timedelta(seconds=connect_seconds),
            pool_idle_timeout=timedelta(seconds=IDLE_CONNECTION_SECONDS),
            http1_options=wreq.Http1Options(max_headers=MAX_HEADERS, ignore_invalid_headers_in_responses=True),
            tls_verify=self._roots or True,
        )

    def _cancelled_by_close(self) -> bool:
        """The library cancels what is under way when a client is closed; to whoever waits that is a failure."""
        task = asyncio.current_task()
        return self._closed and task is not None and not task.cancelling()


def _parse(text: str) -> Url:
    try:
        return parse(text)
    except BadUrl as error:
        raise FetchFailed("bad_url", str(error)) from None


def _headers(request: Request) -> wreq.HeaderMap:
    headers = wreq.HeaderMap()
    for name, value in request.headers:
        headers.append(name, value)
    if len(headers) != len(request.headers):  # the library drops what is no header without a word
        raise ValueError(f"not headers: {request.headers!r}")
    return headers


async def _read(answer: wreq.Response, limit: int) -> bytes:
    """The body as it came; one with an announced length is read in one go, which is cheaper than piece by piece."""
    length = answer.content_length
    if length is not None and length <= limit:
        return bytes(await answer.bytes())
    body = await _read_pieces(answer, limit) if length is None else None
    if body is None:
        await answer.close()
        raise FetchFailed("too_large", f"more than {limit} bytes")
    return body


async def _read_pieces(answer: wreq.Response, limit: int) -> bytes | None:
    pieces: list[memoryview] = []
    size = 0
    async with answer.stream() as stream:
        async for piece in stream:
            if isinstance(piece, memoryview):  # the other kind is trailers
                pieces.append(piece)
                size += len(piece)
            if size > limit:
                return None
    return b"".join(pieces)
