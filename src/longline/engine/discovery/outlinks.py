"""Outlinks: links of pages that lead away from their run's sites, stored for review by people."""

import asyncio
import logging
from collections.abc import Iterable

from longline.engine.worker.reporter import Finished
from longline.model.discovery.link import LinkDetails, NewLink
from longline.model.errors import Unavailable
from longline.model.runs.bounds import Bounds, bounds_of
from longline.model.url import BadUrl, parse
from longline.ports.records.discovery import LinkStore

log = logging.getLogger(__name__)

MAX_LINKS_PER_TRANSACTION = 2000


class Outlinks:
    """An observer of reports that stores outlinks; an unavailable database is only logged."""

    def __init__(self, links: LinkStore) -> None:
        self._links = links

    async def save(self, pages: Iterable[Finished]) -> None:
        """Store the outlinks of pages, and the responses of pages that stored links lead to."""
        pages = list(pages)
        found = await asyncio.to_thread(_leading_away, pages)
        learnt = [fact for page in pages if (fact := _learnt(page))]
        try:
            for start in range(0, len(found), MAX_LINKS_PER_TRANSACTION):
                await self._links.save(found[start : start + MAX_LINKS_PER_TRANSACTION])
            await self._links.update_from_pages(learnt)
        except Unavailable as error:
            log.warning("external links not saved", extra={"error": str(error)})


def _leading_away(pages: Iterable[Finished]) -> list[NewLink]:
    return [link for page in pages for link in leading_away(page)]


def leading_away(page: Finished) -> list[NewLink]:
    """Return the links of a page that lead away from the sites of its run."""
    bounds, task = bounds_of(page.plan.bounds), page.task
    return [
        NewLink(task.run_id, url, task.url, task.depth + 1)
        for url in (page.parsed.found if page.parsed else ())
        if _is_offsite(url, bounds)
    ]


def _learnt(page: Finished) -> LinkDetails | None:
    """Return the status and type of a page, for links to that page; None without a response."""
    if page.fetched.status is None:
        return None
    answer = page.fetched.response
    return LinkDetails(page.task.url, page.fetched.status, answer.header("content-type") if answer else None)


def _is_offsite(text: str, bounds: Bounds) -> bool:
    try:
        return bounds.refusal(parse(text)) == "offsite"
    except BadUrl:
        return False
