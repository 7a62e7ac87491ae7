"""Pages of lists of recrawls: totals, sorted filters, and the plans of PostgreSQL."""

import json
from collections.abc import Iterator
from functools import partial
from itertools import product
from typing import Any, get_args

import asyncpg
import pytest

from longline.drivers.records import open_records
from longline.drivers.records.named_queries import loaded
from longline.drivers.records.postgres import SETTINGS
from longline.drivers.records.recrawls import recrawl_lists
from longline.model.recrawls.recrawl_lists import RecrawlQuery, SortField
from longline.ports.records import Records
from longline.testing.clock import FakeClock
from tests.chaos.recrawl_lists import Lists
from tests.drivers.records.migrated import migrate
from tests.drivers.records.recrawls.world import recrawl, shop, submit
from tests.servers import PostgresServer
from tests.servers.postgres import apart

ROWS = 20_000
PAGE: dict[str, Any] = {"limit": 20, "offset": 20, "reach": 40}
FITTING = {
    "by people": "created_by = 'admin'",
    "old": "created_at <= {created_before}",
    "batch": "batch_id = {batch_id}",
}
SOME_FILTERS: tuple[dict[str, Any], ...] = ({}, {"recurring": True}, {"created_by": "admin"}, {"phase": "ready"})
ORDERS = [sort for sort in get_args(SortField) if sort != "phase"]


async def test_filters_sort_alike_in_both_ways(records: Records, clock: FakeClock, monkeypatch: pytest.MonkeyPatch):
    run = await shop(records)
    for number in range(12):
        clock.advance(1)
        await submit(records, recrawl(run, f"/{number}", priority=100 * (number % 3), recurring=number % 2 == 0))

    async def found() -> list[list[int]]:
        queries = [
            RecrawlQuery(**wanted, sort=sort, falling=falling)
            for wanted, sort, falling in product(SOME_FILTERS, ORDERS, (True, False))
        ]
        pages_of = [await records.recrawls.find(query, limit=3, offset=2) for query in queries]
        return [[row.id for row in page.rows] for page in pages_of]

    sorted_first = await found()
    monkeypatch.setattr(recrawl_lists, "MAX_COUNTED", 1)
    monkeypatch.setattr(recrawl_lists, "MAX_SORTED", 1)
    assert await found() == sorted_first
    page = await records.recrawls.find(RecrawlQuery(recurring=True), limit=2)
    assert (page.total, page.is_bounded) == (2, True)
    exact = await records.recrawls.find(RecrawlQuery(source_id=run.source_id), limit=2)
    assert (exact.total, exact.is_bounded) == (12, False)


WALKED = (
    *("none", "large source", "small source", "completed", "failed", "paused", "failed in a source"),
    *("recent", "by the scheduler", "recurring"),
)
"""Filters with an index for each order that contains their columns."""


@pytest.fixture(scope="module")
def lists(postgres_server: PostgresServer) -> Iterator[Lists]:
    """Recrawls of twenty sources in five generations."""
    with postgres_server.fresh_database() as url:
        filled = Lists(url, FakeClock())
        apart(partial(_fill, filled))
        yield filled


async def _fill(lists: Lists) -> None:
    await migrate(lists.url)
    records = await open_records(lists.url, lists.clock)
    await lists.fill(records, ROWS)
    await records.schema.close()


def asked(query: RecrawlQuery) -> dict[str, Any]:
    """Return the parameters of a list."""
    shown = {name: getattr(query, name) for name in recrawl_lists.FILTERS}
    return shown | {"rest": query.phase, "held": [], "chosen": [], "left_out": [], "now": 0} | PAGE


async def rows_read(connection: Any, name: str, given: dict[str, Any]) -> int:
    """Return the number of recrawls that a statement reads."""
    query = loaded("pg")[name]
    told = await connection.fetchval(f"EXPLAIN (ANALYZE, FORMAT JSON) {query.sql}", *map(given.get, query.params))
    counts = ("Actual Rows", "Rows Removed by Filter", "Rows Removed by Index Recheck")
    nodes = [node for node in _nodes(json.loads(told)[0]["Plan"]) if node.get("Relation Name") == "recrawls"]
    return sum(round(node.get(count, 0) * node["Actual Loops"]) for node in nodes for count in counts)


def _nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for below in plan.get("Plans", ()):
        yield from _nodes(below)


async def wasteful(connection: Any, lists: Lists) -> list[str]:
    """Return the lists that read more rows than two pages."""
    found = []
    for name, sort, way in product(WALKED, ORDERS, ("up", "down")):
        given = asked(lists.query(name, sort, falling=way == "down"))
        read = await rows_read(connection, f"recrawls_by_{sort}_{way}", given)
        if read > 2 * PAGE["reach"]:
            found.append(f"{name}, by {sort} {way}: {read} rows")
    return found


@pytest.mark.slow(reason="20,000 rows and 200 plans")
async def test_lists_read_little_more_than_their_page_in_every_order(lists: Lists):
    settings = SETTINGS | {"plan_cache_mode": "force_custom_plan"}
    connection = await asyncpg.connect(lists.url, server_settings=settings)
    assert await wasteful(connection, lists) == []
    for name in ("by people", "old", "batch"):
        given = asked(lists.query(name, "updated_at", falling=True)) | {"most": ROWS, "way": -1, "sort": "updated_at"}
        fitting = await connection.fetchval(f"SELECT COUNT(*) FROM recrawls WHERE {FITTING[name].format(**given)}")
        assert await rows_read(connection, "few_recrawls", given) == fitting, name
    transaction = connection.transaction()
    await transaction.start()
    await connection.execute("DROP INDEX recrawls_retries")
    assert any(one.startswith("failed, by retries") for one in await wasteful(connection, lists)), "the check can fail"
    await connection.execute("CREATE INDEX recrawls_narrow ON recrawls (rest, retries, id)")
    found = await wasteful(connection, lists)
    assert any(one.startswith("recent, by retries") for one in found), "rows of other times are read in the table"
    assert not any(one.startswith("failed, by retries") for one in found)
    await transaction.rollback()
    await connection.close()
