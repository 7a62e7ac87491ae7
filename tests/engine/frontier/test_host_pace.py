from typing import Any

from longline.engine.frontier.host_pace import Pace
from longline.model.frontier.host import HostPace
from tests.engine.fakes import lease


def engine_time(moment: float) -> int:
    return round(moment * 1000)


def pace(until: float = 0.0, **facts: Any) -> Pace:
    return Pace(lease(**facts), until)


def test_the_strictest_politeness_holds_until_no_plan_used_it_lately():
    mine = pace(delay_ms=1000, concurrency=1)
    for asked, now, goes in [
        ((2, 2), 0, (2, 2)),  # no plan applied lately: the politeness of the last owner is no bound
        ((5, 1), 1, (5, 1)),
        ((2, 2), 2, (5, 1)),
        ((5, 1), 20, (5, 1)),
        ((2, 2), 49, (5, 1)),
        ((2, 2), 50, (2, 2)),
    ]:
        mine.apply_politeness(*asked, now)
        assert (mine.delay, mine.concurrency) == goes, (asked, now)


def test_an_imposed_delay_lasts_under_other_leases_and_for_a_bounded_time():
    first = pace(delay_ms=1000)
    first.impose(2, 3610)
    first.apply_politeness(1, 1, 100)
    assert first.changed(engine_time) == HostPace(2000, 3_610_000, 1)
    again = pace(3610, delay_ms=2000)
    again.apply_politeness(1, 1, 3609)
    assert (again.delay, again.changed(engine_time)) == (2, None)
    again.apply_politeness(1, 1, 3611)
    assert again.changed(engine_time) == HostPace(1000, 3_641_000, 1)


def test_a_longer_delay_imposed_again_ends_later():
    mine = pace(100, delay_ms=60_000)
    mine.impose(60, 3700)
    assert mine.changed(engine_time) == HostPace(60_000, 3_700_000, 1)


def test_an_unchanged_pace_is_not_reported():
    mine = pace(delay_ms=1000, concurrency=2)
    mine.apply_politeness(1, 2, 5)
    assert mine.changed(engine_time) is None
    mine.apply_politeness(1, 1, 5)
    assert mine.changed(engine_time) == HostPace(1000, 35_000, 1)
