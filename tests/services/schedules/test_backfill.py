"""Sources with thin items: the average decides, and the number is bounded."""

from typing import Any

import pytest

from longline.model.search.item import Wordiness
from longline.services.schedules.backfill import Backfill

AVERAGES = {"1": 10.0, "2": 99.5, "3": 100.0}


class Items:
    async def wordiness(self, _: int) -> list[Wordiness]:
        return [Wordiness(n, f"s{n}", "https://a.example/", 4, average, 1) for n, average in AVERAGES.items()]


@pytest.mark.parametrize(
    ("least", "most", "found"), [(100, 9, ["1", "2"]), (100, 1, ["1"]), (10, 9, []), (101, 9, ["1", "2", "3"])]
)
async def test_thin_sources_are_below_the_bound(least: int, most: int, found: list[str]):
    items: Any = Items()
    nobody: Any = None
    assert [one.source_ref for one in await Backfill(items, nobody, nobody).worst(least, most)] == found
