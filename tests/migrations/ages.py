"""Databases of the first release: only the first migration was applied to them."""

import sqlite3
from contextlib import closing
from pathlib import Path

import asyncpg

from longline.drivers.records.migration_runner import CREATE_MIGRATIONS, FIRST_MIGRATION, schema_text
from longline.drivers.records.named_queries import Engine
from longline.drivers.records.sqlite import statements


def path_of(url: str) -> Path:
    return Path(url.removeprefix("sqlite:///"))


def engine_of(url: str) -> Engine:
    return "lite" if url.startswith("sqlite") else "pg"


async def execute(url: str, text: str) -> None:
    """Run a script unchanged."""
    if url.startswith("sqlite"):
        with closing(sqlite3.connect(path_of(url))) as connection:
            for statement in statements(text):
                connection.execute(statement)
            connection.commit()
    else:
        server = await asyncpg.connect(url)
        try:
            await server.execute(text)
        finally:
            await server.close()


async def begun(url: str) -> str:
    """Make an empty database of the first release; return the name of its only migration."""
    ledger = f"INSERT INTO migrations (name, applied_at) VALUES ('{FIRST_MIGRATION}', 0);"
    await execute(url, f"{CREATE_MIGRATIONS}\n{schema_text(engine_of(url))}\n{ledger}")
    return FIRST_MIGRATION
