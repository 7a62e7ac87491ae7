"""Writes of texts into the index inside a transaction: alone, or together with their items.

SQLite's index holds no texts. The words of a text that changes are computed again from its item, and removed from the
index before the item changes. Therefore the index is made anew when the tokenizer has changed.
"""

from collections.abc import Sequence

from longline.drivers.records.database import Database, Transaction
from longline.drivers.records.row_structs import struct
from longline.drivers.records.search.tsvector import title_and_text
from longline.model.search.item import ItemRow, searched_words
from longline.model.search.tokenize import TOKENIZER

Text = tuple[int, int, str, str]
"""An item's id and version, and the words of its title and of its body."""

BATCH_SIZE = 50
"""Texts per statement: making the vectors of 50 texts blocks the event loop for some eight milliseconds."""


async def index(tx: Transaction, texts: Sequence[Text]) -> None:
    """Write texts into the index by their ids; an existing text is replaced."""
    if tx.engine == "lite":  # FTS5 counts words itself
        await tx.batch("index_texts", texts)
        return
    for start in range(0, len(texts), BATCH_SIZE):
        rows = [
            (item_id, *title_and_text(title, body)) for item_id, _, title, body in texts[start : start + BATCH_SIZE]
        ]
        await tx.batch("index_texts", rows)


async def forget(tx: Transaction, ids: Sequence[int]) -> None:
    """Remove the texts of items from SQLite's index, before the items change."""
    if tx.engine == "pg" or not ids:  # PostgreSQL replaces a text
        return
    selves = [struct(row, ItemRow) for row in await tx.batch("indexed_selves", [(item_id,) for item_id in ids])]
    await tx.batch("forget_texts", [(item.id, *searched_words(item)) for item in selves])


async def follow_tokenizer(database: Database) -> None:
    """Have SQLite's texts indexed anew if other rules made their words, such as those of another Unicode version."""
    if database.engine == "pg":
        return

    async def work(tx: Transaction) -> None:
        await tx.all("want_whole_index")
        await tx.all("forget_all_texts")
        await tx.all("say_tokenizer", tokenizer=TOKENIZER)

    known = await database.read(lambda tx: tx.one("tokenizer_of_texts"))
    if known is None or known["tokenizer"] != TOKENIZER:
        await database.transact(work)
