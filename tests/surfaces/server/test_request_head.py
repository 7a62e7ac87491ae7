import pytest

from longline.surfaces.server.request_head import BAD_HOST, BAD_VERSION, MANY_HOSTS, NO_HOST, TOO_LARGE, refusal_of

HOST = (b"host", b"example.com")


@pytest.mark.parametrize(
    ("version", "headers", "refusal"),
    [
        ("1.1", [HOST], None),
        ("1.1", [(b"host", b"")], None),
        ("1.1", [(b"host", b"[2001:db8::1]:8060")], None),
        ("1.1", [(b"host", b"xn--bcher-kva.example:80")], None),
        ("1.1", [(b"host", b"a.example:80 \t")], None),
        ("1.1", [(b"host", b"b%C3%BCcher.example")], None),
        ("1.0", [], None),
        ("1.1", [HOST, (b"content-length", b"10000000")], None),
        ("1.1", [], NO_HOST),
        ("1.1", [HOST, HOST], MANY_HOSTS),
        ("1.0", [HOST, HOST], MANY_HOSTS),
        ("1.1", [(b"host", b"a b")], BAD_HOST),
        ("1.1", [(b"host", b"a/b")], BAD_HOST),
        ("1.1", [(b"host", b"%zz")], BAD_HOST),
        ("1.1", [(b"host", b"a:b")], BAD_HOST),
        ("1.1", [(b"host", b"b\xc3\xbccher.example")], BAD_HOST),
        ("1.1", [HOST, (b"content-length", b"10000001")], TOO_LARGE),
        ("1.1", [HOST, (b"content-length", b"99999999999")], TOO_LARGE),
        ("1.1", [HOST, (b"content-length", b"9" * 5_000)], TOO_LARGE),
        ("1.1", [HOST, (b"content-length", b"0" * 5_000 + b"7")], None),
        ("1.1", [HOST, (b"content-length", b"0" * 5_000)], None),
        ("0.9", [HOST], BAD_VERSION),
        ("2.0", [HOST], BAD_VERSION),
    ],
)
def test_a_head_is_judged(version, headers, refusal):
    assert refusal_of(version, headers) == refusal
