"""URLs that pages of recrawls bring: children that a parser names, and images of products if the source stores them.

They go with the report of the page; a loop takes them afterwards.
"""

from collections.abc import Iterator, Sequence

from longline.engine.parse.report_additions import ReportAdditions, ReportedPage
from longline.model.bounded_dict import BoundedDict
from longline.model.recrawls.recrawl import MAX_PRODUCT_IMAGES, RecrawlFind, is_recrawl

PRODUCT = "product"
MAX_TOLD = 50_000
"""Number of images that are remembered as submitted: a page is fetched again and again, with the same images."""


class RecrawlFinds:
    """A contributor to reports that adds the URLs which pages of recrawls name."""

    def __init__(self) -> None:
        self._told: BoundedDict[tuple[int, str], None] = BoundedDict(MAX_TOLD)

    async def contribute(self, pages: Sequence[ReportedPage], additions: ReportAdditions) -> None:
        """Add the URLs of pages of recrawls."""
        for page in pages:
            if page.parsed is None or page.parsed.error or not is_recrawl(page.task.scope):
                continue
            additions.finds += (RecrawlFind(page.task.id, "child", url) for url in page.parsed.children)
            if page.plan.parse.stores_images:
                self._add_images(page, additions)

    def _add_images(self, page: ReportedPage, additions: ReportAdditions) -> None:
        new = [url for url in _images(page) if (page.task.run_id, url) not in self._told]
        additions.finds += (RecrawlFind(page.task.id, "image", url) for url in new)
        additions.after.append(lambda: self._remember(page.task.run_id, new))

    def _remember(self, run_id: int, urls: Sequence[str]) -> None:
        for url in urls:
            self._told[run_id, url] = None


def _images(page: ReportedPage) -> Iterator[str]:
    """Yield the images of the products of a page."""
    for item in page.parsed.items if page.parsed else ():
        urls = item.fields.get("images") if item.kind == PRODUCT else None
        if isinstance(urls, list):
            yield from dict.fromkeys(url for url in urls[:MAX_PRODUCT_IMAGES] if isinstance(url, str))
