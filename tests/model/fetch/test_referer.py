"""The Referer of requests for links."""

import pytest

from longline.model.fetch.referer import referer


@pytest.mark.parametrize(
    ("page", "url", "told"),
    [
        ("https://a.example/x?q=1", "https://a.example/y", "https://a.example/x?q=1"),
        ("https://me:hunter2@a.example/x", "https://a.example/y", "https://a.example/x"),
        ("http://a.example:8080/x", "http://a.example:8080/y", "http://a.example:8080/x"),
        ("https://a.example/x", "https://www.a.example/y", "https://a.example/"),
        ("http://a.example:8080/x", "http://a.example/y", "http://a.example:8080/"),
        ("http://[::1]:81/x", "https://b.example/y", "http://[::1]:81/"),
        ("https://a.example/x", "http://a.example/y", None),
        ("http://xn--a.com/dir/", "http://xn--a.com/dir/x", "http://xn--a.com/dir/"),
    ],
)
def test_the_referer_follows_the_default_policy_of_browsers(page: str, url: str, told: str | None):
    assert referer(page, url) == told
