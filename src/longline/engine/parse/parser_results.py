"""Results of a parser for one page, within the limits on links, children and reasons."""

import logging
from collections.abc import AsyncIterator, Sequence
from itertools import accumulate, takewhile

import msgspec

from longline.model.frontier.task import ClaimedTask
from longline.model.search.item import NewItem, Origin, new_items
from longline.model.storable_text import storable
from longline.plugins import Child, Item, Link, Links, Page, Refused
from longline.plugins.parser import Made
from longline.plugins.parser import Parser as Marked
from longline.plugins.parser_errors import describe

log = logging.getLogger(__name__)


SITEMAP = "sitemap"
"""Name of the parser of sitemaps, and kind of its item."""

MAX_LINKS = 10_000
"""Largest number of links followed from one page, unless the operator sets another."""

MAX_CHILDREN = 500
"""Largest number of children of one page."""

MAX_LISTED_LINKS = 50_000
"""Largest number of links that lead no deeper, from one document: a sitemap may list 50,000."""

MAX_LINK_CHARACTERS = 8 * 1024 * 1024
"""Characters of all links that are taken from one page: with a long base every short link is a long URL."""


MAX_REASONS = 20
"""Largest number of different reasons for refused links of one page; a run counts each reason in a row of its own."""


class Parsed(msgspec.Struct, frozen=True):
    """The result of parsing a page; `beside` are links that lead no deeper, `cut` is the number of dropped links.

    `priorities` has the priorities that differ from the default. `refused` are links that the parser does not follow,
    by reason, and `without_item` the reason for which it makes no item of the page. `error` is set when the parser
    raised: the page stays archived, and can be parsed again.
    """

    title: str = ""
    links: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    items: tuple[Item, ...] = ()
    error: str | None = None
    priorities: dict[str, int] = {}
    cut: int = 0
    refused: dict[str, tuple[str, ...]] = {}
    without_item: str | None = None
    children: tuple[str, ...] = ()

    @property
    def found(self) -> tuple[str, ...]:
        """Return the links of the page, with those that the parser does not follow."""
        return self.links + tuple(url for urls in self.refused.values() for url in urls)

    @property
    def weight(self) -> int:
        """Return the number of links to be checked when the page is reported."""
        refused = sum(map(len, self.refused.values())) if self.refused else 0
        return len(self.links) + len(self.beside) + refused

    @property
    def listing(self) -> str:
        """Return `sitemap` for a sitemap of pages, `index` for one of sitemaps, and an empty text for other pages."""
        found = next((item for item in self.items if item.kind == SITEMAP), None)
        return "" if found is None else "index" if found.fields.get("index") else SITEMAP

    def items_of(self, task: ClaimedTask, url: str, *, in_words: bool) -> list[NewItem]:
        """Return the items as they are stored, with the page they were made of."""
        made = ((item.kind, item.fields, item.key) for item in self.items)
        return new_items(made, Origin(task.run_id, task.id, url), in_words=in_words)


async def run(marked: Marked, page: Page, max_links: int = MAX_LINKS) -> Parsed:
    """Run one parser on one page, and return the result."""
    made = _ResultCollector(max_links)
    try:
        # Not by `Parser.parse`: a generator in between would cost as much as the page's title.
        results = marked.results(page)
        if isinstance(results, AsyncIterator):
            async for one in results:
                made.add(marked.checked(one, results))
        else:
            for one in results:
                made.add(marked.checked(one, results))
    except Exception as error:
        # A parser is foreign code: any exception becomes the error of this page and never stops the worker.
        said = describe(error, marked.file)
        log.warning("parser failed", extra={"parser": marked.name, "url": page.url, "error": said})
        return Parsed(error=f"{marked.name}: {said}")
    return made.parsed()


class _ResultCollector:
    """The results of a parser for one page, collected in order."""

    def __init__(self, max_links: int) -> None:
        self._max_links = max_links
        self._items: list[Item] = []
        self._links: list[str] = []
        self._beside: list[str] = []
        self._priorities: dict[str, int] = {}
        self._refused: dict[str, list[str]] = {}
        self._without_item: str | None = None
        self._children: list[str] = []

    def add(self, one: Made) -> None:
        """Add a result."""
        match one:
            case Links():
                self._links += one.urls
            case Link():
                (self._links if one.deeper else self._beside).append(one.url)
                if one.priority:
                    self._priorities[one.url] = one.priority
            case Refused():
                self._refuse(one)
            case Child():
                self._children.append(one.url)
            case _:
                self._items.append(one)

    def _refuse(self, one: Refused) -> None:
        if not one.urls:
            self._without_item = one.reason
        elif one.reason in self._refused or len(self._refused) < MAX_REASONS:
            self._refused.setdefault(one.reason, []).extend(one.urls)

    def parsed(self) -> Parsed:
        """Return the result of the page, within the limits on links."""
        title = next((str(item.fields["title"]) for item in self._items if item.fields.get("title")), "")
        kept, listed = _bounded(self._links, self._max_links), _bounded(self._beside, MAX_LISTED_LINKS)
        refused = {reason: _bounded(urls, self._max_links) for reason, urls in self._refused.items()}
        return Parsed(
            storable(title),
            kept,
            listed,
            tuple(self._items),
            priorities=self._priorities,
            cut=len(self._links) + len(self._beside) - len(kept) - len(listed),
            refused=refused,
            without_item=self._without_item,
            children=_bounded(self._children, MAX_CHILDREN),
        )


def _bounded(urls: Sequence[str], most: int) -> tuple[str, ...]:
    """Return the first links, within the limits on their number and on their characters."""
    kept = tuple(urls[:most])
    if sum(map(len, kept)) <= MAX_LINK_CHARACTERS:
        return kept
    sums = accumulate(map(len, kept))
    return kept[: sum(1 for _ in takewhile(lambda so_far: so_far <= MAX_LINK_CHARACTERS, sums))]
