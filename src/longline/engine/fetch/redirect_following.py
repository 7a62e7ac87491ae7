"""Redirects: those that are followed here, and the requests that follow them."""

import msgspec

from longline.engine.fetch.request_sender import RequestContext, Sender
from longline.engine.fetch.robots import RobotsRules
from longline.engine.frontier.leased_hosts import LeasedHost
from longline.engine.lifecycle.politeness_key import PolitenessKey
from longline.model.fetch.redirects import redirected_method
from longline.model.frontier.task import ClaimedTask
from longline.model.runs.crawl_bounds import bounds_of
from longline.ports.http import Request

Visit = tuple[str, str | None]
"""A requested URL, and the cookies that were sent with the request."""

_OF_BODY = frozenset({"content-type", "content-length", "content-encoding", "content-language", "content-location"})


def redirected(request: Request, status: int, url: str) -> Request:
    """Return the request that follows a redirect; one whose method becomes GET has no body."""
    if redirected_method(status, request.method) == request.method:
        return msgspec.structs.replace(request, url=url)
    headers = tuple((name, value) for name, value in request.headers if name.lower() not in _OF_BODY)
    return msgspec.structs.replace(request, url=url, headers=headers, method="GET", body=b"")


class RedirectRules:
    """The rules by which a redirect is not followed here: loops, too many hops, other hosts, and robots.txt."""

    def __init__(self, sender: Sender, robots: RobotsRules, politeness: PolitenessKey) -> None:
        self._sender, self._robots, self._politeness = sender, robots, politeness

    async def refusal(
        self, host: LeasedHost, task: ClaimedTask, url: str, seen: list[Visit], context: RequestContext
    ) -> tuple[str, str | None, str | None] | None:
        """Return reason, error and URL to hand over when a redirect is not followed here, else None."""
        max_redirects = context.plan.fetch.max_redirects
        # A site that checks its cookie redirects back to the URL that set it: only an identical request is a loop.
        if (url, self._sender.cookies(url, context)) in seen:
            return "redirect_loop", f"redirected back to {url}", None
        if task.hops + len(seen) > max_redirects:
            return "too_many_redirects", f"more than {max_redirects} redirects", None
        excluded = context.plan.bounds.keep_refused and bounds_of(context.plan.bounds).excludes(url)
        if excluded or not await self._politeness.covers(host.lease.host, url):
            return "redirected", f"redirected to {url}", url
        if context.plan.politeness.robots and not await self._robots.allow(host, url, context):
            return "robots", f"redirected to {url}", None
        return None
