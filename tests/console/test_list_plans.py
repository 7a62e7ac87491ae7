"""Pages of long lists are read from an index up to their length, with any number of rows behind them."""

from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import msgspec
import pytest

from longline.drivers.records.named_queries import load
from longline.settings import Settings
from tests.console.many_rows import fill
from tests.servers import PostgresServer
from tests.surfaces.intervals.platform import open_door

TASKS, RUNS, LISTS = 20_000, 2_000, 6_000
PAGE_SIZE = 51

CHOSEN_SCHEDULES = {"kind": "crawl", "states": None, "source_ref": None, "search": None}
STATEMENTS: dict[str, tuple[dict[str, Any], set[str]]] = {
    "soonest_schedules": (
        {**CHOSEN_SCHEDULES, "due": 1, "id": 1, "limit": PAGE_SIZE},
        {"schedules_due_again", "schedules_due_once"},
    ),
    "series_after": ({"title": None, "after_title": "Title 3", "after_id": "", "limit": PAGE_SIZE}, {"series_title"}),
    "newest_items": ({"before": 1 << 62, "limit": PAGE_SIZE}, {"items_pkey"}),
    "newest_items_of_kind": ({"kind": "article", "before": 1 << 62, "limit": PAGE_SIZE}, {"items_kind"}),
    "find_bots": ({"registered": False, "after": "bot3", "limit": PAGE_SIZE, "offset": 0}, {"bots_name_key"}),
    "find_proxies": (
        {
            **dict.fromkeys(("active", "country", "provider", "host", "port")),
            "after": 3,
            "limit": PAGE_SIZE,
            "offset": 0,
        },
        {"proxies_pkey"},
    ),
}


@pytest.fixture
async def connection(postgres_server: PostgresServer, tmp_path: Any) -> AsyncIterator[Any]:
    """A database with long lists."""
    with postgres_server.fresh_database() as url:
        async with open_door(Settings(data=tmp_path / "data", database=url, port=0)) as door:
            await fill(url, door.platform.clock.now(), TASKS, RUNS, LISTS)
        found = await asyncpg.connect(url)
        try:
            yield found
        finally:
            await found.close()


def _nodes(plan: dict[str, Any]) -> list[dict[str, Any]]:
    return [plan, *(node for child in plan.get("Plans", ()) for node in _nodes(child))]


@pytest.mark.slow(reason="thousands of rows")
async def test_pages_of_lists_read_no_more_than_they_show(connection: Any):
    queries = load("pg")
    await connection.execute("SET enable_seqscan = off")
    for name, (values, indexes) in STATEMENTS.items():
        query = queries[name]
        text = f"EXPLAIN (ANALYZE, FORMAT JSON) {query.sql}"
        [[found]] = [await connection.fetchrow(text, *(values[parameter] for parameter in query.params))]
        nodes = _nodes(msgspec.json.decode(found)[0]["Plan"])
        used = {node["Index Name"] for node in nodes if "Index Name" in node}
        read = sum(
            node["Actual Rows"] + node.get("Rows Removed by Filter", 0) for node in nodes if "Index Name" in node
        )
        assert used == indexes, (name, used)
        assert read <= 4 * PAGE_SIZE, (name, read)
