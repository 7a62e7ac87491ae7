"""Update intervals that feeds declare."""

import pytest

from longline.model.duration import HOUR_MS, MINUTE_MS
from longline.parsers.feeds.update_interval import update_interval_ms


@pytest.mark.parametrize(
    ("ttl", "period", "frequency", "interval"),
    [
        ("60", "", "", 60 * MINUTE_MS),
        ("60", "daily", "2", 60 * MINUTE_MS),
        ("0", "daily", "2", 12 * HOUR_MS),
        ("soon", "Weekly", "", 168 * HOUR_MS),
        ("²", "hourly", "", HOUR_MS),
        ("", "monthly", "0", 730 * HOUR_MS),
        ("", "yearly", "often", 8760 * HOUR_MS),
        ("", "fortnightly", "1", None),
        ("", "", "", None),
    ],
)
def test_the_ttl_counts_before_the_period(ttl: str, period: str, frequency: str, interval: int | None):
    assert update_interval_ms(ttl, period, frequency) == interval


def test_a_number_of_any_length_costs_nothing():
    assert update_interval_ms("9" * 100_000, "", "") == 999_999_999 * MINUTE_MS
