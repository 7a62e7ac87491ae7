"""Writes of items inside a transaction: new items, changes with the former selves, and lists of pages and runs.

An item that is seen again as it was is not written. Its page lists it, in a row that the report writes anyway, and the
log of its run has it in the row of the report. In each run an item is listed first by one page. The page that last
had an item leads to that page: its task in the present run, if it was reported, lists the item or does not. If the
first page drops an item, another page of the run that has it becomes the first; `item_pages` knows these pages.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import msgspec
import orjson

from longline.drivers.records.database import Row, Transaction, TryAgain
from longline.drivers.records.runs.run_counters import RunCounters
from longline.drivers.records.search.index_write import forget, index
from longline.model.search.item import UNINDEXED_KINDS, NewItem
from longline.model.search.page_counts import page_counts

MAX_ATTEMPTS = 10
"""Largest number of looks at items that other reports change at the same time."""

Entry = tuple[int, ...]
"""An item in the list of a page: id, version and, if the entry may not be the first, the time when it was listed."""

Later = tuple[int, int, int]
"""A page that lists an item which another page lists first: the task of the page, the item and its version there."""


class _Former(NamedTuple):
    """The items in the former lists of pages: those that the pages list first, and the others."""

    first: set[int]
    later: set[Later]


@dataclass(slots=True)
class Written:
    """The result of a write: the number of new or changed items, and the lists of items by the task of their page.

    `new` are the items that were never there before.
    """

    changed: int = 0
    new: list[NewItem] = field(default_factory=list)
    lists: dict[int, str] = field(default_factory=dict)

    def of(self, task_id: int) -> str:
        """Return the items of a page as its row has them."""
        return self.lists.get(task_id, "[]")


class _Stored(NamedTuple):
    """An item as stored before; `page_task_id` is the task, in the present run, of the page that last had the item."""

    id: int
    hash: str
    version: int
    task_id: int
    page_task_id: int | None
    listed: str | None
    is_new: bool
    is_standing: bool

    @property
    def entry(self) -> Entry | None:
        """Return the entry of the item in the list of that page."""
        entries = orjson.loads(self.listed) if self.listed else ()
        return next((tuple(entry) for entry in entries if entry[0] == self.id), None)


async def put(
    tx: Transaction, items: Sequence[NewItem], ledger: RunCounters, tasks: Iterable[int] = (), *, counted: bool = True
) -> Written:
    """Write items inside a transaction, such as a report's. The caller writes the lists with the rows of the pages.

    `tasks` are the tasks of all pages whose lists are written anew, with and without items.
    The ledger gives each item its position in its run. If `counted`, each document counts for its run, once however
    often the run brings it, and so do pages by the items that describe them; these are not kept, as they hold no text.
    """
    written, listing = Written(), frozenset(tasks)
    runs: dict[int, list[NewItem]] = {}
    for item in items:
        if item.kind not in UNINDEXED_KINDS:
            runs.setdefault(item.run_id, []).append(item)
    if counted:
        ledger.page_counts.update(page_counts(items))
    former = await _listed(tx, listing)
    for run_id, of_run in sorted(runs.items()):
        batch = _RunBatch(tx, of_run, listing)
        await batch.write()
        written.changed += len(batch.changed)
        written.new += batch.new()
        written.lists |= batch.lists()
        listed, later = former.pop(run_id, _Former(set(), set()))
        ledger.place_items(run_id, batch.logged(), len(batch.fresh() - listed))
        await _list_later(tx, run_id, later, batch.later())
        await _drop(tx, run_id, listed - batch.given(), listing, ledger)
        if counted:
            ledger.count_items(run_id, batch.brought())
    for run_id, (listed, later) in former.items():
        await _list_later(tx, run_id, later, set())
        await _drop(tx, run_id, listed, listing, ledger)
    return written


async def lock_pages(tx: Transaction, tasks: Iterable[int]) -> None:
    """Let other writers of the lists of these pages wait; SQLite has one writer at a time."""
    if tx.engine == "pg":
        await tx.batch("lock_page_tasks", [(task_id,) for task_id in sorted(set(tasks))])


async def _listed(tx: Transaction, tasks: Iterable[int]) -> dict[int, _Former]:
    """Return the items that these pages list, by run. The lists stay as they are until the transaction ends."""
    listed: dict[int, _Former] = {}
    for run_id, task_id, items in await tx.batch("page_lists", [(task_id,) for task_id in sorted(tasks)]):
        former = listed.setdefault(run_id, _Former(set(), set()))
        entries = orjson.loads(items)
        former.first.update(item_id for item_id, *_ in entries if item_id > 0)
        former.later.update((task_id, -item_id, version) for item_id, version, *_ in entries if item_id < 0)
    return listed


async def _list_later(tx: Transaction, run_id: int, was: set[Later], became: set[Later]) -> None:
    """Note which pages list items that other pages list first; a page that does as before costs no statement."""
    await tx.batch("unlist_item_pages", [row[:2] for row in sorted(was - became)])
    await tx.batch("list_item_pages", sorted(became - was), run_id=run_id)


async def _drop(
    tx: Transaction, run_id: int, items: Collection[int], listing: frozenset[int], ledger: RunCounters
) -> None:
    """Count items that their first pages have no more, and let other pages of the run that have them be the first.

    The pages that are listed anew must be noted without these items: the next page of an item is none of them.
    """
    rows = await tx.batch("pages_with_items", [(item_id,) for item_id in sorted(items)], run_id=run_id)
    lists: dict[int, str] = {task_id: text for task_id, text in rows if task_id not in listing}
    others = _other_pages(lists, items)
    texts, entries = dict(lists), []
    for item_id, (task_id, entry) in sorted(others.items()):
        # An entry that was listed before must not count again.
        time = max([tx.now, *(last + 1 for last in entry[2:])])
        texts[task_id] = texts[task_id].replace(_text(entry), _text((item_id, entry[1], time)))
        entries.append((item_id, entry[1], task_id, time))
    await _relist(tx, {task_id: (lists[task_id], texts[task_id]) for _, _, task_id, _ in entries})
    await tx.batch("unlist_item_pages", [(task_id, item_id) for item_id, _, task_id, _ in entries])
    await tx.batch("lead_items", [(item_id, task_id) for item_id, _, task_id, _ in entries], run_id=run_id)
    ledger.place_items(run_id, entries, len(entries) - len(items))


def _other_pages(lists: Mapping[int, str], items: Collection[int]) -> dict[int, tuple[int, Entry]]:
    """Return the page that has the newest version of each item, by its task, and its entry; no item listed first."""
    found: dict[int, tuple[int, Entry]] = {}
    first: set[int] = set()
    for task_id, text in sorted(lists.items()):
        for entry in map(tuple, orjson.loads(text)):
            item_id = abs(entry[0])
            if entry[0] > 0:
                first.add(item_id)
            elif item_id in items and (item_id not in found or entry[1] > found[item_id][1][1]):
                found[item_id] = task_id, entry
    return {item_id: place for item_id, place in found.items() if item_id not in first}


async def _relist(tx: Transaction, texts: Mapping[int, tuple[str, str]]) -> None:
    """Write the lists of pages that this transaction only relists, each in the place of the list as it was found."""
    rows = [(task_id, was, became) for task_id, (was, became) in sorted(texts.items())]
    if len(await tx.batch("relist_items", rows)) < len(rows):
        raise TryAgain("a page got another list of items")


class _RunBatch:
    """The items that one run brings in one transaction. Of two selves of an item the later one counts."""

    def __init__(self, tx: Transaction, items: Sequence[NewItem], listing: frozenset[int]) -> None:
        self._tx, self._items, self._listing = tx, items, listing
        self._given = {item.key: item for item in items}
        self._pages: dict[bytes, list[int]] = {}
        for item in items:
            self._pages.setdefault(item.key, []).append(item.task_id)
        self._entries: dict[bytes, tuple[int, Entry]] = {}
        self._logged: set[bytes] = set()
        self._fresh: set[bytes] = set()
        self._others: dict[int, tuple[str, str]] = {}
        self._demoted: set[Later] = set()
        self._locked: set[int] = set()
        self.changed: dict[bytes, tuple[int, int]] = {}
        self._new: set[bytes] = set()

    async def write(self) -> None:
        """Write new and changed items, and find the page that lists each item first in its run."""
        stored = await self._put()
        for _ in range(MAX_ATTEMPTS):
            await self._lock_pages(stored)
            left = await self._settle_all(stored)
            if not left:
                break
            stored = await self._find(left)
        await _relist(self._tx, self._others)
        await self._index()

    def lists(self) -> dict[int, str]:
        """Return the lists of the pages; an item that another page lists first has its id with a minus sign."""
        lists: dict[int, dict[bytes, str]] = {}
        for item in self._items:
            if item.key in self._entries:
                first, entry = self._entries[item.key]
                listed = entry if first == item.task_id else _demoted(entry)
                lists.setdefault(item.task_id, {})[item.key] = _text(listed)
        return {task_id: f"[{','.join(entries.values())}]" for task_id, entries in lists.items()}

    def later(self) -> set[Later]:
        """Return the pages that list items which other pages list first, as far as this batch writes their lists."""
        places = ((item.task_id, *self._entries.get(item.key, (0, ()))) for item in self._items)
        own = {(task_id, entry[0], entry[1]) for task_id, first, entry in places if entry and first != task_id}
        return own | self._demoted

    def logged(self) -> list[Entry]:
        """Return the entries for the log of the run: item, version, task and, if there is one, the time."""
        entries = (self._entries[key] for key in self._given if key in self._logged)
        return [(*entry[:2], task_id, *entry[2:]) for task_id, entry in entries]

    def brought(self) -> list[NewItem]:
        """Return the items that no page of the run had before."""
        return [item for key, item in self._given.items() if key in self._fresh]

    def fresh(self) -> set[int]:
        """Return the ids of the items that no page of the run has now without this batch."""
        return {self._entries[key][1][0] for key in self._fresh}

    def given(self) -> set[int]:
        """Return the ids of all items of the batch."""
        return {entry[0] for _, entry in self._entries.values()}

    def new(self) -> list[NewItem]:
        """Return the items that were never there before, in the order of their pages."""
        return [item for key, item in self._given.items() if key in self._new]

    async def _put(self) -> dict[bytes, _Stored]:
        """Add new items; return all items as they are stored."""
        # PostgreSQL finds the known items in the same statement, which saves a round trip.
        stored = await self._find(list(self._given)) if self._tx.engine == "lite" else {}
        # In one order: two statements never deadlock.
        rows = [_row(item) for key, item in sorted(self._given.items()) if key not in stored]
        stored |= _by_key(await self._tx.batch("put_items", rows))
        # Another report may have added an item after the statement had begun.
        return stored | await self._find([key for key in self._given if key not in stored])

    async def _find(self, keys: Sequence[bytes]) -> dict[bytes, _Stored]:
        given = [self._given[key] for key in keys]
        rows = [(item.key, item.run_id, item.task_id, item.named) for item in given]
        return _by_key(await self._tx.batch("known_items", rows))

    async def _lock_pages(self, stored: dict[bytes, _Stored]) -> None:
        """Wait for concurrent reports of other pages that had these items; update the items to those found then."""
        while self._tx.engine == "pg":
            others = {
                key: s.page_task_id
                for key, s in stored.items()
                if s.page_task_id is not None and s.page_task_id not in self._pages[key]
            }
            late = set(others.values()) - self._locked
            if not late:
                return
            await lock_pages(self._tx, late)
            self._locked |= late
            # Such a report may have let another page be the first.
            stored |= await self._find(sorted(others))

    async def _settle_all(self, stored: Mapping[bytes, _Stored]) -> list[bytes]:
        """Write changes and list the items; return the keys of items that another report has written meanwhile."""
        known = {key: s for key, s in stored.items() if not s.is_new}
        differing = {key: s for key, s in known.items() if self._differs(key, s)}
        versions = await self._change(differing)
        moving = {key: s for key, s in known.items() if key not in differing and self._moves(key, s)}
        rows = sorted((s.id, self._page(key, s), s.task_id) for key, s in moving.items())
        carried = {row["id"] for row in await self._tx.batch("carry_items", rows)}
        left = []
        for key, s in stored.items():
            if s.is_new:
                self._list_new(key, s)
            elif (key in differing and key not in versions) or (key in moving and s.id not in carried):
                left.append(key)
            else:
                self._settle(key, s, versions.get(key, s.version))
        return left

    async def _change(self, differing: Mapping[bytes, _Stored]) -> dict[bytes, int]:
        """Keep the former selves of items and write the new ones; return the new versions."""
        keys = sorted(differing, key=lambda key: differing[key].id)
        await forget(self._tx, [differing[key].id for key in keys])
        await self._tx.batch("keep_versions", [(differing[key].id, self._given[key].hash) for key in keys])
        rows = [(differing[key].id, *_row(self._given[key])[:-3]) for key in keys]
        made = {row["id"]: row["version"] for row in await self._tx.batch("change_items", rows)}
        changed = {key: made[s.id] for key, s in differing.items() if s.id in made}
        self.changed |= {key: (differing[key].id, version) for key, version in changed.items()}
        return changed

    def _differs(self, key: bytes, stored: _Stored) -> bool:
        # An item of a crawl is not replaced by the item of a page that is fetched alone.
        return not stored.is_standing and stored.hash != self._given[key].hash

    def _entry(self, key: bytes, stored: _Stored) -> Entry | None:
        """Return the entry of an item in the list of its page, unless that list is written anew without the item."""
        dropped = stored.page_task_id in self._listing and stored.page_task_id not in self._pages[key]
        return None if dropped else stored.entry

    def _moves(self, key: bytes, stored: _Stored) -> bool:
        """Return whether another page than before is the first with an item that has not changed."""
        if stored.is_standing or _version(self._entry(key, stored)) == stored.version:
            return False
        return self._page(key, stored) not in (stored.page_task_id, stored.task_id)

    def _page(self, key: bytes, stored: _Stored) -> int:
        """Return the task of the page that lists an item first."""
        pages = self._pages[key]
        if stored.page_task_id in pages and not self._differs(key, stored):
            return stored.page_task_id
        return pages[-1]

    def _list_new(self, key: bytes, stored: _Stored) -> None:
        """List an item that no page had before, as most items of a first crawl."""
        self.changed[key] = stored.id, stored.version
        self._new.add(key)
        self._entries[key] = self._pages[key][-1], (stored.id, stored.version)
        self._logged.add(key)
        self._fresh.add(key)

    def _settle(self, key: bytes, stored: _Stored, version: int) -> None:
        entry, pages = self._entry(key, stored), self._pages[key]
        if _version(entry) == version or stored.is_standing:
            if entry and (stored.page_task_id in pages or not stored.is_standing):
                self._entries[key] = stored.page_task_id or 0, entry
            return
        # An entry that was listed before must not count again.
        time = (self._tx.now,) if stored.listed is not None else ()
        self._entries[key] = self._page(key, stored), (stored.id, version, *time)
        self._logged.add(key)
        if entry is None:
            self._fresh.add(key)
        elif stored.page_task_id is not None and stored.page_task_id not in pages:
            was, text = self._others.get(stored.page_task_id, (stored.listed or "[]",) * 2)
            self._others[stored.page_task_id] = was, text.replace(_text(entry), _text(_demoted(entry)))
            self._demoted.add((stored.page_task_id, stored.id, entry[1]))

    async def _index(self) -> None:
        # In the order of ids, in which the indexer deletes them again.
        changed = sorted((*made, self._given[key]) for key, made in self.changed.items())
        await index(self._tx, [(i, version, *item.words) for i, version, item in changed if item.words])
        waiting = [(i, item.hash) for i, _, item in changed if not item.words]
        await self._tx.batch("want_index", waiting)


def _by_key(rows: Iterable[Row]) -> dict[bytes, _Stored]:
    # By position: to find nine columns by their names takes three times as long.
    return {bytes(key): _Stored(*values) for key, *values in rows}


def _row(item: NewItem) -> tuple[Any, ...]:
    return msgspec.structs.astuple(item)[:-1]  # all but the words


def _version(entry: Entry | None) -> int | None:
    return entry[1] if entry else None


def _demoted(entry: Entry) -> Entry:
    return -entry[0], *entry[1:]


def _text(entry: Entry) -> str:
    return f"[{','.join(map(str, entry))}]"
