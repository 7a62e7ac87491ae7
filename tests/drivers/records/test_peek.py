"""The list of tables that tests empty and compare must be complete."""

from tests.drivers.records.peek import TABLES, Peek

SAME_ROWS = {"migrations", "turns", "places", "engine_clock", "texts_of", "vocabulary", "vocabulary_of"}
"""Tables with constant rows, or with rows of another table or of the full-text index."""

ALL = {
    "lite": "SELECT name FROM sqlite_master WHERE type = 'table'"
    " AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'texts%'",
    "pg": "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')"
    " AND NOT relispartition AND relname NOT LIKE 'texts%'",
}


async def test_the_list_has_every_table_with_rows_of_its_own(peek: Peek):
    found = {name for (name,) in await peek.rows(ALL[peek.engine])}
    listed = {table for table in TABLES if not table.startswith("texts")}
    assert found - SAME_ROWS == listed
