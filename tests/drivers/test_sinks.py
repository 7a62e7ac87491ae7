"""The port of sinks: how much of a delivery was confirmed."""

from longline.ports.sinks import SinkFailed


def test_a_failure_has_confirmed_nothing_unless_it_says_so():
    assert (SinkFailed("away").delivered, SinkFailed("away").retry_after_seconds) == (0, None)
    assert str(SinkFailed("away", 3)) == "away"
