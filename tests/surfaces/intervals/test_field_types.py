"""Fields that several requests share."""

import pytest

from longline.model.urls.url import BadUrl
from longline.surfaces.intervals.field_types import PageQuery, absolute_url, optional_rfc3339, rfc3339
from longline.surfaces.request_reader import RequestReader


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
def test_odd_figures_mean_the_default(query: dict[str, str], found: tuple[int, int]):
    page = RequestReader(PageQuery).lenient_text(query)
    assert (page.limit, page.offset) == found


def test_a_url_names_its_scheme_and_host():
    assert absolute_url(" https://a.example/ ") == "https://a.example/"
    for odd in ("a.example", "http:a.example", "https:///a.example", "https:\\\\a.example", "ftp://a.example/", ""):
        with pytest.raises(BadUrl):
            absolute_url(odd)


def test_times_are_written_as_the_contract_does():
    assert rfc3339(1_700_000_000_123) == "2023-11-14T22:13:20.123Z"
    assert [optional_rfc3339(0), optional_rfc3339(None)] == ["1970-01-01T00:00:00.000Z", None]
