"""The engine itself: its version, its tables, its clock."""

import time

import pytest

from longline.drivers.clock import SystemClock
from longline.drivers.records import open_database, open_records
from longline.drivers.records.migration_runner import SchemaRecords, migration_names, schema_text
from longline.model.errors import BadInput, Unavailable
from longline.ports.records import Records
from longline.testing.clock import FakeClock


async def test_an_empty_database_has_all_migrations_pending(database_url: str):
    records = await open_records(database_url, FakeClock())
    assert await records.schema.pending() == migration_names() != []
    assert await records.schema.migrate() == migration_names()
    assert await records.schema.pending() == []
    assert await records.schema.migrate() == []
    source = await records.sources.find()
    await records.schema.close()
    assert source == []


async def test_tables_outlive_the_connection(database_url: str):
    for applied in (migration_names(), []):
        records = await open_records(database_url, FakeClock())
        assert await records.schema.migrate() == applied
        await records.schema.close()


async def test_the_version_is_shown_for_people(records: Records, records_url: str):
    name = "SQLite 3." if records_url.startswith("sqlite") else "PostgreSQL 1"
    assert (await records.schema.version()).startswith(name)


async def test_the_engines_time_is_that_of_this_machine(records_url: str):
    clock = SystemClock()
    database = await open_database(records_url, clock)
    schema = SchemaRecords(database)
    before = time.time_ns() // 1_000_000
    told = await schema.now()
    after = time.time_ns() // 1_000_000
    await schema.close()
    error_ms = 1 + 1000 * clock.error()
    assert before - error_ms <= told <= after + error_ms


def test_schemas_differ_by_engine_at_their_marks_only():
    assert "BYTEA" in schema_text("pg")
    assert "BYTEA" not in schema_text("lite")
    assert "WITHOUT ROWID" in schema_text("lite")
    assert "WITHOUT ROWID" not in schema_text("pg")
    assert not [text for text in (schema_text("pg"), schema_text("lite")) if "/*pg" in text or "/*lite" in text]


@pytest.mark.parametrize("url", ["mysql://localhost/x", "longline.db", ""])
async def test_an_unknown_engine_is_named(url: str):
    with pytest.raises(BadInput, match="unknown kind of database"):
        await open_records(url, FakeClock())


async def test_an_unreachable_server_is_reported_in_one_line():
    with pytest.raises(Unavailable, match=r"cannot reach the database at 127\.0\.0\.1:1/none: ") as refused:
        await open_records("postgresql://nobody@127.0.0.1:1/none", FakeClock())
    assert "\n" not in str(refused.value)
