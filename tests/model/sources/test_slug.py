"""Slugs of sources."""

import pytest

from longline.model.sources.slug import free_slug, slug_of


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
