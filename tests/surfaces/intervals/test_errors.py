"""Errors that name a thing."""

from longline.surfaces.intervals.errors import log_elsewhere


def test_a_log_that_is_elsewhere_is_named_by_its_execution():
    assert "execution 7 is" in log_elsewhere(7).body["error"]
