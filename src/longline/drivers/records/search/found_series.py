"""Series and chapters that the runs of catalogues find: written, and logged, with the report that found them."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from longline.drivers.records.database import Transaction
from longline.drivers.records.logs.logs import append_entries
from longline.model.ids import new_id
from longline.model.logs.run_log import NewLogEntry, start_entry
from longline.model.search.item import NewItem
from longline.model.sources.slug import slug_of

KIND, CHAPTER_KIND = "series", "chapter"
FOUND_TOPIC = "found"
SERIES_FOUND, CHAPTERS_FOUND = "new series found", "new chapters found"
MAX_LISTED = 200
"""Largest number of chapters whose numbers are in one log entry."""

_OWN = frozenset({"title", "link", "cover"})
"""Fields of a series that have columns of their own; the others are its further facts."""

_Page = tuple[int, str]
"""A run and the URL of a page."""


class _Found(NamedTuple):
    """A series as a page of its source describes it."""

    run_id: int
    external_id: str
    title: str
    url: str
    cover: str | None
    page: str
    facts: str


async def note_series(tx: Transaction, items: Sequence[NewItem]) -> Mapping[_Page, int]:
    """Make a series and a target of each new id that a run of a catalogue has found; return their numbers by page."""
    found = [_read(item) for item in items if item.kind == KIND and item.name]
    if not found:
        return {}
    rows = [(each.run_id, each.external_id) for each in found]
    known = {(row["run_id"], row["external_id"]) for row in await tx.batch("known_targets", rows)}
    fresh = {(each.run_id, each.external_id): each for each in found if (each.run_id, each.external_id) not in known}
    await _add(tx, list(fresh.values()))
    counts: defaultdict[_Page, int] = defaultdict(int)
    for each in fresh.values():
        counts[each.run_id, each.page] += 1
    return counts


async def log_finds(tx: Transaction, series: Mapping[_Page, int], new: Sequence[NewItem]) -> None:
    """Log the new series of each page, and its new chapters: at the end of a transaction, which locks the logs."""
    chapters: defaultdict[_Page, list[Any]] = defaultdict(list)
    for item in new:
        if item.kind == CHAPTER_KIND:
            chapters[item.run_id, item.url].append(msgspec.json.decode(item.fields).get("number"))
    if not (series or chapters):
        return
    rows = await tx.batch("series_runs_among", [(run_id,) for run_id in sorted({run_id for run_id, _ in chapters})])
    ours = {row["id"] for row in rows}
    entries = [_entry(tx, page, SERIES_FOUND, {"count": count}) for page, count in series.items()]
    for page, numbers in chapters.items():
        if page[0] in ours:
            facts = {"count": len(numbers), "numbers": numbers[:MAX_LISTED]}
            entries.append(_entry(tx, page, CHAPTERS_FOUND, facts))
    # A worker may be faster than the process that started the run, and begins its log.
    begun = await tx.batch("begin_logs", [(run_id,) for run_id in sorted({entry.run_id for entry in entries})])
    await append_entries(tx, [*(start_entry(row["run_id"], tx.now) for row in begun), *entries])


def _entry(tx: Transaction, page: _Page, message: str, facts: dict[str, Any]) -> NewLogEntry:
    run_id, url = page
    fields = msgspec.json.encode(facts | {"url": url}).decode()
    return NewLogEntry(run_id, tx.now, "info", FOUND_TOPIC, message, fields)


async def _add(tx: Transaction, found: Sequence[_Found]) -> None:
    ids = [new_id() for _ in found]
    # The end of the id makes the slug unique without a look at the others.
    series = [
        (series_id, each.title, f"{slug_of(each.title)[:100]}-{series_id[-12:]}", each.cover, each.facts)
        for series_id, each in zip(ids, found, strict=True)
    ]
    await tx.batch("add_found_series", series)
    targets = [(series_id, each.run_id, each.external_id, each.url) for series_id, each in zip(ids, found, strict=True)]
    await tx.batch("add_found_targets", targets)
    await tx.batch("drop_series_without_target", [(series_id,) for series_id in ids])


def _read(item: NewItem) -> _Found:
    fields = msgspec.json.decode(item.fields)
    cover = fields.get("cover")
    url = str(fields.get("link") or item.url)
    return _Found(
        item.run_id,
        str(item.name),
        item.title or str(item.name),
        url,
        str(cover) if cover else None,
        item.url,
        msgspec.json.encode({name: value for name, value in fields.items() if name not in _OWN}).decode(),
    )
