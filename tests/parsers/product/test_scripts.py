"""Data in scripts is read and not run."""

import pytest

from longline.parsers.product.scripts import objects, script_data
from longline.plugins import Page


def data(markup: str) -> list[object]:
    return [found for found in script_data(Page("https://shop.example/", markup.encode()).tree) if found is not None]


@pytest.mark.parametrize(
    ("markup", "found"),
    [
        ('<script id="__NEXT_DATA__" type="application/json">{"props": {"a": 1}}</script>', [{"props": {"a": 1}}]),
        ('<script type="application/json">[1, 2]</script>', [[1, 2]]),
        ('<script>window.__INITIAL_STATE__ = {"a": "}"};go();</script>', [{"a": "}"}]),
        (
            "<script>dataLayer.push({'event': 'view', ecommerce: {items: [{price: 1.5,}]}, u: undefined});</script>",
            [{"event": "view", "ecommerce": {"items": [{"price": 1.5}]}, "u": None}],
        ),
        ("<script>dataLayer = [{a: 'it\\'s'}]</script>", [[{"a": "it's"}]]),
        ('<script>var product = {// why\nid: 5, /* so */ name: "x"};</script>', [{"id": 5, "name": "x"}]),
        ("<script>dataLayer.push({price: compute()});</script>", []),
        ("<script>dataLayer.push({a: 1</script>", []),
        ("<script>var other = {a: 1};</script>", []),
        ('<script src="x.js">dataLayer = [1]</script>', []),
        ('<script type="application/ld+json">{"a": 1}</script>', []),
        ('<script type="application/json">{broken</script>', []),
    ],
)
def test_script_data(markup, found):
    assert data(markup) == found


def test_nested_objects_are_found_after_the_objects_around_them():
    inside = {"currency": "EUR", "items": [{"price": 1}, {"deep": {"price": 2}}]}
    assert [(thing.get("price"), outer.get("currency")) for thing, outer in objects(inside)] == [
        (None, None),
        (1, "EUR"),
        (None, "EUR"),
        (2, None),
    ]


def test_deep_nesting_raises_nothing():
    assert data("<script>dataLayer = " + "[" * 100_000 + "</script>") == []
