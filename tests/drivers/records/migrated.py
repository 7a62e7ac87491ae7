"""Databases that are migrated once in a run: a file to be copied, and a PostgreSQL database to be emptied."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import asyncpg

from longline.drivers.records import open_records
from longline.testing.clock import FakeClock
from tests.drivers.records.peek import TABLES as ALL_TABLES
from tests.servers import PostgresServer
from tests.servers.postgres import apart

LEFT_BEHIND = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
"""

FIRST_IDS = """
SELECT setval(format('%I.%I', schemaname, sequencename)::regclass, start_value, false) FROM pg_sequences
"""

# Audit rows cannot be deleted while the triggers are on.
TRIGGERS_OFF, TRIGGERS_ON = (f"SET session_replication_role = {role}" for role in ("replica", "origin"))


def deletion(tables: Iterable[str]) -> str:
    """Return statements that empty tables; TRUNCATE makes new files, for sixty times as much processor time."""
    return "; ".join(f"DELETE FROM {table}" for table in tables)


DELETE_ALL = deletion(table for table in ALL_TABLES if table != "audit")

WIPE = f"{LEFT_BEHIND}; {TRIGGERS_OFF}; DELETE FROM audit; {TRIGGERS_ON}; {DELETE_ALL}; {FIRST_IDS}"


class Home(NamedTuple):
    """A migrated PostgreSQL database, with a connection that stays open."""

    url: str
    connection: Any

    def wipe(self) -> None:
        """Empty every table and restart the ids; end a transaction that a failed test left open."""
        apart(partial(self.connection.execute, WIPE))


def migrated_bytes(folder: Path) -> bytes:
    """Return the bytes of a migrated SQLite database."""
    file = folder / "migrated.db"
    apart(partial(migrate, f"sqlite:///{file}"))
    return file.read_bytes()


@contextmanager
def postgres_home(server: PostgresServer) -> Iterator[Home]:
    """Provide a migrated database for the duration of the context."""
    with server.fresh_database() as url:
        apart(partial(migrate, url))
        connection = apart(partial(asyncpg.connect, url))
        try:
            yield Home(url, connection)
        finally:
            apart(connection.close)


async def delete_rows(url: str, tables: Iterable[str]) -> None:
    """Empty tables of a PostgreSQL database in any order: triggers and checks of foreign keys are off."""
    connection = await asyncpg.connect(url)
    try:
        await connection.execute(f"{TRIGGERS_OFF}; {deletion(tables)}")
    finally:
        await connection.close()


async def migrate(url: str) -> None:
    """Migrate a database to the current version."""
    opened = await open_records(url, FakeClock())
    await opened.schema.migrate()
    await opened.schema.close()
