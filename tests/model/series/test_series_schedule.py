"""Intervals of a source's config."""

import msgspec
import pytest

from longline.model.series.series_schedule import SeriesSchedule

HOUR, DAY = 3_600_000, 86_400_000


@pytest.mark.parametrize(
    ("schedule", "targeted", "discovery"),
    [
        ({}, HOUR, DAY),
        ({"targetedminutes": 5}, 300_000, DAY),
        ({"targetedminutes": 0, "discoveryminutes": 0.5}, None, 30_000),
        ({"targetedminutes": None, "discoveryminutes": False}, None, None),
        ({"targetedminutes": "often", "discoveryminutes": -3}, HOUR, DAY),
        ({"targetedminutes": True, "discoveryminutes": 1e30}, HOUR, DAY),
        (None, None, None),
        (False, None, None),
        ([1], HOUR, DAY),
    ],
)
def test_intervals_are_read_from_a_config(schedule: object, targeted: int | None, discovery: int | None):
    config = msgspec.json.encode({"schedule": schedule}).decode()
    assert SeriesSchedule.read(config) == SeriesSchedule(targeted, discovery)


def test_a_config_without_intervals_has_the_defaults():
    assert SeriesSchedule.read("{}") == SeriesSchedule(HOUR, DAY)
