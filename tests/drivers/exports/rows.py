"""Items as rows of the database."""

from typing import Any

from msgspec.structs import asdict

from longline.model.search.item import ItemFacts, ItemRow, Origin, new_items


def item(kind: str = "book", **fields: Any) -> ItemRow:
    """Return an item with the fields of its parser."""
    (made,) = new_items([(kind, fields)], Origin(1, 2, "https://a.example/"))
    facts = {name: value for name, value in asdict(made).items() if name in ItemFacts.__struct_fields__}
    return ItemRow(**facts, id=1, source_id=0, created_at=0, updated_at=0)
