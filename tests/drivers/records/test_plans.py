"""Hot statements use their indexes: on PostgreSQL with a large frontier and with none, and on SQLite."""

import json
import re
import sqlite3
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import closing
from functools import partial
from typing import Any

import asyncpg
import pytest

from longline.drivers.records import open_records
from longline.drivers.records.engine_clock import PULL_IN
from longline.drivers.records.migration_runner import schema_text
from longline.drivers.records.named_queries import MAX_ROWS, load, spread
from longline.drivers.records.postgres import SETTINGS
from longline.drivers.records.sqlite import statements
from longline.testing.clock import FakeClock
from tests.servers import PostgresServer
from tests.servers.postgres import apart

HOT = {"line", "queue", "tasks", "hosts", "offers", "standing", "item_pages"}
KEY = "tasks_scope_host_id_key_key"

INDEXES = {
    "claim": {"line_free", "line_pkey", "queue_pkey", "hosts_pkey", "tasks_pkey"},
    "renew_hosts": set(),
    "lock_offers": {"offers_pkey"},
    "reap_hosts": {"line_held", "line_pkey", "hosts_pkey"},
    "host_ids": {"hosts_host_key"},
    "lock_lines": {"line_pkey"},
    "admit_tasks": {KEY},
    "known_tasks": {KEY},
    "unqueue_tasks": {"queue_pkey"},
    "unmark_tasks": {"queue_pkey"},
    "rest_tasks": {"tasks_pkey"},
    "release_lines": {"line_pkey", "queue_pkey"},
    "hold_lines": {"line_pkey"},
    "wake_lines": {"line_pkey"},
    "take_offers": {"offers_ready", "offers_pkey"},
    "taken_tasks": {"tasks_pkey"},
    "renew_offers": {"offers_pkey"},
    "close_offers": {"offers_pkey"},
    "reap_offers": {"offers_later", "offers_pkey"},
    "outdated_priorities": {
        "tasks_next_priority",
        "tasks_pkey",
        "queue_pkey",
        "offers_pkey",
        "line_pkey",
        "hosts_pkey",
    },
    "task_places": {"tasks_pkey"},
    "known_task": {"hosts_host_key", KEY},
    "task_standing": {"tasks_pkey", "queue_pkey", "offers_pkey", "line_pkey"},
    "lock_runs": {"run_counts_pkey", "runs_pkey"},
    "count_runs": {"run_counts_pkey"},
    "runs_to_settle": {"run_counts_pkey", "runs_pkey"},
    "total_runs": {"run_counts_pkey", "runs_pkey"},
    "latest_run": {"runs_kind"},
    "first_run": {"runs_kind"},
    "hosts_of_open_tasks": {"tasks_run"},
    "open_tasks_of_run": {"tasks_run"},
    "cancel_tasks": {"tasks_pkey"},
    "items": {"items_pkey"},
    "url_fates": {"tasks_run", "tasks_pkey"},
    "items_of_run": {"run_items_pkey"},
    "sink_backlog": {"sink_positions_waiting", "run_counts_pkey"},
    "sink_backlog_of_run": {"sink_positions_pkey", "run_counts_pkey"},
    "advance_position": {"sink_positions_pkey", "run_counts_pkey"},
    "put_items": {"items_source_id_lineage_key_key", "tasks_pkey", KEY},
    "known_items": {"items_source_id_lineage_key_key", "tasks_pkey", KEY},
    "keep_versions": {"items_pkey"},
    "change_items": {"items_pkey"},
    "carry_items": {"items_pkey"},
    "lead_items": {"items_pkey"},
    "pages_with_items": {"item_pages_newest", "items_pkey"},
    "unlist_item_pages": {"item_pages_pkey"},
    "delete_item_pages": {"item_pages_pkey"},
    "item_selves": {"items_pkey", "item_versions_pkey"},
    "previous_run": {"runs_kind"},
    "indexed_items": {"unindexed_pkey"},
    "search_ranked": {"texts_words"},
    "search_newest": {"texts_words"},
    "count_found": {"texts_words"},
    "pick_offers": {"offers_ready", "offers_later", "tasks_pkey", "bot_tasks_pkey"},
    "count_held": {"offers_later"},
    "hold_offers": {"offers_pkey"},
    "hold_bot_tasks": {"bot_tasks_pkey"},
    "bot_standings": {"tasks_pkey", "bot_tasks_pkey", "offers_pkey", "bots_pkey", "bot_results_pkey"},
    "lock_paces": {"bots_pkey"},
    "spend_paces": {"bots_pkey"},
    "free_offers": {"offers_pkey"},
    "rest_bot_tasks": {"bot_tasks_pkey"},
    "lapsed_bot_offers": {"offers_later"},
    "lock_bot_schedules": {"bot_schedules_pkey"},
    "bots_by_name": {"bots_name_key"},
    "urls_of_tasks": {"tasks_pkey", "standing_pkey", "standing_task_id_key"},
    "lead_urls": {"tasks_pkey", "standing_task_id_key"},
    "listed_urls": {"standing_pkey", "tasks_pkey", "queue_pkey", "line_pkey", "offers_pkey"},
    "known_url": {"hosts_host_key", KEY, "standing_task_id_key"},
    "lines_in_hand": {"line_held"},
    "urls_of_lines": {"queue_pkey", "standing_task_id_key"},
    "urls_in_hand": {"standing_pkey"},
    "urls_of_host": {"standing_host"},
    "urls_of_runs": {"standing_run"},
    "count_urls_of_host": {"standing_host"},
    "queue_figures": {"line_free", "line_held", "offers_ready"},
    "free_hosts": {"line_free", "hosts_pkey", "queue_pkey"},
    "held_hosts": {"line_held", "hosts_pkey", "queue_pkey"},
    "hosts_named": {"hosts_name", "line_pkey", "queue_pkey"},
    "host_in_line": {"hosts_host_key", "line_pkey", "queue_pkey"},
    "queue_of_host": {"queue_pkey", "tasks_pkey"},
    "queue_in_hand": {"queue_pkey", "tasks_pkey"},
    "held_offers": {"offers_later", "tasks_pkey"},
    "newest_tasks_before": {"tasks_pkey", "hosts_host_key", "hosts_pkey", "line_pkey"},
    "tasks_of_run_before": {"tasks_run", "tasks_pkey", "hosts_host_key", "hosts_pkey", "line_pkey"},
    "last_scanned_task": {"tasks_run"},
    "lease_of_task": {"tasks_pkey", "line_pkey"},
    "events_of": {"events_subject"},
    "reports_of_task": {"events_subject"},
}
"""The indexes that each statement must use."""

