from typing import Any

import pytest
from litestar.testing import RequestFactory

from longline.surfaces.intervals.paging import asked, page


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({}, (50, 0)),
        ({"limit": "7", "offset": "3"}, (7, 3)),
        ({"limit": "0", "offset": "-1"}, (50, 0)),
        ({"limit": "x", "offset": "y"}, (50, 0)),
        ({"limit": "-5"}, (50, 0)),
        ({"limit": "+5"}, (5, 0)),
        ({"limit": "1_0", "offset": "1_0"}, (50, 0)),
        ({"limit": "\u0663", "offset": "\u0663"}, (50, 0)),
        ({"limit": "1e2", "offset": "1.0"}, (50, 0)),
        ({"limit": " 7", "offset": "0x10"}, (50, 0)),
        ({"limit": "9" * 5000}, (50, 0)),
        ({"limit": "251"}, (250, 0)),
        ({"limit": "9" * 40, "offset": "9" * 40}, (250, 2**53)),
    ],
)
def test_odd_figures_mean_the_default(query: dict[str, Any], found: tuple[int, int]):
    assert page(RequestFactory().get(query_params=query)) == found


def test_an_empty_parameter_is_none():
    request = RequestFactory().get(query_params={"a": "", "b": "x"})
    assert [asked(request, name) for name in "abc"] == [None, "x", None]
