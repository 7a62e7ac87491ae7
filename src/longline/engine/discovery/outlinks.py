"""Outlinks: links of pages that lead away from their run's sites, stored for review by people."""

import asyncio
from collections.abc import Iterable, Sequence

from longline.engine.parse.report_additions import ReportAdditions, ReportedPage
from longline.model.discovery.link import LinkDetails, NewLink
from longline.model.runs.crawl_bounds import Bounds, bounds_of
from longline.model.urls.url import BadUrl, parse
from longline.ports.records.discovery import LinkStore

MAX_LINKS_PER_TRANSACTION = 2000


class Outlinks:
    """A contributor to reports that stores outlinks."""

    def __init__(self, links: LinkStore) -> None:
        self._links = links

    async def contribute(self, pages: Sequence[ReportedPage], additions: ReportAdditions) -> None:
        """Add the outlinks of pages, and the responses of pages that stored links lead to.

        Most links of a page with many are stored before its report: a link that is stored twice is stored once.
        """
        found = await asyncio.to_thread(_leading_away, pages)
        for start in range(0, len(found) - MAX_LINKS_PER_TRANSACTION, MAX_LINKS_PER_TRANSACTION):
            await self._links.save(found[start : start + MAX_LINKS_PER_TRANSACTION])
        rest = (len(found) - 1) // MAX_LINKS_PER_TRANSACTION * MAX_LINKS_PER_TRANSACTION if found else 0
        additions.links += found[rest:]
        additions.link_details += [fact for page in pages if (fact := _learnt(page))]


def _leading_away(pages: Iterable[ReportedPage]) -> list[NewLink]:
    return [link for page in pages for link in leading_away(page)]


def leading_away(page: ReportedPage) -> list[NewLink]:
    """Return the links of a page that lead away from the sites of its run."""
    bounds, task = bounds_of(page.plan.bounds), page.task
    return [
        NewLink(task.run_id, url, task.url, task.depth + 1)
        for url in (page.parsed.found if page.parsed else ())
        if _is_offsite(url, bounds)
    ]


def _learnt(page: ReportedPage) -> LinkDetails | None:
    """Return the status and type of a page, for links to that page; None without a response."""
    return None if page.status is None else LinkDetails(page.task.url, page.status, page.content_type)


def _is_offsite(text: str, bounds: Bounds) -> bool:
    try:
        return bounds.refusal(parse(text)) == "offsite"
    except BadUrl:
        return False
