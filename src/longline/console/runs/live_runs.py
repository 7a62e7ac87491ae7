"""Live lists of runs: the rows of all open lists are read together, and newer runs are announced."""

from collections import Counter
from contextlib import aclosing
from typing import Any

import msgspec

from longline.console.live_updates import Frames, LivePages, Parts
from longline.console.template_filters import number
from longline.console.template_rendering import Pages
from longline.model.runs.run_view import RunQuery, RunView
from longline.services.runs.run_views import RunPages
from longline.surfaces.sse import frame

MAX_NEWER = 50
"""Newer runs that are counted for a list."""


class RunRows(msgspec.Struct, frozen=True):
    """The runs that a page shows, by its filters. A page that `announces` is told of newer runs."""

    choice: RunQuery
    ids: tuple[int, ...]
    announces: bool
    filters: dict[str, Any]

    def newer(self, ids: str) -> int:
        """Return the number of these runs that are newer than all that the page shows."""
        last = max(self.ids, default=0)
        return sum(int(one) > last for one in ids.split())


def newest_part(choice: RunQuery) -> str:
    """Return the name of the part with the ids of the newest chosen runs."""
    return f"newest {choice}"


class LiveRuns:
    """The rows of all open lists: each tick reads them with one statement, however many pages show them."""

    def __init__(self, pages: Pages, runs: RunPages, live: LivePages) -> None:
        self._pages, self._runs, self._live = pages, runs, live
        self._ids: Counter[int] = Counter()
        self._rendered: dict[int, tuple[RunView, str]] = {}
        self._choices: Counter[RunQuery] = Counter()

    async def frames(self, rows: RunRows, mark: str) -> Frames:
        """Yield frames with the parts of a page that changed, from behind the mark that its browser has."""
        self._ids.update(rows.ids)
        self._announce(rows, 1)
        try:
            async with aclosing(self._live.parts("runs", self._read, mark)) as found:
                async for place, parts in found:
                    if mine := self._own(rows, parts):
                        yield frame("parts", mine, place)
        finally:
            self._ids.subtract(rows.ids)
            self._ids = +self._ids
            self._announce(rows, -1)

    def _announce(self, rows: RunRows, pages: int) -> None:
        if rows.announces:
            self._choices[rows.choice] += pages
            self._choices = +self._choices

    async def _read(self) -> Parts:
        counts = await self._runs.counts()
        parts = {f"count-{state}": number(count) for state, count in counts.items()}
        parts["count-all"] = number(sum(counts.values()))
        found = await self._runs.among(list(self._ids))
        self._rendered = {run.id: self._row(run) for run in found}
        parts |= {f"run-{run_id}": html for run_id, (_, html) in self._rendered.items()}
        for choice in self._choices:
            parts[newest_part(choice)] = " ".join(map(str, await self._runs.newest(choice, MAX_NEWER)))
        return parts

    def _row(self, run: RunView) -> tuple[RunView, str]:
        """Return the row of a run; the browser tells its times, so that only changes of the run change it."""
        known = self._rendered.get(run.id)
        return known if known and known[0] == run else (run, self._pages.text("runs/parts/row.html", run=run))

    def _own(self, rows: RunRows, parts: Parts) -> Parts:
        """Return the parts of one page among those of all."""
        names = {f"run-{one}" for one in rows.ids}
        mine = {name: html for name, html in parts.items() if name in names or name.startswith("count-")}
        if rows.announces and (ids := parts.get(newest_part(rows.choice))) is not None:
            shown = {"newer": rows.newer(ids), "most": MAX_NEWER, "filters": rows.filters}
            mine["news"] = self._pages.text("runs/parts/news.html", **shown)
        return mine
