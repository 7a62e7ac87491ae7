"""Time zones in which a person may read times."""

from longline.model.callers.time_zones import known_time_zones


def test_utc_comes_first_and_every_zone_is_a_place():
    first, *others = known_time_zones()
    assert first == "UTC"
    assert {"Europe/Stockholm", "Asia/Kolkata", "America/Argentina/Ushuaia"} <= set(others)
    assert others == sorted(others)
    assert not [name for name in others if "/" not in name or name.startswith("Etc/")]
