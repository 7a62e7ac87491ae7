"""Texts to be searched, the same on every engine, and the queries."""

import itertools
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from longline.drivers.records import open_records
from longline.model.search.item import NewItem, Origin, SearchDocument, new_items
from longline.model.search.query import parse_query
from longline.ports.records import Records
from longline.testing.clock import FakeClock
from tests.drivers.records.world import queued_run

SIZE = 500
WORDS = [
    f"{a}{b}{c}" for a, b, c in itertools.product(("Ka", "lé", "mo", "ñu", "ri"), ("ba", "dö", "fi", "gu"), "stxyz")
]
"""A hundred words, the first the most frequent; some with accents, which both engines must treat alike."""

WORD_QUESTIONS = (
    *(WORDS[n] for n in (0, 3, 10, 40, 99)),
    f"{WORDS[2]} {WORDS[7]}",
    f"{WORDS[1]} {WORDS[30]}",
    f"{WORDS[5]} {WORDS[12]} {WORDS[20]}",
    f"{WORDS[4]} -{WORDS[6]}",
    f"{WORDS[9]} {WORDS[11]} -{WORDS[60]}",
    "nowhere",
)
OTHER_QUESTIONS = (f'"{WORDS[0]} {WORDS[1]}"', f'{WORDS[20]} -"{WORDS[0]} {WORDS[1]}"', "kaba*", f'"{WORDS[0]} kab"*')
"""Phrases and prefixes: found alike, but ranked by each engine in its own way (decision 0013)."""


class Answer(NamedTuple):
    """The matches of an engine: their number, their ids and their scores."""

    total: int
    urls: list[str]
    scores: list[float]


async def stored(records: Records, texts: Sequence[Mapping[str, Any]], kind: str = "article") -> list[SearchDocument]:
    """Store and index texts; return the documents in the order of the texts. The same place is the same item."""
    run = await queued_run(records)
    for number, fields in enumerate(texts):
        await records.items.put(_items(fields, kind, run.id, number))
    return await _indexed(records)


async def _indexed(records: Records) -> list[SearchDocument]:
    waiting = await records.items.unindexed(SIZE + 1)
    await records.search.index(waiting)
    await records.items.indexed(waiting)
    return waiting


async def answers(url: str, questions: Sequence[str], clock: FakeClock) -> list[Answer]:
    """Return the engine's answer to each question about the whole corpus."""
    records = await open_records(url, clock)
    await records.schema.migrate()
    run = await queued_run(records)
    texts = [_items(fields, "article", run.id, number) for number, fields in enumerate(_corpus())]
    await records.items.put(list(itertools.chain(*texts)))
    await _indexed(records)
    await records.search.maintain()
    found = [await _answer(records, question) for question in questions]
    await records.schema.close()
    return found


def sqlite(folder: Path) -> str:
    """Return the URL of a new database."""
    return f"sqlite:///{folder}/longline.db"


async def _answer(records: Records, question: str) -> Answer:
    matches = await records.search.query(parse_query(question, limit=SIZE))
    items = await records.items.get([match.id for match in matches.matches])
    return Answer(matches.total, [item.url for item in items], [match.score for match in matches.matches])


def _items(fields: Mapping[str, Any], kind: str, run_id: int, number: int) -> list[NewItem]:
    return new_items([(kind, fields)], Origin(run_id, number, f"https://a.example/{kind}/{number}"))


def _corpus() -> list[dict[str, str]]:
    rng = random.Random(4)
    weights = list(itertools.accumulate(1 / (rank + 1) for rank in range(len(WORDS))))

    def text(length: int) -> str:
        return " ".join(rng.choices(WORDS, cum_weights=weights, k=length))

    return [{"title": text(rng.randint(0, 6)), "body": text(rng.randint(5, 120))} for _ in range(SIZE)]
