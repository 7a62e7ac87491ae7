"""The loader of named SQL, and every query against a fresh schema of both engines."""

import re
import sqlite3
from importlib import resources
from pathlib import Path

import asyncpg
import pytest

from longline.drivers.records import engine_clock
from longline.drivers.records.migration_runner import schema_text
from longline.drivers.records.named_queries import MAX_ALL_ROWS, MAX_ROWS, Engine, compile_query, load, spread, switch
from longline.drivers.records.sqlite import statements

ENGINES: tuple[Engine, ...] = ("pg", "lite")


# -- the marks ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "pg", "lite"),
    [
        ("a /*pg b */ c", "a b  c", "a  c"),
        ("a /*lite b */ c", "a  c", "a b  c"),
        ("/*pg = ANY (ARRAY */ /*lite IN */ (x)", "= ANY (ARRAY   (x)", " IN  (x)"),
        ("/*pg two\nlines */;", "two\nlines ;", ";"),
        ("/* a comment */ x", "/* a comment */ x", "/* a comment */ x"),
    ],
)
def test_a_switch_is_kept_for_one_engine(text: str, pg: str, lite: str):
    assert (switch(text, "pg"), switch(text, "lite")) == (pg, lite)


def test_parameters_are_numbered_once_each_in_order():
    text = "SELECT :b, :a, :b FROM t WHERE x = :a AND y = :c;"
    pg, lite = compile_query("q", text, "pg"), compile_query("q", text, "lite")
    assert pg.sql == "SELECT $1, $2, $1 FROM t WHERE x = $2 AND y = $3"
    assert lite.sql == "SELECT ?1, ?2, ?1 FROM t WHERE x = ?2 AND y = ?3"
    assert pg.params == lite.params == ("b", "a", "c")


def test_casts_are_not_parameters():
    query = compile_query("q", "SELECT x::bigint, :y::text", "pg")
    assert (query.sql, query.params) == ("SELECT x::bigint, $1::text", ("y",))


def test_a_parameter_of_the_other_engine_is_left_out():
    assert compile_query("q", "SELECT /*pg :a */ /*lite :b */", "pg").params == ("a",)
    assert compile_query("q", "SELECT /*pg :a */ /*lite :b */", "lite").params == ("b",)


BATCH = """
-- why it is so :not_a_parameter
UPDATE t SET a = r.a, n = :now /*rows FROM r(a text, key bytea) */ WHERE t.key = r.key AND t.b = :b;
"""


def test_a_batch_is_one_statement_over_arrays_on_postgresql():
    query = compile_query("q", BATCH, "pg")
    assert query.sql == (
        "UPDATE t SET a = r.a, n = $1 FROM unnest($3::text[], $4::bytea[]) AS r(a, key) "
        "WHERE t.key = r.key AND t.b = $2"
    )
    assert (query.params, query.columns) == (("now", "b"), ("a", "key"))


def test_a_batch_is_a_statement_a_row_on_sqlite():
    query = compile_query("q", BATCH, "lite")
    assert query.sql == "UPDATE t SET a = ?3, n = ?1  WHERE t.key = ?4 AND t.b = ?2"
    assert (query.params, query.columns) == (("now", "b"), ("a", "key"))


def test_writing_statements_are_spread_over_many_rows_on_sqlite():
    query = compile_query("q", BATCH, "lite")
    assert spread(query, 1) == query.sql
    assert spread(query, 2) == (
        "WITH r(a, key) AS (VALUES (?, ?), (?, ?)) UPDATE t SET a = r.a, n = ?5 FROM r WHERE t.key = r.key AND t.b = ?6"
    )
    assert (query.max_rows, compile_query("q", BATCH.replace("/*rows", "/*all rows"), "lite").max_rows) == (
        MAX_ROWS,
        MAX_ALL_ROWS,
    )
    assert compile_query("q", BATCH.replace("/*rows", "/*all rows"), "pg").sql == compile_query("q", BATCH, "pg").sql


@pytest.mark.parametrize("text", ["SELECT x FROM t, ", "DELETE FROM t "])
def test_selects_and_deletes_are_not_spread(text: str):
    query = compile_query("q", f"{text} /*rows USING r(x bigint) */ WHERE t.x = r.x", "lite")
    assert (query.many, query.max_rows) == ("", 1)


def test_only_the_rows_own_name_is_replaced():
    query = compile_query("q", "SELECT or.x, r.x, bar.x /*rows FROM r(x bigint) */ WHERE TRUE", "lite")
    assert query.sql == "SELECT or.x, ?1, bar.x  WHERE TRUE"


# -- the files ------------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of queries in place of ours."""
    (tmp_path / "sql").mkdir()
    monkeypatch.setattr(resources, "files", lambda _: tmp_path)
    return tmp_path / "sql"


def test_queries_are_found_by_name_in_every_file(folder: Path):
    (folder / "one.sql").write_text("-- about\n\n-- name: a\nSELECT 1;\n\n-- name: b\n-- why\nSELECT\n2;\n")
    for path, name in (("below/two.sql", "c"), ("below/it/two.sql", "d"), ("migrations/0002_pre.sql", "no_query")):
        (folder / path).parent.mkdir()
        (folder / path).write_text(f"-- name: {name}\nSELECT 3;\n")
    (folder / "schema.sql").write_text("-- name: not_a_query\nCREATE TABLE t (x);\n")
    (folder / "notes.txt").write_text("-- name: nor_this\nSELECT 4;\n")
    assert {name: query.sql for name, query in load("pg").items()} == {
        "a": "SELECT 1",
        "b": "SELECT\n2",
        "c": "SELECT 3",
        "d": "SELECT 3",
    }


