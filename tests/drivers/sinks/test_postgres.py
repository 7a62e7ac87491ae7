"""Tables of PostgreSQL as sinks."""

import json
from contextlib import suppress

import asyncpg
import pytest

from longline.drivers.sinks.postgres import PostgresSink, split_table
from longline.model.errors import BadInput
from longline.model.sinks.sink import SinkAddress, SinkItem
from longline.ports.sinks import SinkFailed


def item(position: int, **fields: object) -> SinkItem:
    return SinkItem(
        f"u-1-{position}", 1, position, position, 1, "book", "https://b.example/", 1_700_000_000_000, fields
    )


def table(url: str, name: str) -> PostgresSink:
    base, mark, query = url.partition("?")
    return PostgresSink(SinkAddress.parse(f"{base}/{name}{mark}{query}"))


async def test_items_are_rows_and_an_item_sent_twice_is_one_row(postgres_url: str):
    sink = table(postgres_url, "books")
    try:
        await sink.deliver([item(1, title="A", tags=["x"]), item(2, title="nul \0, \\u0000")])
        await sink.deliver([item(2, title="again"), item(3)])
    finally:
        await sink.close()
    connection = await asyncpg.connect(postgres_url)
    try:
        rows = await connection.fetch("SELECT *, extract(epoch FROM found_at) AS at FROM books ORDER BY run, position")
    finally:
        await connection.close()
    assert [(row["id"], row["run"], row["position"], row["kind"]) for row in rows] == [
        (f"u-1-{n}", 1, n, "book") for n in (1, 2, 3)
    ]
    assert json.loads(rows[0]["fields"]) == {"title": "A", "tags": ["x"]}
    assert json.loads(rows[1]["fields"]) == {"title": "nul \ufffd, \\u0000"}
    assert rows[0]["at"] == 1_700_000_000


async def test_a_broken_connection_is_opened_again(postgres_url: str):
    sink = table(postgres_url, "public.books")
    connection = await asyncpg.connect(postgres_url)
    try:
        await sink.deliver([item(1)])
        await connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() "
            "AND pid <> pg_backend_pid()"
        )
        with suppress(SinkFailed):  # the end of the connection may be known already
            await sink.deliver([item(2)])
        await sink.deliver([item(2)])
        assert await connection.fetchval("SELECT count(*) FROM books") == 2
    finally:
        await sink.close()
        await connection.close()


async def test_a_row_that_the_database_refuses_is_found_and_the_rows_before_it_are_kept(postgres_url: str):
    connection = await asyncpg.connect(postgres_url)
    sink = table(postgres_url, "books")
    try:
        await sink.deliver([item(1)])
        await connection.execute("ALTER TABLE books ADD CHECK (position <> 6)")
        with pytest.raises(SinkFailed, match="violates check constraint") as failed:
            await sink.deliver([item(n) for n in range(2, 10)])
        assert (failed.value.delivered, failed.value.refused) == (4, True)
        rows = await connection.fetch("SELECT position FROM books ORDER BY position")
        assert [row["position"] for row in rows] == [1, 2, 3, 4, 5]
        await connection.execute("ALTER TABLE books RENAME TO former; CREATE TABLE books (id int)")
        with pytest.raises(SinkFailed) as failed:
            await sink.deliver([item(7), item(8)])
        assert not failed.value.refused, "a table of another form is no fault of an item"
    finally:
        await sink.close()
        await connection.close()


async def test_an_unreachable_database_is_a_failure():
    with pytest.raises(SinkFailed, match=r"."):
        await PostgresSink(SinkAddress.parse("postgresql://u@127.0.0.1:1/d/t")).deliver([item(1)])


def test_database_and_table_are_parsed_from_the_address():
    assert split_table("postgresql://u:p@h/d/shop.books?x=1") == ("postgresql://u:p@h/d?x=1", '"shop"."books"')
    for url in ("postgresql://h/d", "postgresql://h//t", "postgresql://h/d/a.b.c", 'postgresql://h/d/t";drop'):
        with pytest.raises(BadInput, match="needs database and table"):
            split_table(url)
