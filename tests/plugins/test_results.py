"""Items take any field; links are plain values."""

import pytest

from longline.plugins import Item, Link


def test_an_item_has_a_kind_and_any_fields():
    item = Item("article", title="A", kind="a field of its own")
    assert (item.kind, item.fields) == ("article", {"title": "A", "kind": "a field of its own"})
    assert item == Item("article", kind="a field of its own", title="A")
    assert item != Item("product", kind="a field of its own", title="A")
    assert "title" in repr(item)


def test_links_are_values():
    assert Link("https://example.com/") == Link("https://example.com/", priority=0)
    assert len({Link("https://example.com/"), Link("https://example.com/"), Link("https://example.com/", 1)}) == 2
    with pytest.raises(AttributeError):
        Link("https://example.com/").url = "https://other.example/"  # type: ignore[misc]  # that is what is tested
