"""Migrations: a replay gives the schema, concurrent runs apply each once, and a failed one is rolled back."""

import asyncio
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import asyncpg
import pytest

from longline.drivers.records import migration_runner, open_records
from longline.drivers.records.migration_runner import CREATE_MIGRATIONS, migration_names, schema_text
from longline.drivers.records.named_queries import switch
from longline.model.errors import Unavailable
from longline.testing.clock import FakeClock
from tests.migrations.ages import begun, engine_of, execute, path_of
from tests.migrations.catalogue import Catalogue, of_postgres, of_sqlite
from tests.servers import PostgresServer


async def migrated(url: str) -> list[str]:
    records = await open_records(url, FakeClock())
    try:
        return await records.schema.migrate()
    finally:
        await records.schema.close()


async def replayed(url: str) -> list[str]:
    """Make a database of the first release and migrate it; return the names of its migrations."""
    return [await begun(url), *await migrated(url)]


async def catalogue(url: str) -> Catalogue:
    return of_sqlite(path_of(url)) if url.startswith("sqlite") else await of_postgres(url)


async def catalogue_of_text(like: str, text: str, server: PostgresServer, folder: Path) -> Catalogue:
    """Return the catalogue of a new database of the same engine, made by a script."""
    if engine_of(like) == "lite":
        url = f"sqlite:///{folder}/schema.db"
        await execute(url, text)
        return await catalogue(url)
    with server.fresh_database() as url:
        await execute(url, text)
        return await catalogue(url)


@pytest.fixture
async def present_truth(database_url: str, postgres_server: PostgresServer, tmp_path: Path) -> Catalogue:
    """The catalogue of a database made from `schema.sql` alone."""
    text = f"{CREATE_MIGRATIONS}\n{schema_text(engine_of(database_url))}"
    return await catalogue_of_text(database_url, text, postgres_server, tmp_path)


GOOD = """CREATE TABLE half (id BIGINT PRIMARY KEY);
INSERT INTO half (id) VALUES (1);
ALTER TABLE runs ADD COLUMN half BIGINT;
"""


