"""Conditional requests of RFC 9110: a page that is known is requested with its validators."""

from longline.model.fetch.credentials import Headers
from longline.model.frontier.task import ClaimedTask
from longline.model.runs.crawl_plan import CrawlPlan


def conditional_headers(task: ClaimedTask, plan: CrawlPlan) -> Headers:
    """Return the conditional headers that request a page only if it changed."""
    known = task.known
    if known is None or not plan.fetch.conditional:
        return ()
    etag = (("if-none-match", known.etag),) if known.etag else ()
    since = (("if-modified-since", known.last_modified),) if known.last_modified else ()
    return (*etag, *since)
