from longline.services.pace import MOST, Pace
from longline.testing.clock import FakeClock


def test_so_many_times_a_minute_and_then_one_by_one():
    clock = FakeClock()
    pace = Pace(clock.monotonic)
    assert [pace.wait("a", 3) for _ in range(4)] == [0, 0, 0, 20]
    assert pace.wait("b", 3) == 0, "each for itself"
    clock.advance(19)
    assert round(pace.wait("a", 3), 6) == 1
    clock.advance(1)
    assert [pace.wait("a", 3) for _ in range(2)] == [0, 20]


def test_what_is_saved_up_is_one_minutes_worth():
    clock = FakeClock()
    pace = Pace(clock.monotonic)
    pace.wait("a", 2)
    clock.advance(3600)
    assert [pace.wait("a", 2) for _ in range(3)] == [0, 0, 30]


def test_names_do_not_pile_up():
    clock = FakeClock()
    pace = Pace(clock.monotonic)
    for n in range(MOST):
        pace.wait(str(n), 1)
    clock.advance(61)
    pace.wait("late", 1)
    assert len(pace._left) == 1
