from longline.surfaces.intervals.times import rfc3339


def test_times_are_utc_to_the_millisecond():
    assert rfc3339(1_700_000_000_123) == "2023-11-14T22:13:20.123Z"
    assert rfc3339(None) is None
