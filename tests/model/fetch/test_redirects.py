"""The target URL of a Location header, and the method of the request that follows."""

import pytest

from longline.model.fetch.redirects import RefusedLocation, redirect_target, redirected_method


@pytest.mark.parametrize(
    ("location", "target"),
    [
        ("/c", "http://anna:secret@site.test/c"),
        ("c?d#e", "http://anna:secret@site.test/a/c?d"),
        ("//other.test", "http://other.test/"),
        ("https://other.test:443/", "https://other.test/"),
        ("", "http://anna:secret@site.test/a/b"),
        (" /c\t", "http://anna:secret@site.test/c"),
        ("/caf\xc3\xa9", "http://anna:secret@site.test/caf%C3%A9"),  # UTF-8 bytes as they are received
        ("/caf\xe9", "http://anna:secret@site.test/caf%E9"),  # bytes that are no UTF-8
        ("/s?q=\xd6\xd0", "http://anna:secret@site.test/s?q=%D6%D0"),
        ("/s?q=\xd6\xd0&r=%d6%20\xc3\xa9", "http://anna:secret@site.test/s?q=%D6%D0&r=%d6%20%C3%A9"),
        ("http://b\xc3\xbccher.test/\xe9", "http://xn--bcher-kva.test/%E9"),
        ("/\u4e2d?\u4e2d", "http://anna:secret@site.test/%E4%B8%AD?%E4%B8%AD"),  # text of a fixture
        ("/x" * 4000, "http://anna:secret@site.test" + "/x" * 4000),
    ],
)
def test_a_location_is_resolved_to_its_target(location: str, target: str):
    assert redirect_target(location, "http://anna:secret@site.test/a/b") == target


@pytest.mark.parametrize(
    "location",
    [
        "http://",
        "http://anna:secret@site.test:99999/",
        "http://[::1/secret",
        "mailto:secret@site.test",
        "javascript:alert('secret')",
        "file:///etc/secret",
        "/secret" * 2000,
        "http://b\xfccher.test/secret",  # no UTF-8, so no host name
        "http://" + "secret" * 2000 + ".test/",
        "/\xe4secret" * 1100,  # short enough until it is percent-encoded
    ],
)
def test_a_location_without_a_valid_target_is_refused(location: str):
    with pytest.raises(RefusedLocation) as caught:
        redirect_target(location, "http://site.test/")
    assert "secret" not in str(caught.value)
    assert len(str(caught.value)) < 100


@pytest.mark.parametrize(
    ("status", "method", "expected"),
    [
        (301, "POST", "GET"),
        (302, "POST", "GET"),
        (303, "POST", "GET"),
        (303, "PUT", "GET"),
        (301, "PUT", "PUT"),
        (303, "HEAD", "HEAD"),
        (302, "HEAD", "HEAD"),
        (307, "POST", "POST"),
        (308, "POST", "POST"),
        (300, "GET", "GET"),
    ],
)
def test_the_method_after_a_redirect_follows_the_fetch_standard(status: int, method: str, expected: str):
    assert redirected_method(status, method) == expected