READ_WHOLE = "tasks_next_priority"
"""The index of the tasks in hand with another priority: few, and all of them are wanted."""

IN_ORDER = {
    "urls_by_urgency": "standing_urgency",
    "urls_by_due": "standing_next",
    "urls_by_created_at": "standing_pkey",
    "urls_at_rest_by_urgency": "standing_rest_urgency",
    "urls_at_rest_by_due": "standing_rest_next",
    "urls_at_rest_by_created_at": "standing_rest_age",
    "latest_schedules": "schedules_pkey",
}
"""Lists that are read in the order of an index until they are full, and never sorted."""

FILL = """
INSERT INTO runs (uid, kind, state, plan, seed, created_at, updated_at)
    SELECT 'r' || n, 'crawl', 'running', '{}', '', 0, 0 FROM generate_series(1, 50) n;
INSERT INTO run_counts (run_id) SELECT id FROM runs;
INSERT INTO hosts (id, host, delay_ms, concurrency)
    SELECT n, 'h' || n || '.example', 1000, 1 FROM generate_series(1, 20000) n;
INSERT INTO line (host_id, wake_at, owner, token)
    SELECT n, n, CASE WHEN n % 100 = 0 THEN 7 END, 1 FROM generate_series(1, 20000) n;
INSERT INTO tasks (id, scope, host_id, key, run_id, executor, state, priority, due, depth, created_at, url)
    SELECT n, n % 50 + 1, n % 20000 + 1, sha256(n::text::bytea), n % 50 + 1,
           CASE WHEN n % 10 = 0 THEN 'parse' ELSE 'fetch' END,
           CASE WHEN n % 10 = 0 THEN 'downloaded' WHEN n % 10 < 8 THEN 'pending' ELSE 'completed' END,
           500, 0, 1, 0, 'https://h' || (n % 20000 + 1) || '.example/' || n
    FROM generate_series(1, 200000) n;
INSERT INTO queue (host_id, due, priority, run_id, id)
    SELECT host_id, due, priority, run_id, id FROM tasks WHERE state = 'pending';
INSERT INTO offers (id, executor, host_id, due, priority, owner)
    SELECT id, 'parse', host_id, CASE WHEN id % 100 = 0 THEN id ELSE 0 END, priority, CASE WHEN id % 100 = 0 THEN 7 END
    FROM tasks WHERE state = 'downloaded';
INSERT INTO items (id, key, hash, kind, run_id, task_id, created_at, updated_at, url, title, fields, body)
    SELECT n, int8send(n), '', 'k' || n % 9, n % 50, n, n, n, '', '', '{}', 'text' FROM generate_series(1, 20000) n;
INSERT INTO run_items (run_id, position, entries) SELECT run_id + 1, id, '[[' || id || ',1,' || id || ']]' FROM items;
INSERT INTO item_versions (item_id, version, hash, run_id, task_id, updated_at, columns, url, title, fields, body)
    SELECT id, 1, '', run_id, task_id, 0, '[]', '', '', '{}', '' FROM items;
INSERT INTO item_pages (run_id, item_id, task_id, version)
    SELECT t.run_id, t.id % 200 + 1, t.id, 1 FROM tasks t WHERE t.executor = 'fetch' AND t.state = 'completed';
INSERT INTO texts (item_id, length, title_words, words)
    SELECT n, 2, '', to_tsvector('simple', 'text w' || n % 5000) FROM generate_series(1, 20000) n;
INSERT INTO unindexed (item_id, hash) SELECT n, '' FROM generate_series(1, 20000) n;
INSERT INTO bots (id, name, created_at, updated_at) SELECT n, 'bot' || n, 0, 0 FROM generate_series(1, 5000) n;
INSERT INTO schedules (id, uid, url, state, interval_ms, created_at, updated_at)
    SELECT n, 's' || n, '', 'scheduled', 1, 0, 0 FROM generate_series(1, 20000) n;
INSERT INTO bot_schedules (schedule_id, url, priority, max_retries, backoff_ms, lease_ms, next_due)
    SELECT n, 'u' || n, 500, 3, 1, 1, n FROM generate_series(1, 20000) n;
INSERT INTO tasks (id, scope, host_id, key, run_id, executor, state, priority, due, depth, created_at, url)
    SELECT n, 1, n % 20000 + 1, sha256(n::text::bytea), 1, 'bot', 'pending', 500, 0, 1, 0, 'https://bots.example/' || n
    FROM generate_series(200001, 240000) n;
INSERT INTO bot_tasks (task_id, max_retries, lease_ms, held_ms, updated_at)
    SELECT id, 3, 1, 1, 0 FROM tasks WHERE executor = 'bot';
INSERT INTO bot_results (task_id, uid, price, currency, title, in_stock, data, crawled_at, created_at)
    SELECT task_id, 'u' || task_id, 1, 'USD', '', TRUE, '{}', 0, 0 FROM bot_tasks;
INSERT INTO offers (id, executor, host_id, due, priority, owner)
    SELECT id, 'bot', host_id, CASE WHEN id % 100 = 0 THEN id ELSE 0 END, priority, CASE WHEN id % 100 = 0 THEN -7 END
    FROM tasks WHERE executor = 'bot';
INSERT INTO runs (id, uid, kind, state, plan, seed, standing, created_at, updated_at)
    SELECT n, 'f' || n, 'frontier.manual', 'queued', '{}', 's' || n, TRUE, 0, 0 FROM generate_series(1001, 1100) n;
INSERT INTO runs (id, uid, kind, state, plan, seed, number, created_at, updated_at, started_at, ended_at)
    SELECT n, 'e' || n, 'crawl', 'completed', '{}', 'seed' || n, 1, n, n, n, n FROM generate_series(2001, 22000) n;
INSERT INTO run_counts (run_id) SELECT id FROM runs WHERE id > 1000;
INSERT INTO sinks (key, uid, label, seen_at) SELECT 'k' || n, '', '', 0 FROM generate_series(1, 3) n;
INSERT INTO sink_positions (sink_id, run_id, waiting)
    SELECT s.id, u.id, u.id % 1000 = 0 FROM sinks s, runs u WHERE u.id > 2000;
INSERT INTO tasks (id, scope, host_id, key, run_id, executor, state, priority, due, depth, created_at, url)
    SELECT n, 0, n % 20000 + 1, sha256(n::text::bytea), n % 100 + 1001, 'fetch', 'completed', 500, 0, 1, 0,
           'https://urls.example/' || n
    FROM generate_series(300001, 340000) n;
INSERT INTO standing (id, task_id, run_id, host, rest, priority, next_at, updated_at)
    SELECT id, id, run_id, 'h' || host_id, CASE WHEN id % 3 = 0 THEN 'waiting' ELSE 'done' END, id % 100, id, 0
    FROM tasks WHERE scope = 0;
INSERT INTO events (at, noun, subject, move, actor)
    SELECT n, 'run', n % 500, 'report', 'worker' FROM generate_series(1, 20000) n;
ANALYZE;
"""


