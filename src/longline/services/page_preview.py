"""Preview of one page, for another service: fetched at once without a run, with its text and metadata extracted."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import msgspec

from longline.html.page_text import simple_text
from longline.html.parse_cost import TooComplex
from longline.model.errors import BadInput, LonglineError
from longline.model.fetch.content_encoding import ACCEPT_ENCODING, Undecodable, decode_body
from longline.model.fetch.cookies import RunCookies
from longline.model.url import parse
from longline.plugins import Page
from longline.plugins.feed_links import feed_links
from longline.ports.clock import Clock
from longline.ports.http import REDIRECTS, FetchFailed, Http, Request, Response

MAX_HOPS = 10
MAX_BYTES = 10 * 1024 * 1024


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

    def __init__(self, http: Http, clock: Clock, user_agent: str) -> None:
        self._http, self._clock, self._user_agent = http, clock, user_agent

    async def take(self, url: str, seconds: float) -> PagePreview:
        """Preview a page within `seconds`; raise `BadInput` for a forbidden URL, `NoPreview` for a failed fetch."""
        begun = self._clock.monotonic()
        page = await self.fetch(url, seconds)
        glance = PagePreview(url, page.url, page.status, page.content_type)
        if is_html(page):
            glance = _read(glance, page)
        return msgspec.structs.replace(glance, took_ms=round((self._clock.monotonic() - begun) * 1000))

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


def _read(glance: PagePreview, page: Page) -> PagePreview:
    try:
        open_graph = {name: text for name in OPEN_GRAPH if (text := _meta(page, f'meta[property="og:{name}"]'))}
        return msgspec.structs.replace(
            glance,
            html=page.html,
            title=page.title,
            text=simple_text(page.tree, NO_TEXT),
            author=_meta(page, 'meta[name="author"]'),
            description=_meta(page, 'meta[name="description"]'),
            open_graph=open_graph,
            feeds=tuple(feed_links(page)),
        )
    except TooComplex:
        return msgspec.structs.replace(glance, html=page.html)


NO_TEXT = ("script", "style", "nav", "header", "footer")
OPEN_GRAPH = ("title", "description", "image", "type", "url", "site_name")


def _meta(page: Page, selector: str) -> str:
    return next((text for node in page.css(selector) if (text := node.attributes.get("content"))), "")
