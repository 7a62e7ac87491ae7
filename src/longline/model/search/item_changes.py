"""Changes of items: their versions, and the fields in which two versions differ."""

from typing import Any

import msgspec

from longline.model.search.item import ItemRow, own_fields

MAX_EARLIER_RUNS = 10
"""Largest number of earlier runs that are searched for items of pages that the runs since then did not read."""


class RunsCompared(msgspec.Struct, frozen=True):
    """An item in two runs: its versions and the tasks of its pages; None in a run that did not find the item."""

    item_id: int
    before_version: int | None
    before_task_id: int | None
    after_version: int | None
    after_task_id: int | None


class ItemVersion(msgspec.Struct, frozen=True):
    """One version of an item: the time of the change that made it, and the fields that lists filter by.

    `fields` is JSON of all fields without a column.
    """

    version: int
    updated_at: int
    price: float | None
    availability: str | None
    fields: str


class ItemSums(msgspec.Struct, frozen=True):
    """Numbers of items that a run found, of new ones and of changed ones."""

    found: int
    added: int
    changed: int


class FieldChange(msgspec.Struct, frozen=True):
    """A field of an item with its values in the earlier and in the later run."""

    field: str
    before: Any
    after: Any


def field_changes(before: ItemRow, after: ItemRow) -> list[FieldChange]:
    """Return the fields in which two versions of an item differ, in the order of the later version."""
    old, new = own_fields(before), own_fields(after)
    if before.url != after.url:
        old, new = {"url": before.url} | old, {"url": after.url} | new
    names = [*new, *(name for name in old if name not in new)]
    return [
        FieldChange(n, old.get(n), new.get(n)) for n in names if old.get(n) != new.get(n) or (n in old) != (n in new)
    ]
