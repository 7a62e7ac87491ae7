"""The fields in which two versions of an item differ."""

from longline.model.search.item import ItemRow
from longline.model.search.item_changes import field_changes


def self(url: str = "https://a.example/", columns: str = '["title","price"]', **facts: str) -> ItemRow:
    given = {"title": "Rod", "fields": '{"price":5}'} | facts
    return ItemRow("h", "book", 1, 1, url, columns=columns, id=1, source_id=0, created_at=0, updated_at=0, **given)  # type: ignore[arg-type]


def test_changed_fields_have_both_values():
    changes = field_changes(self(), self(title="Net", fields='{"price":6}'))
    assert [(c.field, c.before, c.after) for c in changes] == [("title", "Rod", "Net"), ("price", 5, 6)]


def test_an_added_or_removed_field_is_a_change():
    other = self(columns='["title","stock"]', fields='{"stock":null}')
    assert [(c.field, c.before, c.after) for c in field_changes(self(), other)] == [
        ("stock", None, None),
        ("price", 5, None),
    ]
    assert [c.field for c in field_changes(self(), self("https://a.example/2"))] == ["url"]
