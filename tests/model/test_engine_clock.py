"""The engine's time follows its reference clock, and a correction changes its speed and never makes it step."""

from itertools import pairwise

import pytest

from longline.model.engine_clock import MAX_SLEW, Anchor

HOUR_MS = 3_600_000


@pytest.mark.parametrize("by", [-HOUR_MS, -5000, 5000, HOUR_MS])
def test_a_correction_is_absorbed_slowly_and_completely(by: int):
    before = Anchor(3, "boot", offset_ms=1_000_000)
    after = before.slewed(50_000, 1_000_000 + by, begin_ms=60_000)
    assert (after.version, after.basis, after.final_offset_ms) == (4, "boot", 1_000_000 + by)
    assert after.engine_ms(60_000) == before.engine_ms(60_000), "the correction begins after every process has read it"
    moments = [after.engine_ms(reference) for reference in range(60_000, 2 * abs(by), 1000)]
    speeds = {round((later - earlier) / 1000, 6) for earlier, later in pairwise(moments)}
    assert all(1 - MAX_SLEW <= speed <= 1 + MAX_SLEW for speed in speeds)
    end = 60_000 + abs(by) / MAX_SLEW
    assert after.engine_ms(end) == before.engine_ms(end) + by
    assert after.engine_ms(2 * end) == before.engine_ms(2 * end) + by


def test_a_second_correction_begins_at_the_time_that_the_first_has_reached():
    first = Anchor(offset_ms=0).slewed(0, HOUR_MS, begin_ms=0)
    second = first.slewed(100_000, 0, begin_ms=100_000)
    assert second.engine_ms(100_000) == first.engine_ms(100_000) == 100_500
    assert second.engine_ms(200_000) == 200_000


def test_a_step_sets_the_clock_at_once():
    assert Anchor(7, "old", 5, 6, 7).stepped("new", 1234.4) == Anchor(8, "new", 1234)
