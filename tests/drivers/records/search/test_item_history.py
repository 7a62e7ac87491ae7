"""Random runs over a random site: each run keeps its items, and only items that are gone are called gone."""

import random
from typing import Any

import pytest

from longline.model.runs.crawl_plan import CrawlPlan
from longline.model.runs.run import RunRow
from longline.model.search.item import Made, Origin, new_items, own_fields
from longline.ports.records import Records
from longline.services.search.item_changes import ItemChanges
from longline.testing.clock import FakeClock
from tests.drivers.records.world import get_run, running_run, visit

RUNS, PATHS = 6, [f"/{n}" for n in range(7)]
PLAN = CrawlPlan(("https://a.example/",)).text()
GONE = "404"

Self = tuple[str, dict[str, Any]]
"""An item in the state in which a run found it: its URL and its fields."""


class Site:
    """A site with items of their own pages, items that many pages may have, and items with keys."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.pages: dict[str, list[Made]] = {path: self.page() for path in PATHS}
        self.failing: set[str] = set()

    def page(self) -> list[Made]:
        own: list[Made] = [("own", {"n": self.chance.randrange(3)}) for _ in range(self.chance.randrange(3))]
        shared: list[Made] = [
            ("shared", {"url": f"https://a.example/item/{n}", "n": self.chance.choice([0, 0, 0, 1])})
            for n in self.chance.sample(range(4), self.chance.randrange(3))
        ]
        keyed: list[Made] = [("keyed", {"n": 0}, n + 1) for n in self.chance.sample(range(4), self.chance.randrange(2))]
        return own + shared + keyed

    def change(self) -> None:
        """Change some pages, remove or restore some, and let some fail for a while."""
        for path in self.chance.sample(PATHS, 2):
            self.pages[path] = self.page()
        if self.chance.random() < 0.5:
            self.pages.pop(self.chance.choice(PATHS), None)
        self.failing = set(self.chance.sample(PATHS, self.chance.choice([0, 0, 1])))

    def answers(self) -> dict[str, list[Made] | str]:
        """Return the answer of each path; of removed pages, every second one is not even linked."""
        found: dict[str, list[Made] | str] = {}
        for path in PATHS:
            if path in self.failing:
                found[path] = "http_5xx"
            elif path in self.pages or self.chance.random() < 0.5:
                found[path] = self.pages.get(path, GONE)
        return found

    def identities(self) -> set[bytes]:
        """Return all items that are somewhere on the site, read or not."""
        return {item.key for path, made in self.pages.items() for item in items(path, made)}


def items(path: str, made: list[Made]) -> Any:
    return new_items(made, Origin(1, 1, f"https://a.example{path}"))


def told(path: str, made: list[Made]) -> dict[bytes, Self]:
    return {item.key: (item.url, own_fields(item)) for item in items(path, made)}


async def stored(records: Records, run: RunRow) -> list[Self]:
    return sorted(((item.url, own_fields(item)) for item in await records.items.of_run(run.id, limit=1000)), key=repr)


@pytest.mark.parametrize("seed", range(6))
async def test_every_run_keeps_the_items_that_it_found(records: Records, clock: FakeClock, seed: int):
    chance = random.Random(seed)
    site, changes = Site(chance), ItemChanges(records.runs, records.item_changes)
    runs: list[RunRow] = []
    model: list[dict[bytes, Self]] = []
    truth: list[tuple[set[bytes], bool]] = []
    for _ in range(RUNS):
        run = await running_run(records, seed="https://a.example/", plan=PLAN)
        answers = list(site.answers().items())
        chance.shuffle(answers)
        cut = chance.randrange(len(answers))
        await visit(records, run, *(dict(part) for part in (answers[:cut], answers[cut:]) if part))
        runs.append(await get_run(records, run.id))
        found: dict[bytes, Self] = {}
        for path, made in answers:
            found |= told(path, made) if not isinstance(made, str) else {}
        model.append(found)
        truth.append((site.identities(), not site.failing))
        clock.advance(1.0)
        site.change()
    for run, found in zip(runs, model, strict=True):
        assert await stored(records, run) == sorted(found.values(), key=repr)
        assert run.indexed == run.items == len(found)
    for before in range(RUNS):
        for after in range(before + 1, RUNS):
            await compared(changes, (runs[before], model[before]), (runs[after], model[after]), *truth[after])


async def compared(
    changes: ItemChanges,
    before: tuple[RunRow, dict[bytes, Self]],
    after: tuple[RunRow, dict[bytes, Self]],
    there: set[bytes],
    all_read: bool,
) -> None:
    """Compare two runs, and check the differences against the model."""
    found: dict[str, list[Self]] = {"added": [], "changed": [], "gone": [], "unseen": []}
    async for difference in changes.between(before[0], after[0]):
        found[difference.change].append((difference.item.url, own_fields(difference.item)))
    old, new = before[1], after[1]
    assert sorted(found["changed"], key=repr) == sorted(
        (new[k] for k in new if k in old and old[k] != new[k]), key=repr
    )
    assert sorted(found["added"], key=repr) == sorted((new[k] for k in new if k not in old), key=repr)
    missing = [old[k] for k in old if k not in new]
    assert sorted(found["gone"] + found["unseen"], key=repr) == sorted(missing, key=repr)
    assert [self for self in found["gone"] if self in [old[k] for k in old if k in there and k not in new]] == []
    if all_read:
        assert found["unseen"] == []
