"""Daily windows of holds."""

import pytest

from longline.model.duration import DAY_MS
from longline.model.recrawls.hold import HoldWindow

HOUR_MS = 3_600_000


@pytest.mark.parametrize(
    ("at_ms", "held"),
    [
        (22 * HOUR_MS + 3_599_999, False),
        (23 * HOUR_MS, True),
        (23 * HOUR_MS + HOUR_MS // 2, True),
        (DAY_MS + HOUR_MS // 2, True),
        (DAY_MS + HOUR_MS - 1, True),
        (DAY_MS + HOUR_MS, False),
    ],
)
def test_a_window_over_midnight_begins_and_ends_on_time(at_ms: int, *, held: bool):
    now = 1000 * DAY_MS + at_ms
    since, until = HoldWindow(1, 23 * 3600, 3600).occurrence(now)
    assert (since <= now < until) == held
    assert until > now
    assert until - since == 2 * HOUR_MS


def test_a_window_within_a_day_comes_again_tomorrow():
    window, today = HoldWindow(1, 3600, 7200), 1000 * DAY_MS
    assert window.occurrence(today) == (today + HOUR_MS, today + 2 * HOUR_MS)
    assert window.occurrence(today + 2 * HOUR_MS) == (today + DAY_MS + HOUR_MS, today + DAY_MS + 2 * HOUR_MS)
