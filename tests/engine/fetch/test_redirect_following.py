import pytest

from longline.engine.fetch.redirect_following import redirected
from longline.ports.http import Request

FORM = (("Content-Type", "application/x-www-form-urlencoded"),)


@pytest.mark.parametrize(
    ("status", "method", "body", "headers"),
    [
        (301, "GET", b"", (("Accept", "*/*"),)),
        (302, "GET", b"", (("Accept", "*/*"),)),
        (303, "GET", b"", (("Accept", "*/*"),)),
        (307, "POST", b"a=1", (("Accept", "*/*"), *FORM)),
        (308, "POST", b"a=1", (("Accept", "*/*"), *FORM)),
    ],
)
def test_a_redirect_keeps_or_drops_the_body(status: int, method: str, body: bytes, headers: tuple[object, ...]):
    request = Request("https://a.example/", (("Accept", "*/*"), *FORM), method="POST", body=b"a=1")
    after = redirected(request, status, "https://b.example/")
    assert (after.url, after.method, after.body, after.headers) == ("https://b.example/", method, body, headers)
