"""Databases as old as can be: only the first migration was applied to them."""

import sqlite3
from contextlib import closing
from pathlib import Path

import asyncpg

from longline.drivers.records.named_queries import Engine
from longline.drivers.records.schema import LEDGER, migration_names, migration_text
from longline.drivers.records.sqlite import statements


def path_of(url: str) -> Path:
    return Path(url.removeprefix("sqlite:///"))


def engine_of(url: str) -> Engine:
    return "lite" if url.startswith("sqlite") else "pg"


async def execute(url: str, text: str) -> None:
    """Run a script as it stands."""
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
    """Make an empty database as old as can be; the name of its one migration."""
    oldest = migration_names()[0]
    text = migration_text(oldest, engine_of(url))
    await execute(url, f"{LEDGER}\n{text}\nINSERT INTO migrations (name, applied_at) VALUES ('{oldest}', 0);")
    return oldest