@pytest.fixture
def with_a_second(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """One more migration than the release has; the list holds its text."""
    names, read, text = migration_names(), migration_runner.migration_text, [GOOD]
    monkeypatch.setattr(migration_runner, "migration_names", lambda: [*names, "0002_pre_half"])
    monkeypatch.setattr(
        migration_runner,
        "migration_text",
        lambda name, engine: text[0] if name == "0002_pre_half" else read(name, engine),
    )
    return text


async def test_the_schema_is_the_replay_of_all_migrations(database_url: str, present_truth: Catalogue):
    assert await replayed(database_url) == migration_names()
    assert await catalogue(database_url) == present_truth


async def test_a_migrated_database_equals_a_new_one(
    database_url: str, postgres_server: PostgresServer, tmp_path: Path, with_a_second: list[str]
):
    assert await replayed(database_url) == migration_runner.migration_names() == [*migration_names(), "0002_pre_half"]
    text = f"{CREATE_MIGRATIONS}\n{schema_text(engine_of(database_url))}\n{GOOD}"
    assert await catalogue(database_url) == await catalogue_of_text(database_url, text, postgres_server, tmp_path)


async def test_a_database_from_before_the_first_release_is_refused(database_url: str):
    await execute(
        database_url, f"{CREATE_MIGRATIONS}\nINSERT INTO migrations (name, applied_at) VALUES ('0001_pre_older', 0);"
    )
    with pytest.raises(Unavailable, match="before the first release; use a new one"):
        await migrated(database_url)


async def test_a_new_database_has_the_schema(database_url: str, present_truth: Catalogue):
    assert await migrated(database_url) == await applied_rows(database_url) == migration_names()
    assert await catalogue(database_url) == present_truth


SPOILERS = [
    "ALTER TABLE runs ADD COLUMN more BIGINT;",
    "DROP INDEX line_free;",
    "CREATE INDEX line_free ON line (wake_at) WHERE owner IS NULL;",
    "CREATE INDEX another ON tasks (state);",
    "CREATE TABLE one_table_more (id BIGINT PRIMARY KEY);",
    "DROP VIEW tasks_now;\nCREATE VIEW tasks_now AS SELECT id FROM tasks;",
    """/*pg ALTER TABLE tasks DROP CONSTRAINT tasks_executor_check; */
    /*lite DROP TABLE workers; */
    /*lite CREATE TABLE workers (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL); */""",
    """/*pg ALTER TABLE line SET (fillfactor = 60); */
    /*lite UPDATE sqlite_sequence SET seq = 7 WHERE name = 'sources'; */""",
    "/*pg ALTER TABLE run_counts ALTER COLUMN open SET DEFAULT 1; */ /*lite DROP TABLE events; */",
    "/*pg ALTER TABLE sources ALTER COLUMN id SET START WITH 5; */ /*lite DROP TABLE pages; */",
]


async def test_a_difference_of_catalogues_is_found(database_url: str, present_truth: Catalogue):
    await replayed(database_url)
    engine = engine_of(database_url)
    seen = await catalogue(database_url)
    for spoiler in SPOILERS:
        await execute(database_url, switch(spoiler, engine))
        spoilt = await catalogue(database_url)
        assert spoilt != seen, spoiler
        assert spoilt != present_truth, spoiler
        seen = spoilt


async def applied_rows(url: str) -> list[str]:
    if url.startswith("sqlite"):
        with closing(sqlite3.connect(path_of(url))) as connection:
            rows = connection.execute("SELECT name FROM migrations ORDER BY name").fetchall()
    else:
        server = await asyncpg.connect(url)
        rows = [tuple(row) for row in await server.fetch("SELECT name FROM migrations ORDER BY name")]
        await server.close()
    return [name for (name,) in rows]


async def test_concurrent_migrations_apply_each_migration_once(database_url: str, present_truth: Catalogue):
    applied = await asyncio.gather(*(migrated(database_url) for _ in range(4)))
    assert sorted(name for names in applied for name in names) == migration_names()
    assert await applied_rows(database_url) == migration_names()
    assert await catalogue(database_url) == present_truth


PROGRAM = """
import asyncio, sys
from longline.drivers.clock import SystemClock
from longline.drivers.records import open_records

async def main():
    records = await open_records(sys.argv[1], SystemClock())
    print(*await records.schema.migrate())
    await records.schema.close()

asyncio.run(main())
"""


async def test_concurrent_processes_apply_each_migration_once(database_url: str):
    async def process() -> list[str]:
        command = [sys.executable, "-c", PROGRAM, database_url]
        started = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
        said, _ = await started.communicate()
        assert started.returncode == 0
        return said.decode().split()

    applied = await asyncio.gather(process(), process())
    assert sorted(name for names in applied for name in names) == migration_names()
    assert await applied_rows(database_url) == migration_names()


async def test_a_migration_that_fails_half_way_is_rolled_back(
    database_url: str, present_truth: Catalogue, with_a_second: list[str]
):
    with_a_second[0] = f"{GOOD}INSERT INTO no_such_table VALUES (1);\n"
    with pytest.raises(Exception, match="no_such_table"):
        await replayed(database_url)
    assert await catalogue(database_url) == present_truth
    assert await applied_rows(database_url) == migration_names()
    records = await open_records(database_url, FakeClock())
    assert await records.schema.pending() == ["0002_pre_half"]
    await records.schema.close()
    with_a_second[0] = GOOD
    assert await migrated(database_url) == ["0002_pre_half"]
    assert await catalogue(database_url) != present_truth


async def test_a_last_statement_without_a_semicolon_is_run(database_url: str, with_a_second: list[str]):
    with_a_second[0] = "CREATE TABLE half (id BIGINT PRIMARY KEY)"
    assert (await replayed(database_url))[-1] == "0002_pre_half"
    await execute(database_url, "INSERT INTO half (id) VALUES (1);")
