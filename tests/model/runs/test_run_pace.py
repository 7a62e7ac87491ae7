"""The pace of a run: its steps and the rate of each; the rates add up to all pages of the run."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longline.model.duration import DAY_MS, HOUR_MS, MINUTE_MS
from longline.model.runs.run_pace import MAX_STEPS, STEPS_MS, PaceCount, PacePoint, pace_points, step_of_life

BEGIN = 1_700_000_000_000


@pytest.mark.parametrize(
    ("life_ms", "step_ms"),
    [
        (5_000, 1000),
        (MINUTE_MS, 1000),
        (MINUTE_MS + 1, 2000),
        (HOUR_MS, MINUTE_MS),
        (DAY_MS, 30 * MINUTE_MS),
        (30 * DAY_MS, 12 * HOUR_MS),
        (90 * DAY_MS, 2 * DAY_MS),
    ],
)
def test_a_life_has_few_steps_of_a_round_length(life_ms: int, step_ms: int):
    assert step_of_life(life_ms) == step_ms
    assert step_ms in STEPS_MS or step_ms % DAY_MS == 0
    assert -(-life_ms // step_ms) <= MAX_STEPS


def test_paces_worked_out_by_hand():
    counts = [PaceCount(0, 10, 1), PaceCount(2, 5, 0)]
    assert pace_points(counts, BEGIN, BEGIN + 15_000, 5_000) == [
        PacePoint(BEGIN, 120.0, 12.0),
        PacePoint(BEGIN + 5_000, 0.0, 0.0),
        PacePoint(BEGIN + 10_000, 60.0, 0.0),
    ]


def test_a_step_that_is_not_over_borrows_from_the_one_before():
    found = pace_points([PaceCount(0, 10, 0), PaceCount(1, 2, 0)], BEGIN, BEGIN + 6_000, 5_000)
    assert [point.pages for point in found] == [pytest.approx(120), pytest.approx((2 + 10 * 0.8) * 12)]
    [only] = pace_points([PaceCount(0, 10, 0)], BEGIN, BEGIN + 2_500, 5_000)
    assert only.pages == pytest.approx(240)


def test_tasks_that_ended_outside_of_the_life_are_in_its_first_and_last_step():
    found = pace_points([PaceCount(-3, 1, 0), PaceCount(9, 2, 0)], BEGIN, BEGIN + 2_000, 1_000)
    assert [point.pages for point in found] == [60.0, 120.0]


@given(st.integers(5_000, 10**11), st.lists(st.tuples(st.integers(0, 70), st.integers(0, 10**6)), max_size=9))
def test_whole_steps_lose_no_page(life_ms: int, counted: list[tuple[int, int]]):
    step = step_of_life(life_ms)
    end = BEGIN + -(-life_ms // step) * step
    found = pace_points([PaceCount(at, pages, 0) for at, pages in counted], BEGIN, end, step)
    assert len(found) == (end - BEGIN) // step <= MAX_STEPS
    assert sum(point.pages for point in found) * step / MINUTE_MS == pytest.approx(sum(pages for _, pages in counted))
