"""One search over everything that people look for: runs, sources, URLs and items."""

import msgspec

from longline.model.errors import BadInput
from longline.model.ids import task_id_of
from longline.model.runs.run_view import RunQuery, RunView
from longline.model.sources.source import SourceQuery, SourceRow
from longline.model.whole_number import whole_number
from longline.ports.records.runs.runs import RunViewStore
from longline.ports.records.sources import SourceStore
from longline.services.search.item_search import Hit, Searches, SearchRequest

MAX_FOUND = 10
"""Largest number of results of each kind."""


class FoundThings(msgspec.Struct, frozen=True):
    """The results of a search; `run` is the run with this number, and `task` the number of the task with this UUID."""

    text: str
    run: RunView | None = None
    task: int | None = None
    runs: list[RunView] = []
    sources: list[SourceRow] = []
    items: tuple[Hit, ...] = ()
    meant: str | None = None
    problem: str = ""

    @property
    def is_empty(self) -> bool:
        """Return whether nothing was found."""
        return not (self.run or self.task or self.runs or self.sources or self.items)


class Finder:
    """The search of the console's search box; the number of results of each kind is bounded."""

    def __init__(self, runs: RunViewStore, sources: SourceStore, items: Searches) -> None:
        self._runs, self._sources, self._items = runs, sources, items

    async def find(self, text: str) -> FoundThings:
        """Return everything that fits a text: a number, a UUID, a part of a name or URL, or words of an item."""
        text = text.strip()
        if not text:
            return FoundThings(text)
        number = whole_number(text.replace(",", ""))
        uuid = task_id_of(text)
        problem, page = "", None
        try:
            page = await self._items.find(SearchRequest(text, limit=MAX_FOUND))
        except BadInput as error:
            problem = str(error)
        return FoundThings(
            text,
            run=None if number is None else await self._runs.get(number),
            task=None if uuid is None else uuid[0],
            runs=await self._runs.find(RunQuery(text=text), limit=MAX_FOUND),
            sources=await self._sources.find(SourceQuery(search=text), limit=MAX_FOUND),
            items=() if page is None else page.hits,
            meant=None if page is None else page.meant,
            problem=problem,
        )
