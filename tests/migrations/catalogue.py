"""The catalogue of a database: everything that `schema.sql` can define, in a form that can be compared."""

import re
import sqlite3
from pathlib import Path
from typing import Any

import asyncpg

Catalogue = dict[str, Any]

POSTGRES = {
    "columns": """
        SELECT table_name, column_name, data_type, is_nullable, column_default, is_identity, identity_generation
        FROM information_schema.columns WHERE table_schema = 'public' ORDER BY table_name, ordinal_position""",
    "constraints": """
        SELECT conrelid::regclass::text, contype::text, pg_get_constraintdef(oid) FROM pg_constraint
        WHERE connamespace = 'public'::regnamespace ORDER BY 1, 2, 3""",
    "indexes": "SELECT tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 2",
    "triggers": """
        SELECT tgrelid::regclass::text, tgname, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
        ORDER BY 1, 2""",
    "functions": """
        SELECT proname, prosrc FROM pg_proc WHERE pronamespace = 'public'::regnamespace ORDER BY 1, 2""",
    "views": "SELECT viewname, definition FROM pg_views WHERE schemaname = 'public' ORDER BY 1",
    "options": """
        SELECT relname, relkind::text, reloptions FROM pg_class
        WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'i', 'v') ORDER BY 1""",
    "sequences": """
        SELECT sequencename, data_type::text, start_value, increment_by FROM pg_sequences
        WHERE schemaname = 'public' ORDER BY 1""",
}


async def of_postgres(url: str) -> Catalogue:
    """Return the catalogue of a PostgreSQL database."""
    connection = await asyncpg.connect(url)
    try:
        return {part: [tuple(row) for row in await connection.fetch(query)] for part, query in POSTGRES.items()}
    finally:
        await connection.close()


def of_sqlite(path: Path) -> Catalogue:
    """Return the catalogue of an SQLite file."""
    connection = sqlite3.connect(path)
    try:
        found = connection.execute(
            "SELECT type, name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%' ORDER BY name"
        )
        things = found.fetchall()
        tables = [name for kind, name, _ in things if kind == "table"]
        return {
            "things": [(kind, name) for kind, name, _ in things],
            "tables": {name: _table(connection, name) for name in tables},
            "checks": {name: sorted(_checks(sql)) for kind, name, sql in things if kind == "table"},
            "forms": {name: _form(sql) for kind, name, sql in things if kind == "table"},
            "texts": {name: _plain(sql) for kind, name, sql in things if kind != "table" and sql},
            "sequences": sorted(connection.execute("SELECT name, seq FROM sqlite_sequence").fetchall()),
        }
    finally:
        connection.close()


def _table(connection: sqlite3.Connection, name: str) -> Catalogue:
    indexes = {row[1]: row[2:] for row in connection.execute(f"PRAGMA index_list({name})")}
    return {
        "columns": connection.execute(f"PRAGMA table_xinfo({name})").fetchall(),
        "references": sorted(row[2:] for row in connection.execute(f"PRAGMA foreign_key_list({name})")),
        "indexes": indexes,
        "indexed": {i: connection.execute(f"PRAGMA index_xinfo({i})").fetchall() for i in indexes},
    }


def _plain(sql: str) -> str:
    return " ".join(re.sub(r"--.*|/\*.*?\*/", " ", sql).split())


def _form(sql: str) -> tuple[bool, bool]:
    return "WITHOUT ROWID" in _plain(sql).upper(), "AUTOINCREMENT" in _plain(sql).upper()


def _checks(sql: str) -> list[str]:
    """Return the expression of each CHECK constraint."""
    text, found = _plain(sql), []
    for start in (match.end() for match in re.finditer(r"CHECK \(", text)):
        depth, end = 1, start
        while depth:
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        found.append(text[start : end - 1])
    return found
