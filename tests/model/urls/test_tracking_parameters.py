"""Parameters that count clicks; the forms of URLs without them are proved in `test_normalization.py`."""

from longline.model.urls.tracking_parameters import TRACKING_PARAMETERS


def test_names_are_written_as_links_have_them():
    assert all(name == name.lower().strip() for name in TRACKING_PARAMETERS)
    assert {"utm_source", "gclid", "fbclid"} <= TRACKING_PARAMETERS