async def _make(url: str, fill: str) -> None:
    records = await open_records(url, FakeClock())
    await records.schema.migrate()
    await records.schema.close()
    connection = await asyncpg.connect(url)
    await connection.execute(fill)
    await connection.close()


@pytest.fixture(scope="module")
def filled_url(postgres_server: PostgresServer) -> Iterator[str]:
    """A database of 20,000 hosts and 200,000 tasks."""
    with postgres_server.fresh_database() as url:
        apart(partial(_make, url, FILL))
        yield url


@pytest.fixture(scope="module")
def empty_url(postgres_server: PostgresServer) -> Iterator[str]:
    """A database of empty tables without statistics."""
    with postgres_server.fresh_database() as url:
        apart(partial(_make, url, "SELECT 1"))
        yield url


Plans = dict[str, list[dict[str, Any]]]


async def plans(connection: Any, names: Iterable[str] = ()) -> Plans:
    """Return the nodes of the generic plan of each query, or of the named ones, on a connection like ours."""
    found = {}
    queries = load("pg")
    for name in names or queries:
        query = queries[name]
        await connection.execute(f"PREPARE plan_{name} AS {query.sql}")
        nothing = ", ".join(["NULL"] * (len(query.params) + len(query.columns)))
        told = await connection.fetchval(
            f"EXPLAIN (FORMAT JSON) EXECUTE plan_{name}{f'({nothing})' if nothing else ''}"
        )
        await connection.execute(f"DEALLOCATE plan_{name}")
        found[name] = list(_nodes(json.loads(told)[0]["Plan"]))
    return found


