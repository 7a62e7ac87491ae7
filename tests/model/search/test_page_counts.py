from longline.model.search.item import NewItem
from longline.model.search.page_counts import page_counts


def item(fields: str, kind: str = "extraction") -> NewItem:
    return NewItem("h", kind, 1, 1, "https://a.example/", fields=fields, key=b"")


def test_each_class_of_a_page_is_counted_and_nothing_else():
    assert page_counts(
        [
            item('{"method": "selector", "words": "<200", "type": "article", "skipped": null}'),
            item('{"method": "selector", "words": "<50", "type": "stub", "skipped": "quality_gate"}'),
            item('{"of": "another parser"}'),
            item('{"type": "x"}', kind="article"),
        ]
    ) == {
        "pages.method.selector": 2,
        "pages.words.<200": 1,
        "pages.words.<50": 1,
        "pages.type.article": 1,
        "pages.type.stub": 1,
        "pages.skipped.quality_gate": 1,
    }
