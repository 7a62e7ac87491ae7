from collections import Counter

from longline.cli.commands.diff import lines, summary
from longline.model.search.item import ItemRow
from longline.model.search.item_changes import FieldChange
from longline.services.search.item_changes import ItemDifference
from tests.cli.conftest import Command, assert_one_line

ITEM = ItemRow(
    "h",
    "book",
    1,
    1,
    "https://a.example/",
    title="Rod",
    columns='["title"]',
    id=7,
    source_id=0,
    created_at=0,
    updated_at=0,
)


def test_a_changed_item_has_a_line_for_each_field():
    changed = ItemDifference("changed", ITEM, (FieldChange("price", 5, 6), FieldChange("stock", None, True)))
    known = {"change": "changed", "kind": "book", "key": "https://a.example/", "url": "https://a.example/", "item": 7}
    assert list(lines(changed)) == [
        known | {"field": "price", "before": 5, "after": 6},
        known | {"field": "stock", "before": None, "after": True},
    ]


def test_an_item_of_one_run_has_a_line_with_all_fields():
    (added,) = lines(ItemDifference("added", ITEM))
    (gone,) = lines(ItemDifference("gone", ITEM))
    assert (added["after"], "before" in added) == ({"title": "Rod"}, False)
    assert (gone["before"], "after" in gone) == ({"title": "Rod"}, False)


def test_the_summary_counts_items():
    assert summary(Counter()) == "no item differs"
    assert summary(Counter(changed=1200, gone=1)) == "1,200 changed, 0 added, 1 gone"
    assert summary(Counter(unseen=2)).endswith("; 2 not seen: their pages were not read")
    assert summary(Counter(unseen=1)).endswith("; 1 not seen: its page was not read")


def test_trouble_has_another_exit_code_than_differences(longline: Command):
    assert_one_line(longline("diff", "1", "2"), 2, "there is no crawl in")
