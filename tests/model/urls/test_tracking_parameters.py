"""Parameters that count clicks; `test_normalization.py` tests the forms of URLs without them."""

from longline.model.urls.tracking_parameters import TRACKING_PARAMETERS


def test_names_are_written_as_in_links():
    assert all(name == name.lower().strip() for name in TRACKING_PARAMETERS)
    assert {"utm_source", "gclid", "fbclid"} <= TRACKING_PARAMETERS
