"""Preview of one page, for another service: fetched at once without a run, with its text and metadata extracted."""

import asyncio
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import msgspec

from longline.engine.parse.page_parser import PageParser
from longline.model.errors import BadInput, LonglineError
from longline.model.fetch.content_encoding import ACCEPT_ENCODING, Undecodable, decode_body
from longline.model.fetch.cookies import RunCookies
from longline.model.fetch.redirects import REDIRECTS
from longline.model.urls.url import parse
from longline.plugins import Page
from longline.plugins.parser import PARSER_KEY
from longline.ports.clock import Clock
from longline.ports.http import FetchFailed, Http, Request, Response

MAX_HOPS = 10
MAX_BYTES = 10 * 1024 * 1024
PARSER = "page_preview"
"""Name of the parser that reads the page."""


class NoPreview(LonglineError):
    """The page could not be fetched."""


class PagePreview(msgspec.Struct, frozen=True):
    """A fetched page and its extract. `open_graph` has the page's Open Graph properties, empty unless it is HTML."""

    url: str
    final_url: str
    status: int
    content_type: str
    html: str = ""
    title: str = ""
    text: str = ""
    author: str = ""
    description: str = ""
    open_graph: dict[str, str] = {}
    feeds: tuple[str, ...] = ()
    took_ms: int = 0


class PagePreviews:
    """Fetcher of single pages. The HTTP client's wall blocks internal addresses, on every hop."""

    def __init__(self, http: Http, clock: Clock, user_agent: str, parser: PageParser) -> None:
        self._http, self._clock, self._user_agent, self._parser = http, clock, user_agent, parser

    async def take(self, url: str, seconds: float) -> PagePreview:
        """Preview a page within `seconds`; raise `BadInput` for a forbidden URL, `NoPreview` for a failed fetch."""
        begun = self._clock.monotonic()
        page = await self.fetch(url, seconds, {PARSER_KEY: PARSER})
        glance = PagePreview(url, page.url, page.status, page.content_type)
        if is_html(page):
            glance = await self._read(glance, page)
        return msgspec.structs.replace(glance, took_ms=round((self._clock.monotonic() - begun) * 1000))

    async def _read(self, glance: PagePreview, page: Page) -> PagePreview:
        """Return the preview with the extract of its page; a page that cannot be parsed has only its markup."""
        parsed = await self._parser.parse(page)
        found: dict[str, Any] = parsed.items[0].fields if parsed.items else {}
        # Some encodings take a second to decode.
        html = await asyncio.to_thread(lambda: page.html)
        return msgspec.structs.replace(glance, html=html, **found | {"feeds": tuple(found.get("feeds", ()))})

    async def fetch(self, url: str, seconds: float, config: Mapping[str, Any] = MappingProxyType({})) -> Page:
        """Fetch a page, for a parser with `config`; raises as `take` does."""
        target, begun = parse(url).href, self._clock.monotonic()
        try:
            response = await self._follow(target, begun + seconds)
            body = decode_body(response.headers, response.body, MAX_BYTES)
        except (FetchFailed, Undecodable) as failed:
            if failed.kind == "egress":
                raise BadInput("the URL leads to an address that may not be fetched") from None
            raise NoPreview(f"fetch failed: {failed.kind}") from None
        return Page(response.url, body, status=response.status, headers=response.headers, config=config)

    async def _follow(self, url: str, deadline: float) -> Response:
        jar = RunCookies()
        for _ in range(MAX_HOPS + 1):
            left = deadline - self._clock.monotonic()
            if left <= 0:
                raise FetchFailed("total_timeout", "it took too long")
            response = await self._http.fetch(self._request(url, left, jar.header(url)))
            if response.status not in REDIRECTS or response.header("location") is None:
                return response
            jar.store(url, [value for name, value in response.headers if name.lower() == "set-cookie"])
            url = response.leads_to(url)
        raise FetchFailed("too_many_redirects", f"more than {MAX_HOPS} redirects")

    def _request(self, url: str, seconds: float, cookies: str | None) -> Request:
        usual = (("user-agent", self._user_agent), ("accept", "*/*"), ("accept-encoding", ACCEPT_ENCODING))
        headers = usual if cookies is None else (*usual, ("cookie", cookies))
        return Request(url, headers, idle_seconds=seconds, total_seconds=seconds, max_bytes=MAX_BYTES)


def is_html(page: Page) -> bool:
    """Return whether a page's Content-Type is HTML."""
    return "html" in page.content_type.lower()
