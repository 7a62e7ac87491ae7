"""Vectors that are made here have the words and positions that PostgreSQL gives for words between spaces."""

import random
from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import pytest

from longline.drivers.records.postgres import connect
from longline.drivers.records.search.tsvector import title_and_text
from longline.testing.clock import FakeClock
from tests.servers import PostgresServer

pytestmark = pytest.mark.servers

SAME = """
SELECT $1::tsvector = to_tsvector('simple', $3),
       $2::tsvector = ts_delete(to_tsvector('simple', $3) || '''.'':1'::tsvector || to_tsvector('simple', $4), '.'),
       length($2::tsvector)
"""

SEED = random.Random(7)
VOCABULARY = ["line", "hook", "haken", "größe", "рыба", "鱼", "ab"] + [f"word{chr(97 + n)}" for n in range(26)]


def _text(count: int) -> str:
    return " ".join(SEED.choices(VOCABULARY, k=count))


TEXTS = {
    "both": ("long line", "one line of many hooks of one line"),
    "no title": ("", "a line"),
    "no body": ("a line", ""),
    "nothing": ("", ""),
    "some hundred words": (_text(12), _text(900)),
    "a word more often than its places are kept": ("line " * 400, ""),
    "more words than places": (_text(17_000), ""),
    "a word that first stands beyond the last place": ("ab " * 16_500 + "late late", ""),
    "a word that is too long": ("short", f"end {'y' * 2046} {'x' * 2047}"),
    "several bytes a letter": ("größe", "рыба 鱼 größe рыба"),
}


@pytest.fixture
async def connection(postgres_server: PostgresServer) -> AsyncIterator[Any]:
    """A connection of our own pool, which takes vectors in binary form."""
    url = await postgres_server.create_database()
    database = await connect(url, FakeClock())
    async with database._connection() as open_connection:
        yield open_connection
    await database.close()
    await postgres_server.drop_database(url)


@pytest.mark.parametrize("case", TEXTS)
async def test_a_vector_is_that_of_postgresql(connection: Any, case: str):
    title, body = TEXTS[case]
    of_title, of_text, count = title_and_text(title, body)
    same_title, same_text, words = await connection.fetchrow(SAME, of_title, of_text, title, body)
    assert (same_title, same_text) == (True, True)
    assert count == len(title.split()) + len(body.split())
    assert words == len({word for word in f"{title} {body}".split() if len(word.encode()) <= 2046})


async def test_no_phrase_spans_the_title_and_the_body(connection: Any):
    _, text, _ = title_and_text("long line", "hook bait")
    asked = "SELECT $1::tsvector @@ 'long <-> line', $1::tsvector @@ 'hook <-> bait', $1::tsvector @@ 'line <-> hook'"
    assert tuple(await connection.fetchrow(asked, text)) == (True, True, False)


async def test_an_invalid_vector_is_refused(connection: Any):
    with pytest.raises(asyncpg.PostgresError):
        await connection.fetchval("SELECT $1::tsvector", b"\x00\x00\x00\x02none")