def test_a_query_may_be_for_one_engine_only(folder: Path):
    (folder / "one.sql").write_text(
        "-- name: a only pg\nSELECT 1;\n-- name: b only lite\nSELECT 2;\n-- name: c\nSELECT 3;\n"
    )
    assert (sorted(load("pg")), sorted(load("lite"))) == (["a", "c"], ["b", "c"])


def test_one_name_for_two_engines_is_no_duplicate(folder: Path):
    (folder / "one.sql").write_text("-- name: a only pg\nSELECT 1;\n-- name: a only lite\nSELECT 2;\n")
    assert (load("pg")["a"].sql, load("lite")["a"].sql) == ("SELECT 1", "SELECT 2")


def test_a_part_is_filled_with_a_text(folder: Path):
    (folder / "a.sql").write_text(
        "-- part: sorted\nSELECT id FROM t ORDER BY /*given */, /*given */;\n-- name: a\n/*part sorted: id DESC */;\n"
    )
    assert load("pg")["a"].sql == "SELECT id FROM t ORDER BY id DESC, id DESC"


def test_a_part_is_shared_by_the_queries_of_its_file(folder: Path):
    (folder / "one.sql").write_text(
        "-- part: far\nx > :far /*pg AND y */;\n-- name: a\nSELECT 1 WHERE /*part far */;\n"
        "-- name: b\nSELECT :b, /*part far */;\n"
    )
    assert {name: query.sql.strip() for name, query in load("lite").items()} == {
        "a": "SELECT 1 WHERE x > ?1",
        "b": "SELECT ?1, x > ?2",
    }


@pytest.mark.parametrize("other", ["one.sql", "two.sql", "below/one.sql"])
def test_two_queries_of_one_name_are_an_error(folder: Path, other: str):
    (folder / "one.sql").write_text("-- name: a\nSELECT 1;\n")
    (folder / other).parent.mkdir(exist_ok=True)
    with (folder / other).open("a") as file:
        file.write("-- name: a\nSELECT 2;\n")
    with pytest.raises(ValueError, match="two queries are called a"):
        load("pg")


# -- our own queries --------------------------------------------------------------------------------------------------


def test_both_engines_have_the_same_queries_but_for_those_marked():
    assert set(load("pg")) ^ set(load("lite")) == {
        *engine_clock.PULL_IN.values(),
        "claim",
        "clean_texts",
        "count_vocabulary",
        "counted_texts",
        "engine_busy",
        "find_rivals",
        "forget_all_texts",
        "forget_texts",
        "forget_vocabulary",
        "has_trigrams",
        "indexed_selves",
        "integrity_check",
        "latest_time",
        "lease_hosts",
        "lock_migrations",
        "lock_page_tasks",
        "make_log_partition",
        "drop_log_partition",
        "delete_entries_of_month",
        "lock_slots",
        "mark_tasks",
        "mean_text",
        "merge_texts",
        "pick_tasks",
        "find_queued",
        "read_queued",
        "plan_each",
        "quick_check",
        "say_tokenizer",
        "say_vocabulary",
        "search_newest",
        "server_time",
        "size_of_texts",
        "still_held",
        "terms_alike",
        "time_leapt",
        "tokenizer_of_texts",
        "want_whole_index",
        "weigh_words",
    }


@pytest.mark.parametrize("engine", ENGINES)
def test_no_mark_remains_in_a_query(engine: Engine):
    left = [
        name
        for name, query in load(engine).items()
        if "/*" in query.sql or "*/" in query.sql or ":" in _bare(query.sql)
    ]
    assert not left


def _bare(sql: str) -> str:
    """Return the text without casts and without the colons of URLs in texts."""
    return re.sub(r"'[^']*'", "", sql.replace("::", ""))


def test_every_query_compiles_on_sqlite():
    connection = sqlite3.connect(":memory:")
    for statement in statements(schema_text("lite")):
        connection.execute(statement)
    connection.execute("CREATE TABLE migrations (name TEXT PRIMARY KEY, applied_at BIGINT NOT NULL)")
    for name, query in load("lite").items():
        values = [None] * (len(query.params) + len(query.columns))
        try:
            connection.execute(f"EXPLAIN {query.sql}", values).fetchall()
            for rows in {2, query.max_rows} if query.many else ():
                many = [None] * (len(query.params) + rows * len(query.columns))
                connection.execute(f"EXPLAIN {spread(query, rows)}", many).fetchall()
        except sqlite3.Error as error:
            pytest.fail(f"{name}: {error}\n{query.sql}")
    connection.close()


async def test_every_query_compiles_on_postgresql(wiped_home: str):
    connection = await asyncpg.connect(wiped_home)
    try:
        for name, query in load("pg").items():
            try:
                prepared = await connection.prepare(query.sql)
            except asyncpg.PostgresError as error:
                pytest.fail(f"{name}: {error}\n{query.sql}")
            assert len(prepared.get_parameters()) == len(query.params) + len(query.columns), name
    finally:
        await connection.close()


async def test_a_query_that_does_not_compile_is_found(wiped_home: str):
    broken = compile_query("q", "SELECT no_such_column FROM tasks WHERE id = :id", "pg")
    connection = await asyncpg.connect(wiped_home)
    with pytest.raises(asyncpg.UndefinedColumnError):
        await connection.prepare(broken.sql)
    await connection.close()
