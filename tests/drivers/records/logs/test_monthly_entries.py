"""Entries by month: the driver queries the months of the run, and no others."""

from typing import Any

from longline.drivers.records.logs import monthly_entries
from longline.drivers.records.named_queries import Engine
from longline.model.logs.log_months import following_month, start_us

FIRST = 202611


class Statements:
    """A transaction that notes the queried months."""

    engine: Engine = "lite"
    now = 0

    def __init__(self) -> None:
        self.months: list[int] = []

    async def all(self, _name: str, /, **params: Any) -> list[Any]:
        self.months.append(params["month"])
        return []

    async def one(self, _name: str, /, **params: Any) -> None:
        self.months.append(params["month"])

    async def batch(self, *_: Any, **__: Any) -> list[Any]:
        raise NotImplementedError

    async def script(self, _: str) -> None:
        raise NotImplementedError


def head(months: int = 3) -> dict[str, int]:
    return {"first_at_us": start_us(FIRST) + 5, "last_at_us": start_us(following_month(FIRST, months - 1)) + 7}


async def test_a_page_queries_the_months_of_the_run():
    tx = Statements()
    await monthly_entries.entries_after(tx, head(), 1, 0, 10)
    assert tx.months == [202611, 202612, 202701]


async def test_the_newest_entries_are_queried_backwards():
    tx = Statements()
    await monthly_entries.newest_entries(tx, head(2), 1, 10)
    assert tx.months == [202612, 202611]


async def test_a_time_queries_no_later_month():
    tx = Statements()
    assert await monthly_entries.last_number_until(tx, head(), 1, start_us(202612) + 1) == 0
    assert tx.months == [202612, 202611]


async def test_an_empty_log_queries_no_month():
    tx = Statements()
    assert await monthly_entries.first_number(tx, {"first_at_us": 0, "last_at_us": 0}, 1) is None
    assert tx.months == []
