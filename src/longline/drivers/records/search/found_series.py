"""Series that the runs of catalogues find: written with the report that found them."""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from longline.drivers.records.database import Transaction
from longline.model.ids import new_id
from longline.model.search.item import NewItem
from longline.model.sources.use import slug_of

KIND = "series"


class _Found(NamedTuple):
    """A series as a page of its source describes it."""

    run_id: int
    external_id: str
    title: str
    url: str
    cover: str | None


async def note_series(tx: Transaction, items: Sequence[NewItem]) -> None:
    """Make a series and a target of each new id that a run of a catalogue has found on its source."""
    found = [_read(item) for item in items if item.kind == KIND and item.name]
    if not found:
        return
    rows = [(each.run_id, each.external_id) for each in found]
    known = {(row["run_id"], row["external_id"]) for row in await tx.batch("known_targets", rows)}
    fresh = {(each.run_id, each.external_id): each for each in found if (each.run_id, each.external_id) not in known}
    await _add(tx, list(fresh.values()))


async def _add(tx: Transaction, found: Sequence[_Found]) -> None:
    ids = [new_id() for _ in found]
    # The end of the id makes the slug unique without a look at the others.
    series = [
        (series_id, each.title, f"{slug_of(each.title)[:100]}-{series_id[-12:]}", each.cover)
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
    return _Found(item.run_id, str(item.name), item.title or str(item.name), url, str(cover) if cover else None)
