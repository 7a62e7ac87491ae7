"""Pages rendered by a browser: a rendering service fetches them, and the usual client everything else.

The service follows redirects and runs scripts by itself and has to guard its own egress; only the host of the requested
URL is checked here.
"""

import asyncio
from datetime import timedelta
from pathlib import Path
from time import monotonic
from typing import Annotated

import msgspec
import wreq

from longline.drivers.http.certificates import load_issuers
from longline.drivers.http.client import read_body
from longline.drivers.http.dns import Resolve
from longline.drivers.http.failures import RAISED
from longline.model.urls.url import BadUrl, parse
from longline.ports.http import FetchFailed, Request, Response, StreamedResponse, StreamingHttp

AS_JSON = 6
"""Largest number of bytes that one byte of a page takes inside JSON."""

HTML = (("content-type", "text/html; charset=utf-8"),)


class Rendered(msgspec.Struct, frozen=True):
    """The response of the rendering service."""

    html: str
    final_url: str = ""
    status_code: Annotated[int, msgspec.Meta(ge=100, le=599)] = 200


class RenderingHttp:
    """The `Http` port with a rendering service; `resolve` checks that a host may be visited."""

    def __init__(self, plain: StreamingHttp, url: str, resolve: Resolve, roots: Path | None = None) -> None:
        self._plain, self._url, self._resolve = plain, f"{url.rstrip('/')}/render", resolve
        # No connection is kept: a rendering that breaks on a closed connection could not be sent again.
        self._client = wreq.Client(
            tls_verify=load_issuers(roots).store,
            no_proxy=True,
            redirect=wreq.Policy.none(),
            pool_max_idle_per_host=0,
        )

    async def fetch(self, request: Request) -> Response:
        """Send one request and read the whole response, or raise `FetchFailed`."""
        if not request.render:
            return await self._plain.fetch(request)
        await self._resolve(parse(request.url).hostname)
        started = monotonic()
        try:
            async with asyncio.timeout(request.total_seconds):
                found = _read(await self._ask(request))
        except TimeoutError:
            raise FetchFailed("total_timeout", f"not rendered within {request.total_seconds:g} s") from None
        body = found.html.encode()
        if len(body) > request.max_bytes:
            raise FetchFailed("too_large", f"more than {request.max_bytes} bytes")
        url, elapsed = _landed(found, request.url), round((monotonic() - started) * 1000)
        return Response(url, found.status_code, HTML, body, "HTTP/1.1", elapsed)

    async def open(self, request: Request) -> StreamedResponse:
        """Return the response of the usual client: a file is not rendered."""
        return await self._plain.open(request)

    async def close(self) -> None:
        """Close all connections."""
        self._client.close()
        await self._plain.close()

    async def _ask(self, request: Request) -> bytes:
        asked = msgspec.json.encode({"url": request.url})
        headers, patience = {"content-type": "application/json"}, timedelta(seconds=request.total_seconds)
        try:
            async with self._client.post(self._url, body=asked, headers=headers, timeout=patience) as answer:
                status = answer.status.as_int()
                if status >= 300:
                    raise FetchFailed("render_failed", f"the rendering service answered {status}")
                return await read_body(answer, AS_JSON * request.max_bytes, cut=False)
        except RAISED as error:
            raise FetchFailed("render_failed", f"the rendering service: {str(error).splitlines()[0]}") from None


def _read(answer: bytes) -> Rendered:
    try:
        return msgspec.json.decode(answer, type=Rendered)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise FetchFailed("render_failed", f"the rendering service did not answer as it should: {error}") from None


def _landed(found: Rendered, asked: str) -> str:
    """Return the browser's final URL, or the requested URL when the final one is missing or invalid."""
    try:
        return parse(found.final_url).href if found.final_url else asked
    except BadUrl:
        return asked