def _nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for part in plan.get("Plans", ()):
        yield from _nodes(part)


def faults(plans: Plans) -> list[str]:
    """Return the statements that scan a hot table, or use other indexes than the wanted ones."""
    found = []
    for name, wanted in INDEXES.items():
        nodes = plans[name]
        used = {node["Index Name"] for node in nodes if "Index Name" in node}
        found += [f"{name} does not use {index}" for index in sorted(wanted - used)]
        for node in nodes:
            where = node.get("Relation Name") or node.get("Index Name", "")
            if node["Node Type"] == "Seq Scan" and where in HOT:
                found.append(f"{name} reads all of {where}")
            # A scan of a whole index is no better.
            if node.get("Index Name", READ_WHOLE) != READ_WHOLE and "Index Cond" not in node:
                found.append(f"{name} reads all of {node['Index Name']}")
    return found


WAYS = {
    "as we connect": SETTINGS,
    "as the server would": {name: value for name, value in SETTINGS.items() if name != "enable_seqscan"},
}
"""Our settings, and only those that make plans generic."""


@pytest.fixture(params=WAYS)
async def connection(request: pytest.FixtureRequest, filled_url: str) -> AsyncIterator[Any]:
    """A connection to the large frontier."""
    opened = await asyncpg.connect(filled_url, server_settings=WAYS[request.param])
    yield opened
    await opened.close()


@pytest.fixture(scope="module", params=WAYS)
def all_plans(request: pytest.FixtureRequest, filled_url: str) -> Plans:
    """The plans of every query at the large frontier."""
    return apart(partial(_plans_at, filled_url, WAYS[request.param]))


async def _plans_at(url: str, settings: dict[str, str]) -> Plans:
    connection = await asyncpg.connect(url, server_settings=settings)
    found = await plans(connection)
    await connection.close()
    return found


def test_hot_statements_use_their_indexes(all_plans: Plans):
    assert faults(all_plans) == []


async def test_hot_statements_use_their_indexes_without_statistics(empty_url: str):
    connection = await asyncpg.connect(empty_url, server_settings=SETTINGS)
    found = faults(await plans(connection, INDEXES))
    await connection.close()
    assert found == []


