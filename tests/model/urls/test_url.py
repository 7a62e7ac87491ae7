"""URLs: parsing, refusals in one line, and stable forms."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longline.model.errors import BadInput
from longline.model.frontier import reasons
from longline.model.urls.link_resolution import join
from longline.model.urls.normalization import dedupe_key
from longline.model.urls.url import MAX_LENGTH, BadUrl, parse, target


@pytest.mark.parametrize(
    ("text", "href", "host", "hostname"),
    [
        ("http://example.com", "http://example.com/", "example.com", "example.com"),
        ("HTTP://Example.COM:80/A/../b?Q=1#part", "http://example.com/b?Q=1", "example.com", "example.com"),
        ("https://example.com:443/", "https://example.com/", "example.com", "example.com"),
        ("https://example.com:80/", "https://example.com:80/", "example.com:80", "example.com"),
        ("http://example.com:8080/x", "http://example.com:8080/x", "example.com:8080", "example.com"),
        ("  http://example.com/x \n", "http://example.com/x", "example.com", "example.com"),
        ("http://müller.de/ü?ü", "http://xn--mller-kva.de/%C3%BC?%C3%BC", "xn--mller-kva.de", "xn--mller-kva.de"),
        ("http://[::1]:8000/x", "http://[::1]:8000/x", "[::1]:8000", "[::1]"),
        ("http://0x7f.1/", "http://127.0.0.1/", "127.0.0.1", "127.0.0.1"),
        ("http://example.com\\a b", "http://example.com/a%20b", "example.com", "example.com"),
        ("http://example.com/?", "http://example.com/?", "example.com", "example.com"),
        ("http://example.com/a#b?c#d", "http://example.com/a", "example.com", "example.com"),
    ],
)
def test_parse_normalises(text, href, host, hostname):
    url = parse(text)
    assert (url.href, url.host, url.hostname) == (href, host, hostname)
    assert url.scheme == href.partition(":")[0]
    assert parse(url.href) == url


IDNA = [
    # sharp s is a letter of its own since UTS 46 of 2023; it was "ss" before
    ("http://faẞ.de/", "xn--fa-hia.de"),
    ("http://faß.de/", "xn--fa-hia.de"),
    ("http://FASS.de/", "fass.de"),
    # ASCII labels with an invalid Punycode form are kept
    ("http://xn--a.com/", "xn--a.com"),
    ("http://a.b.c.XN--pokxncvks/", "a.b.c.xn--pokxncvks"),
    ("http://%78n--a.com/", "xn--a.com"),
    ("http:xn--a.com", "xn--a.com"),
    ("http:\\\\xn--a.com\\x", "xn--a.com"),
    ("http://xn--a.com:8080/", "xn--a.com"),
    ("http://xn--1ug.example/", "xn--1ug.example"),
    ("http://xn--mller-kva.de/", "xn--mller-kva.de"),
    ("http://MÜLLER.de/", "xn--mller-kva.de"),
    ("http://m%C3%BCller.de/", "xn--mller-kva.de"),
    ("http://例え。テスト/", "xn--r8jz45g.xn--zckzah"),
    ("http://ＧＯ.com/", "go.com"),
    ("http://１２７．０．０．１/", "127.0.0.1"),
    ("http://a\u200cb.example/", None),
    ("http://\u00ad/", None),
    ("http://xn--/", "xn--"),
    ("http://x..xn--zca/", "x..xn--zca"),
    ("http://a％b/", None),
]


@pytest.mark.parametrize(("text", "hostname"), IDNA)
def test_hosts_are_read_by_the_current_standard(text, hostname):
    if hostname is None:
        with pytest.raises(BadUrl):
            parse(text)
        assert join("https://example.com/", text) is None
    else:
        url = parse(text)
        assert url.hostname == hostname
        assert join("https://example.com/", text) == parse(url.href).href == url.href


@pytest.mark.parametrize(
    ("text", "reason", "says"),
    [
        ("", "bad_url", "empty"),
        ("   ", "bad_url", "empty"),
        ("example.com/path", "bad_url", "no scheme"),
        ("//example.com/path", "bad_url", "no scheme"),
        ("/path", "bad_url", "no scheme"),
        ("http://", "bad_url", "no host"),
        ("https:///", "bad_url", "no host"),
        ("http://exa mple.com/", "bad_url", "cannot be parsed"),
        ("http://example.com:99999/", "bad_url", "cannot be parsed"),
        ("http://[::1/", "bad_url", "cannot be parsed"),
        ("http://example.com/a\nb", "bad_url", "control characters"),
        ("http://example.com/a\x00b", "bad_url", "control characters"),
        ("http://example.com/\ud800", "bad_url", "cannot be parsed"),
        ("localhost:8000/x", "scheme", "localhost"),
        ("ftp://example.com/", "scheme", "ftp"),
        ("mailto:a@example.com", "scheme", "mailto"),
        ("javascript:alert(1)", "scheme", "javascript"),
        ("file:///etc/passwd", "scheme", "file"),
        ("http://example.com/" + "a" * MAX_LENGTH, "too_long", "longer than"),
        ("http://example.com/" + "ü" * (MAX_LENGTH // 2), "too_long", "percent-encoded"),
    ],
)
def test_parse_refuses_with_one_line(text, reason, says):
    with pytest.raises(BadUrl) as refusal:
        parse(text)
    assert refusal.value.reason == reason
    assert reason in reasons.REFUSED
    assert says in str(refusal.value)
    assert "\n" not in str(refusal.value)
    assert len(str(refusal.value)) < 250
    assert isinstance(refusal.value, BadInput)


@given(st.text(max_size=40))
def test_parse_returns_or_refuses_and_is_stable(text):
    for prefix in ("", "http://example.com/", "https://"):
        try:
            url = parse(prefix + text)
        except BadUrl:
            continue
        assert parse(url.href) == url
        assert "#" not in url.href
        assert dedupe_key(url.href) == dedupe_key(parse(url.href).href)


def test_target_is_path_and_query():
    assert target("http://x/") == "/"
    assert target("https://user:pw@example.com:8080/a/b?c=/d") == "/a/b?c=/d"
    assert target("http://[::1]/x") == "/x"
