"""Texts go into the index inside a transaction: by themselves, or with the items that they are of."""

from collections.abc import Sequence

from longline.drivers.records.database import Transaction

Text = tuple[int, str, str]
"""An item's id, and the words of its title and of its body."""

COUNTED_AT_ONCE = 50
"""To count the words of so many takes two milliseconds, for which the loop stands still."""


async def index(tx: Transaction, texts: Sequence[Text]) -> None:
    """Take in texts, by their ids; one that is there already is replaced."""
    if tx.engine == "lite":  # it counts words itself
        await tx.batch("index_texts", [(*text, None) for text in texts])
        return
    for start in range(0, len(texts), COUNTED_AT_ONCE):
        rows = [(*text, _length(text)) for text in texts[start : start + COUNTED_AT_ONCE]]
        await tx.batch("index_texts", rows, between="'.':1")


def _length(text: Text) -> int:
    _, title, body = text
    return len(title.split()) + len(body.split())
