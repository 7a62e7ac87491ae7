"""Writes of texts into the index inside a transaction: alone, or together with their items."""

from collections.abc import Sequence

from longline.drivers.records.database import Transaction

Text = tuple[int, str, str]
"""An item's id, and the words of its title and of its body."""

BATCH_SIZE = 50
"""Texts per statement: counting the words of 50 texts blocks the event loop for two milliseconds."""


async def index(tx: Transaction, texts: Sequence[Text]) -> None:
    """Write texts into the index by their ids; an existing text is replaced."""
    if tx.engine == "lite":  # FTS5 counts words itself
        await tx.batch("index_texts", [(*text, None) for text in texts])
        return
    for start in range(0, len(texts), BATCH_SIZE):
        rows = [(*text, _length(text)) for text in texts[start : start + BATCH_SIZE]]
        await tx.batch("index_texts", rows, between="'.':1")


def _length(text: Text) -> int:
    _, title, body = text
    return len(title.split()) + len(body.split())
