from typing import Any

import pytest

from longline.model.errors import BadInput
from longline.services.sources.css_selectors import check_selectors


@pytest.mark.parametrize(
    ("groups", "place"),
    [
        ({"article": {"title": "h1[["}}, "selectors.article.title: bad CSS selector 'h1[['"),
        ({"article": {"title": "h1", "body": "p::text"}}, "selectors.article.body: bad CSS selector 'p::text'"),
        ({"list": {"exclude_from_list": [".ad", "p >"]}}, "selectors.list.exclude_from_list: bad CSS selector 'p >'"),
        ({"page": {"title": "h1[[@title"}}, "selectors.page.title: bad CSS selector"),
    ],
)
def test_a_selector_that_cannot_be_parsed_is_refused_by_its_place(groups: dict[str, Any], place: str):
    with pytest.raises(BadInput, match="bad CSS selector") as refused:
        check_selectors(groups)
    assert str(refused.value).startswith(place)


def test_selectors_and_values_of_another_shape_pass():
    good = {"title": "h1, h2", "link": "a[href]@href", "time": "@datetime", "body": "", "exclude": [".ad", 5, None]}
    check_selectors({"article": good, "other": 1, "more": {"field": {"deep": "p["}}})