def test_no_statement_scans_a_hot_table(all_plans: Plans):
    through = {
        name
        for name, nodes in all_plans.items()
        for node in nodes
        if node["Node Type"] == "Seq Scan" and node["Relation Name"] in HOT
    }
    # A page of figures counts everything there is, and a text may be in any URL.
    assert through <= {"count_bot_tasks", "count_urls", "distant_times", "error_sums", "status_sums"}


@pytest.mark.parametrize("overview", ["run_counts", "task_counts", "record_of_all"])
def test_overviews_read_open_runs_alone(all_plans: Plans, overview: str):
    nodes = all_plans[overview]
    # By the index of open runs; the newest start is one entry of its own index.
    indexes = {node["Index Name"] for node in nodes if "Index Name" in node}
    assert "runs_open" in indexes
    assert indexes <= {"runs_open", "runs_started", "run_counts_pkey", "run_totals_pkey"}
    assert {node["Relation Name"] for node in nodes if node["Node Type"] == "Seq Scan"} <= {"run_totals"}


def test_lists_are_read_in_their_order(all_plans: Plans):
    for name, index in IN_ORDER.items():
        assert "Sort" not in {node["Node Type"] for node in all_plans[name]}, name
        assert index in {node.get("Index Name") for node in all_plans[name]}, name


@pytest.mark.parametrize(
    ("spoiler", "fault"),
    [
        ("DROP INDEX line_free", "claim does not use line_free"),
        ("DROP INDEX line_held", "reap_hosts does not use line_held"),
        ("DROP INDEX offers_ready", "take_offers does not use offers_ready"),
        ("DROP INDEX offers_later", "reap_offers does not use offers_later"),
        ("DROP INDEX offers_later", "lapsed_bot_offers does not use offers_later"),
        ("DROP INDEX tasks_run", "open_tasks_of_run does not use tasks_run"),
        ("DROP INDEX item_pages_newest", "pages_with_items does not use item_pages_newest"),
        ("DROP INDEX standing_run", "urls_of_runs does not use standing_run"),
        ("ALTER TABLE queue DROP CONSTRAINT queue_pkey", "unqueue_tasks does not use queue_pkey"),
        (f"ALTER TABLE tasks DROP CONSTRAINT {KEY}; CREATE UNIQUE INDEX x ON tasks (scope, key, host_id)", None),
    ],
)
async def test_a_missing_index_is_found(filled_url: str, spoiler: str, fault: str | None):
    connection = await asyncpg.connect(filled_url, server_settings=SETTINGS)
    transaction = connection.transaction()
    await transaction.start()
    await connection.execute(spoiler)
    found = faults(await plans(connection, INDEXES))
    await transaction.rollback()
    await connection.close()
    assert fault in found if fault else f"known_tasks does not use {KEY}" in found


async def test_a_plan_that_takes_limit_for_a_tenth_of_the_table_is_found(filled_url: str):
    """The form of the claim that was slow: joined to the CTE, all hosts are hashed."""
    connection = await asyncpg.connect(filled_url, server_settings=SETTINGS | {"enable_seqscan": "on"})
    query = load("pg")["claim"].sql
    slow = query.replace(
        "WHERE host_id = ANY (ARRAY (SELECT host_id FROM free))", "FROM free WHERE line.host_id = free.host_id"
    )
    assert slow != query
    slow = slow.replace("RETURNING host_id, token, not_before", "RETURNING line.host_id, token, not_before")
    await connection.execute(f"PREPARE slow AS {slow}")
    values = ", ".join("NULL" for _ in load("pg")["claim"].params)
    told = await connection.fetchval(f"EXPLAIN (FORMAT JSON) EXECUTE slow({values})")
    nodes = list(_nodes(json.loads(told)[0]["Plan"]))
    await connection.close()
    everything = {name: nodes if name == "claim" else [] for name in INDEXES}
    assert "claim reads all of line" in faults(everything)


CLAIMED = {
    "now": 10**9,
    "waited": 0,
    "hosts": 1,
    "owner": 7,
    "ttl": 1000,
    "tasks": 8,
    "held": "'{}'",
    "tokens": "'{}'",
    "downloads": "TRUE",
}
RIVALS = """
INSERT INTO queue (host_id, due, priority, run_id, id)
    SELECT 1, 0, 500, n % {runs} + 1, 1000000 + n FROM generate_series(1, {tasks}) n;
INSERT INTO queue (host_id, due, priority, run_id, id)
    SELECT 1, n, 1, 1, 2000000 + n FROM generate_series(1, {later}) n;
"""


