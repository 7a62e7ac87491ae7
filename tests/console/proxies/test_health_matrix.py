"""Cells of the health matrix, and its key."""

from longline.console.proxies.health_matrix import FAIR_PERCENT, GOOD_PERCENT, MATRIX_KEY, matrix_cell, shade


def test_the_key_shows_the_shades():
    assert [shade(entry.example) for entry in MATRIX_KEY] == [entry.shade for entry in MATRIX_KEY]


def test_a_bound_belongs_to_the_better_shade():
    assert shade(GOOD_PERCENT) != shade(GOOD_PERCENT - 0.1)
    assert shade(FAIR_PERCENT) == shade(GOOD_PERCENT - 0.1)


def test_a_proxy_without_requests_has_no_share():
    assert matrix_cell(None) == ("", "–", "0 requests")
