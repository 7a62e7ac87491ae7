from pathlib import Path

from bench.search import Language, fill, index_cost, times
from longline.drivers.clock import SystemClock
from longline.drivers.records import open_records
from longline.model.search.query import parse_query
from tests.servers import PostgresServer


def test_words_are_used_as_languages_use_them():
    language = Language(3)
    words = language.text(20_000).split()
    assert 0.06 < words.count(language.words[0]) / len(words) < 0.11
    assert 1.5 < words.count(language.words[0]) / words.count(language.words[1]) < 2.7
    assert language.text(5) != language.text(5)
    assert Language(3).text(5) == Language(3).text(5)


async def test_a_page_costs_something_to_put_and_to_index(tmp_path: Path):
    put, index = await index_cost(f"sqlite:///{tmp_path}/b.db", Language(3), 40)
    assert put > 0
    assert index > 0


async def test_texts_that_were_filled_in_are_found_like_others(postgres_server: PostgresServer):
    language = Language(3)
    with postgres_server.fresh_database() as url:
        records = await open_records(url, SystemClock())
        await records.schema.migrate()
        await fill(url, language, 300)
        await records.search.maintain()
        found = await records.search.query(parse_query(language.words[0]))
        took = {kind: await times(records.search, ask, 2) for kind, ask in language.questions().items()}
        await records.schema.close()
    assert found.total > 250
    assert all(len(each) == 2 for each in took.values())