async def entries_read(connection: Any, runs: int, tasks: int, later: int = 0) -> int:
    """Return the number of rows of the queue that a claim reads on a host with that many runs and tasks."""
    transaction = connection.transaction()
    await transaction.start()
    await connection.execute(RIVALS.format(runs=runs, tasks=tasks, later=later))
    query = load("pg")["claim"]
    await connection.execute(f"PREPARE claim AS {query.sql}")
    values = ", ".join(str(CLAIMED[name]) for name in query.params)
    told = await connection.fetchval(f"EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE claim({values})")
    await connection.execute("DEALLOCATE claim")
    await transaction.rollback()
    nodes = [node for node in _nodes(json.loads(told)[0]["Plan"]) if node.get("Relation Name") == "queue"]
    found = ("Actual Rows", "Rows Removed by Filter", "Rows Removed by Index Recheck")
    return sum(round(node.get(what, 0) * node["Actual Loops"]) for node in nodes for what in found)


@pytest.mark.parametrize("runs", [1, 2, 5])
async def test_a_claim_reads_only_the_tasks_that_it_takes(connection: Any, runs: int):
    few, many = [await entries_read(connection, runs, tasks, tasks) for tasks in (100, 10_000)]
    assert many <= few + 4


async def test_a_claim_reads_a_part_of_very_many_runs(connection: Any):
    few, many = [await entries_read(connection, runs, 10 * runs) for runs in (60, 1000)]
    assert many <= few + 4


PAGES_OF_ONE_ITEM = """
INSERT INTO item_pages (run_id, item_id, task_id, version) SELECT 1, 20001, n, n % 3 FROM generate_series(1, {pages}) n;
INSERT INTO segments (id, key, owner, state, created_at) VALUES (1, 's', 0, 'stored', 0);
INSERT INTO pages (task_id, segment_id, start, length, digest, status, content_type, body_bytes, fetched_at, fetch_ms,
    url, title, items) VALUES (2, 1, 0, 1, '', 200, '', 1, 0, 0, '', '', '[[-20001,2]]');
"""


async def item_pages_read(connection: Any, pages: int) -> int:
    """Return the number of rows read to find the next page of an item that this many pages of its run list."""
    transaction = connection.transaction()
    await transaction.start()
    await connection.execute(PAGES_OF_ONE_ITEM.format(pages=pages))
    await connection.execute(f"PREPARE next_page AS {load('pg')['pages_with_items'].sql}")
    told = await connection.fetchval("EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE next_page(1, ARRAY[20001])")
    await connection.execute("DEALLOCATE next_page")
    await transaction.rollback()
    nodes = [node for node in _nodes(json.loads(told)[0]["Plan"]) if node.get("Relation Name") == "item_pages"]
    return sum(round(node["Actual Rows"] * node["Actual Loops"]) for node in nodes)


@pytest.mark.parametrize("pages", [10, 10_000])
async def test_the_next_page_of_an_item_is_found_without_the_others(connection: Any, pages: int):
    assert await item_pages_read(connection, pages) == 1


# -- SQLite ---------------------------------------------------------------------------------------------------------

NAMED = re.compile(rf"\b({'|'.join(sorted(HOT))})\b(?:\s+(?:AS\s+)?(\w+))?")
MAY_SCAN = {"disown_hosts", "engine_busy", "count_urls", "distant_times", *PULL_IN.values(), *IN_ORDER}
MAY_SCAN |= {"outdated_priorities"}
"""Held tasks, and only after the death of a process; pauses, and only after a wall clock was set; URLs that may contain
a text; lists, until they are full; tasks in hand with another priority, by an index of these alone.
"""


def scanned(connection: sqlite3.Connection, sql: str, parameters: int) -> list[str]:
    """Return the hot tables that a statement scans."""
    # Plans of statements that query the view have the view's own short names.
    text = sql + (schema_text("lite").partition("CREATE VIEW tasks_now")[2] if "tasks_now" in sql else "")
    hot = HOT | {short for _, short in NAMED.findall(text)}
    steps = [row[3].split() for row in connection.execute(f"EXPLAIN QUERY PLAN {sql}", [None] * parameters)]
    materialised = {step[1] for step in steps if step[0] in ("MATERIALIZE", "CO-ROUTINE")}
    names = [step[1] for step in steps if step[0] == "SCAN" and step[1] not in materialised]
    return [name for name in names if name in hot]


