"""Submission of many URLs: the number of statements does not depend on the number of URLs."""

import time

import pytest

from longline.drivers.records.postgres import PostgresTransaction
from longline.ports.records import Records
from tests.drivers.records.peek import Peek
from tests.drivers.records.recrawls.world import recrawl, shop, submit


@pytest.mark.parametrize("records_url", ["postgres"], indirect=True)
async def test_ten_thousand_urls_take_as_many_round_trips_as_ten(
    records: Records, peek: Peek, monkeypatch: pytest.MonkeyPatch
):
    sent: list[str] = []

    def counted(name: str) -> None:
        method = getattr(PostgresTransaction, name)

        async def work(self: PostgresTransaction, query: str, *given: object, **params: object) -> object:
            if not given or given[0]:
                sent.append(query)
            return await method(self, query, *given, **params)

        monkeypatch.setattr(PostgresTransaction, name, work)

    run = await shop(records)
    await submit(records, recrawl(run, "/first"))  # the first URL of a run is counted as well
    counted("batch")
    counted("all")
    trips = []
    for number in (10, 1000, 10_000):
        sent.clear()
        begun = time.monotonic()
        made = await submit(records, *(recrawl(run, f"/{number}/{n}") for n in range(number)))
        print(f"{number} URLs: {len(sent)} statements, {time.monotonic() - begun:.3f} s")
        assert len(made.ids) == number
        trips.append(len(sent))
    assert len(set(trips)) == 1
    assert await peek.rows("SELECT COUNT(*) FROM recrawls") == [(11_011,)]
