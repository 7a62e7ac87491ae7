"""The times of a worker in the engine's time: late enough, with any error of its clock."""

import pytest

from longline.engine.engine_clock import engine_time, held_seconds, latest_monotonic
from longline.model.engine_clock import MAX_SLEW
from longline.testing.clock import START, FakeClock


class Rough(FakeClock):
    """A clock with an error of some milliseconds against the engine's."""

    def error(self) -> float:
        return 0.02


@pytest.mark.parametrize("seconds", [0.05, 1.0, 30.0, 3600.0])
def test_a_pause_ends_for_others_not_before_it_ends_for_its_writer(seconds: float):
    clock = Rough()
    written = engine_time(clock, clock.monotonic() + seconds)
    # One of two processes may read the engine's time too late by its error, and the engine's clock may run fast.
    engine_when_over = START + 1000 * (seconds * (1 + MAX_SLEW) + clock.error())
    assert engine_when_over <= written <= engine_when_over + 2


def test_a_time_in_the_past_is_converted_without_a_margin():
    clock = FakeClock()
    clock.advance(10)
    assert engine_time(clock, 4.0) - START in (4000, 4001)
    assert latest_monotonic(clock, 4.0) == 4.0


@pytest.mark.parametrize("lease", [1.0, 30.0, 300.0])
def test_an_owner_uses_no_more_time_than_its_lease(lease: float):
    assert held_seconds(lease) * (1 + MAX_SLEW) <= lease
