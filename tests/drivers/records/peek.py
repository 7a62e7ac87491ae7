"""Access to the rows, past the ports."""

import sqlite3
from contextlib import closing
from typing import Any

import asyncpg

TABLES = (
    "audit",
    "api_keys",
    "console_choices",
    "console_sessions",
    "throughput",
    "throughput_hours",
    "rate_limits",
    "manifests",
    "idempotency_keys",
    "dead_letters",
    "downloads",
    "sink_skips",
    "sink_positions",
    "sinks",
    "run_items",
    "item_pages",
    "sessions",
    "refused_urls",
    "refused_sums",
    "item_versions",
    "bot_answers",
    "bot_results",
    "bot_tasks",
    "bot_hosts",
    "bot_urls",
    "bot_schedules",
    "bot_hours",
    "bots",
    "proxy_uses",
    "pool_proxies",
    "pools",
    "source_proxies",
    "proxies",
    "texts",
    "unindexed",
    "items",
    "events",
    "visits",
    "entries",
    "monthly_entries",
    "log_months",
    "logs",
    "handled_messages",
    "candidates",
    "decisions",
    "links",
    "domains",
    "pages",
    "redirects",
    "bodies",
    "segments",
    "offers",
    "recrawl_calls",
    "recrawl_finds",
    "recrawl_counts",
    "recrawl_hosts",
    "recrawls",
    "batches",
    "hold_windows",
    "holds",
    "standing_counts",
    "standing",
    "queue",
    "tasks",
    "line",
    "hosts",
    "fates",
    "requests",
    "run_effects",
    "paused_kinds",
    "run_counts",
    "run_totals",
    "runs",
    "schedules",
    "feeds",
    "sitemaps",
    "sources",
    "page_changes",
    "counters",
    "workers",
    "targets",
    "series_runs",
    "discoveries",
    "series",
    "maintenance_runs",
    "maintenance_schedules",
    "webhook_tries",
    "webhooks",
    "alerts",
    "door_settings",
    "source_versions",
    "source_changes",
)
"""Every table with rows of its own, children before parents; tables with constant rows are left out."""

Snapshot = dict[str, list[tuple[Any, ...]]]


class Peek:
    """A reader, and where a test must damage rows a writer, that does not use the code under test."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._connection: Any = None

    @property
    def engine(self) -> str:
        return "lite" if self.url.startswith("sqlite:///") else "pg"

    async def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Return the rows of a query, as tuples."""
        if self.engine == "lite":
            return self._read_file([sql])[0]
        if self._connection is None:
            self._connection = await asyncpg.connect(self.url)
        return [tuple(row.values()) for row in await self._connection.fetch(sql)]

    async def rows_of_each(self, queries: list[str]) -> list[list[tuple[Any, ...]]]:
        """Return the rows of several queries, as tuples."""
        return self._read_file(queries) if self.engine == "lite" else [await self.rows(query) for query in queries]

    async def value(self, sql: str) -> Any:
        """Return the first column of the only row."""
        (row,) = await self.rows(sql)
        return row[0]

    async def snapshot(self) -> Snapshot:
        """Return every row of every table."""
        found = await self.rows_of_each([f"SELECT * FROM {table}" for table in TABLES])
        return {table: sorted(rows, key=repr) for table, rows in zip(TABLES, found, strict=True)}

    def _read_file(self, queries: list[str]) -> list[list[tuple[Any, ...]]]:
        """Return the rows of each query, by one connection: opening one reads the whole schema."""
        with closing(sqlite3.connect(self.url.removeprefix("sqlite:///"), timeout=30)) as connection:
            found = [connection.execute(query).fetchall() for query in queries]
            connection.commit()
        return found

    async def wipe(self) -> None:
        """Empty every table but the audit, because its rows cannot be deleted."""
        statements = [f"DELETE FROM {table}" for table in TABLES if table != "audit"]
        if self.engine == "lite":
            self._read_file(statements)
        else:
            for statement in statements:
                await self.rows(statement)

    async def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            await self._connection.close()
