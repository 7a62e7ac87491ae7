"""Slow tests run first in each process."""

import pytest

from tests.order import piece_sizes, slow_first


def pieces(ordered: str, processes: int) -> list[str]:
    """Cut an order as xdist does."""
    found, at = [], 0
    for size in piece_sizes(len(ordered), processes):
        found.append(ordered[at : at + size])
        at += size
    return found


def slowness(test: str) -> int:
    return int(test) if test.isdigit() else 0


@pytest.mark.parametrize(
    ("tests", "processes", "ordered"),
    [
        ("ab1c2de3f", 1, ["321abcdef"]),
        ("ab1c2de3f", 3, ["3ab", "2cd", "1ef"]),
        ("ab1c2de3", 3, ["3a", "2bc", "1de"]),
        ("1112223", 2, ["321", "1221"]),
        ("abc", 5, ["", "", "a", "b", "c"]),
        ("", 2, ["", ""]),
    ],
)
def test_each_process_begins_with_its_share_of_the_slow_ones(tests: str, processes: int, ordered: list[str]):
    found = "".join(slow_first(tests, slowness, processes))
    assert sorted(found) == sorted(tests)
    assert pieces(found, processes) == ordered


def test_quick_ones_stay_in_their_order():
    assert "".join(slow_first("a9b8c7d", slowness, 2)).translate({ord(n): None for n in "987"}) == "abcd"
