from typing import Any

import pytest

from longline.html.css_selectors import MAX_SELECTOR_CHARACTERS, MAX_SELECTORS, check_selectors
from longline.model.errors import BadInput


@pytest.mark.parametrize(
    ("groups", "place"),
    [
        ({"article": {"title": "h1[["}}, "selectors.article.title: bad CSS selector 'h1[['"),
        ({"article": {"title": "h1", "body": "p::text"}}, "selectors.article.body: bad CSS selector 'p::text'"),
        ({"list": {"exclude_from_list": [".ad", "p >"]}}, "selectors.list.exclude_from_list: bad CSS selector 'p >'"),
        ({"page": {"title": "h1[[@title"}}, "selectors.page.title: bad CSS selector"),
    ],
)
def test_a_selector_that_cannot_be_parsed_is_refused_with_its_key(groups: dict[str, Any], place: str):
    with pytest.raises(BadInput, match="bad CSS selector") as refused:
        check_selectors(groups)
    assert str(refused.value).startswith(place)


def test_selectors_and_values_of_another_shape_pass():
    good = {"title": "h1, h2", "link": "a[href]@href", "time": "@datetime", "body": "", "exclude": [".ad", 5, None]}
    check_selectors({"article": good, "other": 1, "more": {"field": {"deep": "p["}}})


def test_long_selectors_and_many_of_them_are_refused_before_they_are_parsed():
    nested = ":not(" * 1_000_000
    with pytest.raises(
        BadInput, match=f"selectors.article.title: the CSS selector is longer than {MAX_SELECTOR_CHARACTERS}"
    ):
        check_selectors({"article": {"title": nested}})
    check_selectors({"article": {"title": "a" * MAX_SELECTOR_CHARACTERS, "exclude": ["a"] * (MAX_SELECTORS - 1)}})
    with pytest.raises(BadInput, match=f"more than {MAX_SELECTORS} CSS selectors"):
        check_selectors({"article": {"exclude": ["a"] * MAX_SELECTORS}, "list": {"container": "a"}})
