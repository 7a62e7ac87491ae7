"""Priorities of the contract: the higher, the sooner, and never outside of 1 to 10."""

import pytest

from longline.surfaces.intervals.priorities import to_contract_priority, to_internal_priority


@pytest.mark.parametrize("priority", range(1, 11))
def test_a_priority_comes_back(priority: int):
    assert to_contract_priority(to_internal_priority(priority)) == priority


def test_priorities_are_kept_within_bounds():
    assert [to_contract_priority(to_internal_priority(priority)) for priority in (-1, 0, 11)] == [5, 5, 10]
    assert [to_contract_priority(priority) for priority in (0, 10_000)] == [10, 1]
