import pytest

from longline.surfaces.server.cross_site import is_cross_site

HOST = (b"host", b"127.0.0.1:8060")


@pytest.mark.parametrize(
    ("headers", "is_foreign"),
    [
        ([HOST], False),
        ([], False),
        ([(b"host", b"localhost:8060")], False),
        ([(b"host", b"[::1]:8060")], False),
        ([HOST, (b"origin", b"http://localhost:3000")], False),
        ([HOST, (b"origin", b"http://app.localhost")], False),
        ([HOST, (b"origin", b"https://evil.example")], True),
        ([HOST, (b"origin", b"https://localhost.evil.example")], True),
        ([HOST, (b"origin", b"http://[")], True),
        ([HOST, (b"origin", b"null")], True),
        ([(b"host", b"evil.example:8060")], True),
        ([(b"host", b"10.0.0.1:8060")], True),
        ([HOST, (b"origin", b"https://evil.example"), (b"authorization", b"Bearer x")], False),
        ([HOST, (b"origin", b"https://evil.example"), (b"x-api-key", b"x")], False),
    ],
)
def test_pages_of_other_sites_and_names_that_lead_to_loopback_are_cross_site(
    headers: list[tuple[bytes, bytes]], is_foreign: bool
):
    assert is_cross_site(headers) is is_foreign
