"""Uses and slugs of sources."""

import pytest

from longline.model.sources.use import SourceUse, decode_uses, encode_uses, free_slug, slug_of, with_use, without_use


def test_uses_are_stored_in_order_and_once():
    both = encode_uses([SourceUse.PRODUCTS, SourceUse.INTERVAL, SourceUse.PRODUCTS])
    assert both == '["interval","products"]'
    assert decode_uses(both) == {SourceUse.PRODUCTS, SourceUse.INTERVAL}
    assert with_use(without_use(both, SourceUse.INTERVAL), SourceUse.CATALOGUE) == '["catalogue","products"]'
    assert without_use('["interval"]', SourceUse.INTERVAL) == "[]"


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        *(("News", "news"), ("shop.example", "shop-example"), ("Café  Zürich!", "cafe-zurich"), ("日本", "source")),
        *(("-a-", "a"), ("a" * 119 + ".b", "a" * 119), ("x" * 200, "x" * 120)),
    ],
)
def test_a_slug_is_made_of_a_name(name: str, slug: str):
    assert slug_of(name) == slug


def test_a_taken_slug_gets_the_first_free_number():
    assert free_slug("a", []) == "a"
    assert free_slug("a", ["b"]) == "a"
    assert free_slug("a", ["a", "a-2", "a-4"]) == "a-3"
    assert free_slug("x" * 120, ["x" * 120]) == "x" * 118 + "-2"