@pytest.fixture
def embedded() -> Iterator[sqlite3.Connection]:
    # A cached EXPLAIN would still return the old plan.
    with closing(sqlite3.connect(":memory:", cached_statements=0)) as connection:
        for statement in statements(schema_text("lite")):
            connection.execute(statement)
        connection.execute("CREATE TABLE migrations (name TEXT PRIMARY KEY, applied_at BIGINT NOT NULL)")
        yield connection


def test_no_statement_scans_a_hot_table_on_sqlite(embedded: sqlite3.Connection):
    through = {}
    for name, query in load("lite").items():
        found = scanned(embedded, query.sql, len(query.params) + len(query.columns))
        if query.many:
            found += scanned(embedded, spread(query, MAX_ROWS), len(query.params) + MAX_ROWS * len(query.columns))
        if found and name not in MAY_SCAN:
            through[name] = found
    assert through == {}


@pytest.mark.parametrize(("name", "index"), [item for item in IN_ORDER.items() if not item[1].endswith("_pkey")])
def test_lists_are_read_in_their_order_on_sqlite(embedded: sqlite3.Connection, name: str, index: str):
    def plan() -> list[str]:
        query = load("lite")[name]
        told = [row[3] for row in embedded.execute(f"EXPLAIN QUERY PLAN {query.sql}", [None] * len(query.params))]
        return [step for step in told if re.search(r"\b(s|ORDER) (USING|BY)\b", step)]

    assert [index in step for step in plan()] == [True]
    embedded.execute(f"DROP INDEX {index}")
    assert any("ORDER BY" in step for step in plan()), "without the index the list is sorted"


@pytest.mark.parametrize(
    ("spoiler", "name"),
    [
        ("DROP INDEX standing_host", "urls_of_host"),
        ("DROP INDEX item_pages_newest", "pages_with_items"),
        ("DROP INDEX line_free", "lease_hosts"),
        ("DROP INDEX line_held", "reap_hosts"),
        ("DROP INDEX tasks_run", "open_tasks_of_run"),
        ("DROP INDEX offers_later", "reap_offers"),
    ],
)
def test_a_missing_index_is_found_on_sqlite(embedded: sqlite3.Connection, spoiler: str, name: str):
    query = load("lite")[name]
    parameters = len(query.params) + len(query.columns)
    assert scanned(embedded, query.sql, parameters) == []
    embedded.execute(spoiler)
    assert scanned(embedded, query.sql, parameters) != []


def steps(connection: sqlite3.Connection, name: str, runs: int, tasks: int) -> int:
    """Return the steps of SQLite for one of the claim's statements on a host with that many runs and tasks."""
    connection.execute("DELETE FROM queue")
    ready = [(1, 0, 500, n % runs + 1, n) for n in range(tasks)]
    later = [(1, n + 1, 1, 1, tasks + n) for n in range(tasks)]
    connection.executemany(
        "INSERT INTO queue (host_id, due, priority, run_id, id) VALUES (?, ?, ?, ?, ?)", ready + later
    )
    query, taken = load("lite")[name], 0

    def count() -> int:
        nonlocal taken
        taken += 1
        return 0

    rows = {"host_id": 1, "token": 1, "due": 0, "priority": 500, "run_id": 1}
    values = [*(CLAIMED[p] for p in query.params), *(rows[column] for column in query.columns)]
    connection.set_progress_handler(count, 1)
    connection.execute(query.sql, values).fetchall()
    connection.set_progress_handler(None, 1)
    return taken


@pytest.mark.parametrize("name", ["find_rivals", "pick_tasks"])
@pytest.mark.parametrize("runs", [1, 2, 5])
def test_a_claim_on_sqlite_reads_only_the_tasks_that_it_takes(embedded: sqlite3.Connection, name: str, runs: int):
    embedded.execute("INSERT INTO hosts (id, host, delay_ms, concurrency) VALUES (1, 'a.example', 0, 1)")
    embedded.execute("INSERT INTO line (host_id) VALUES (1)")
    few, many = [steps(embedded, name, runs, tasks) for tasks in (100, 10_000)]
    assert 0 < many <= few * 1.05


def test_a_claim_on_sqlite_reads_a_part_of_very_many_runs(embedded: sqlite3.Connection):
    few, many = [steps(embedded, "find_rivals", runs, 3 * runs) for runs in (60, 1000)]
    assert many <= few * 1.05
