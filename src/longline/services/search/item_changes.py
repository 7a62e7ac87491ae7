"""Changes of items from run to run: item by item between two runs, and in numbers for the latest run."""

from collections.abc import AsyncIterator, Sequence
from itertools import groupby
from typing import Any, Literal

import msgspec
import orjson

from longline.model.runs.run import RunRow
from longline.model.search.gone_items import is_gone, reading
from longline.model.search.item import ItemRow
from longline.model.search.item_changes import MAX_EARLIER_RUNS, FieldChange, RunsCompared, field_changes
from longline.ports.records.runs.runs import RunStore
from longline.ports.records.search import ItemChangeStore

BATCH_SIZE = 500
"""Items that are compared at a time."""

Change = Literal["added", "changed", "gone", "unseen"]
"""A difference between two runs. An unseen item was not found, but may still be there: its page was not read."""


class ItemDifference(msgspec.Struct, frozen=True):
    """An item that differs between two runs: its later self if the later run found it, else its earlier self."""

    change: Change
    item: ItemRow
    fields: tuple[FieldChange, ...] = ()


class ChangeCounts(msgspec.Struct, frozen=True):
    """Numbers of items of a run against the runs before."""

    changed: int
    unchanged: int
    new: int
    gone: int
    unseen: int


class Missing(msgspec.Struct, frozen=True):
    """Items that a run did not find any more, by their ids."""

    gone: frozenset[int] = frozenset()
    unseen: frozenset[int] = frozenset()


class ItemChanges:
    """Comparison of the items of runs."""

    def __init__(self, runs: RunStore, changes: ItemChangeStore) -> None:
        self._runs, self._changes = runs, changes

    async def between(self, before: RunRow, after: RunRow) -> AsyncIterator[ItemDifference]:
        """Yield the items in which two runs differ: items of the earlier run in the order of its pages, then others."""
        compared = sorted(await self._changes.between(before.id, after.id), key=_place)
        missing = Missing()
        if any(item.after_version is None for item in compared):
            missing = await self._missing(before, after)
        for start in range(0, len(compared), BATCH_SIZE):
            batch = compared[start : start + BATCH_SIZE]
            for difference in await self._differences(batch, before, after, missing):
                yield difference

    async def counts(self, run: RunRow) -> ChangeCounts | None:
        """Return the numbers of changed, unchanged, new and gone items of a run; None for the first run from a seed.

        An item of a page that the runs before did not read is compared with the last run that found it.
        """
        missing = await self._missing_since_read(run)
        if missing is None:
            return None
        sums = await self._changes.sums(run.id)
        unchanged = sums.found - sums.changed - sums.added
        return ChangeCounts(sums.changed, unchanged, sums.added, len(missing.gone), len(missing.unseen))

    async def _missing_since_read(self, run: RunRow) -> Missing | None:
        earlier = await self._runs.previous(run.id)
        if earlier is None:
            return None
        missing = await self._missing(earlier, run)
        gone, unseen = set(missing.gone), set(missing.unseen)
        between = [earlier]
        for _ in range(MAX_EARLIER_RUNS):
            earlier = await self._runs.previous(earlier.id)
            # An item that a run in between found, or knew to be gone, was counted there.
            left = await self._unseen_by(earlier, between) if earlier else frozenset()
            if earlier is None or not left:
                break
            missing = await self._missing(earlier, run)
            gone |= missing.gone & left
            unseen |= missing.unseen & left
            between.append(earlier)
        return Missing(frozenset(gone), frozenset(unseen))

    async def _unseen_by(self, earlier: RunRow, runs: Sequence[RunRow]) -> frozenset[int]:
        """Return the items of a run that none of these later runs found or knew to be gone."""
        left: frozenset[int] | None = None
        for run in reversed(runs):
            unseen = (await self._missing(earlier, run)).unseen
            left = unseen if left is None else left & unseen
            if not left:
                break
        return left or frozenset()

    async def _missing(self, before: RunRow, after: RunRow) -> Missing:
        rows = await self._changes.missing(before.id, after.id)
        if not rows:
            return Missing()
        read = reading(
            after.state,
            await self._changes.unread(before.id, after.id),
            [fate.reason for fate in await self._runs.fates(after.id) if fate.fate == "refused"],
            same_bounds=_bounds(before) == _bounds(after),
        )
        pages = groupby(rows, key=lambda row: row.item_id)
        gone = {item_id: is_gone(list(group), read) for item_id, group in pages}
        return Missing(frozenset(i for i in gone if gone[i]), frozenset(i for i in gone if not gone[i]))

    async def _differences(
        self, batch: Sequence[RunsCompared], before: RunRow, after: RunRow, missing: Missing
    ) -> list[ItemDifference]:
        old = await self._changes.selves(
            before.id, [(i.item_id, i.before_version, i.before_task_id or 0) for i in batch if i.before_version]
        )
        new = await self._changes.selves(
            after.id, [(i.item_id, i.after_version, i.after_task_id or 0) for i in batch if i.after_version]
        )
        found = (_difference(old.get(i.item_id), new.get(i.item_id), missing) for i in batch)
        return [difference for difference in found if difference is not None]


def _bounds(run: RunRow) -> tuple[Any, ...]:
    """Return the seeds and bounds of a run's plan."""
    plan = orjson.loads(run.plan)
    return run.budget, plan.get("seeds"), plan.get("bounds")


def _place(item: RunsCompared) -> tuple[bool, int, int]:
    return item.before_task_id is None, item.before_task_id or item.after_task_id or 0, item.item_id


def _difference(before: ItemRow | None, after: ItemRow | None, missing: Missing) -> ItemDifference | None:
    if before is not None and after is not None:
        # A change may have been taken back between the runs.
        changed = before.hash != after.hash
        return ItemDifference("changed", after, tuple(field_changes(before, after))) if changed else None
    if after is not None:
        return ItemDifference("added", after)
    return ItemDifference("gone" if before.id in missing.gone else "unseen", before) if before is not None else None
