"""The robots.txt of a site on a person's order: fetched at once, outside of any run."""

from typing import NamedTuple

from longline.engine.fetch.request_sender import RequestContext, Sender
from longline.engine.proxies.rotation import ProxyRotation
from longline.model.fetch.content_encoding import Undecodable, decode_body
from longline.model.fetch.redirects import REDIRECTS
from longline.model.fetch.robots import MAX_BYTES, MAX_DECODED_BYTES, MAX_REDIRECTS, Robots
from longline.model.runs.crawl_plan import CrawlPlan
from longline.ports.http import FetchFailed, Response


class RobotsFile(NamedTuple):
    """The final response to a request for rules: status, text and rules; a site without rules has no text."""

    status: int
    text: str
    robots: Robots


class RobotsFiles:
    """A reader of robots.txt, by the proxies and the user agent of a plan."""

    def __init__(self, sender: Sender, proxies: ProxyRotation) -> None:
        self._sender, self._proxies = sender, proxies

    async def fetch(self, url: str, plan: CrawlPlan) -> RobotsFile:
        """Return the rules at a URL; raise `FetchFailed` when the site does not answer, or answers 429 or 5xx."""
        context = RequestContext(0, plan, cut_at=MAX_BYTES + 1)
        try:
            for _ in range(MAX_REDIRECTS + 1):
                response = await self._sender.send_unheld(url, context)
                if response.status not in REDIRECTS or response.header("location") is None:
                    break
                url = response.leads_to(url)
        finally:
            await self._proxies.write_results()
        return _read(response)


def _read(response: Response) -> RobotsFile:
    status = response.status
    if status == 429 or status >= 500:
        raise FetchFailed("http_429" if status == 429 else "http_5xx", f"HTTP {status}")
    try:
        body = decode_body(response.headers, response.body, MAX_DECODED_BYTES)
    except Undecodable:
        body = response.body
    text = body.decode(errors="replace") if 200 <= status < 300 else ""
    return RobotsFile(status, text, Robots.from_response(status, body))
