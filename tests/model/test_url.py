"""URLs: the gate, links, keys, and the two contracts' spellings."""

import ada_url
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longline.model.errors import BadInput
from longline.model.frontier import reasons
from longline.model.url import (
    MAX_LENGTH,
    BadUrl,
    dedupe_key,
    hide_in_text,
    interval_form,
    join,
    join_all,
    parse,
    percent_normalized,
    referer,
    target,
    without_credentials,
)


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
    # labels of ASCII that only look like Punycode stay as they are
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
def test_hosts_are_read_by_the_present_standard(text, hostname):
    if hostname is None:
        with pytest.raises(BadUrl):
            parse(text)
        assert join("https://example.com/", text) is None
    else:
        url = parse(text)
        assert url.hostname == hostname
        assert join("https://example.com/", text) == parse(url.href).href == url.href


@pytest.mark.parametrize("base", ["http://xn--a.com/dir/", "http://xn--mller-kva.de/dir/", "http://faẞ.de/dir/"])
def test_links_of_a_page_on_such_a_host(base):
    home = parse(base).href
    hrefs = ["x", "/é", "../~u", "http://xn--a.com/", "mailto:a@b", "//fass.de/y", "http://[", " z #a", "x#b"]
    wanted = [f"{home}x", home.replace("dir/", "%C3%A9"), home.replace("dir/", "~u"), "http://xn--a.com/"]
    assert join_all(base, hrefs) == [*wanted, "http://fass.de/y", f"{home}z%20"]
    assert referer(base, f"{home}x") == home
    assert interval_form(base) == home.replace("http:", "https:").rstrip("/")


@pytest.mark.parametrize(
    "href",
    ["/é/xn--a", "é", "?q=xn--a%20", "a--b/c%41", "//example.com/é", "https://example.com/a--b%20é", "/\t/xn--a.com/"],
)
def test_join_agrees_with_the_reference_where_no_host_is_international(href):
    for base in ("https://example.com/a/b?q", "https://xn--mller-kva.de/a/b?q"):
        assert join(base, href) == ada_url.join_url(base, href)


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


@pytest.mark.parametrize(
    ("href", "leads_to"),
    [
        ("page.html", "http://example.com/dir/page.html"),
        ("../up", "http://example.com/up"),
        ("/root?x=1#part", "http://example.com/root?x=1"),
        ("?q=2", "http://example.com/dir/here?q=2"),
        ("", "http://example.com/dir/here?q=1"),
        ("#part", "http://example.com/dir/here?q=1"),
        ("//other.example/x", "http://other.example/x"),
        ("https://other.example", "https://other.example/"),
        (" \n page.html\t", "http://example.com/dir/page.html"),
        ("page #part", "http://example.com/dir/page%20"),
        ("pa\nge.html", "http://example.com/dir/page.html"),
        ("\\back\\slash", "http://example.com/back/slash"),
        ("http:page", "http://example.com/dir/page"),
        ("../../../../x", "http://example.com/x"),
        ("mailto:a@example.com", None),
        ("JavaScript:void(0)", None),
        (" javascript:void(0)", None),
        ("data:text/html,x", None),
        ("tel:+1555", None),
        ("ftp://example.com/", None),
        ("http://", None),
        ("http://[", None),
        ("\ud800", None),
    ],
)
def test_join(href, leads_to):
    assert join("http://example.com/dir/here?q=1#part", href) == leads_to


def test_a_base_that_is_no_url_leads_nowhere():
    assert join("not a url", "/x") is None
    assert join_all("", ["http://example.com/"]) == []


def test_join_all_keeps_order_and_drops_repeats():
    hrefs = ["b", "a", "b#one", "./b", "mailto:x@y", "a#two", " a ", "http://example.com/a"]
    assert join_all("http://example.com/", hrefs) == ["http://example.com/b", "http://example.com/a"]


@given(st.text(alphabet="abz:/?#.%2e\\@[] é\u00a0\t-0", max_size=24))
def test_join_agrees_with_another_binding(href):
    base = "https://example.com/a/b/c?q"
    try:
        theirs = ada_url.join_url(base, href).partition("#")[0]
    except ValueError:
        theirs = ""
    assert join(base, href) == (theirs if theirs.startswith(("http://", "https://")) else None)


@given(st.text(max_size=40))
def test_parse_answers_or_refuses_and_is_stable(text):
    for prefix in ("", "http://example.com/", "https://"):
        try:
            url = parse(prefix + text)
        except BadUrl:
            continue
        assert parse(url.href) == url
        assert "#" not in url.href
        assert dedupe_key(url.href) == dedupe_key(parse(url.href).href)


def test_dedupe_key_is_the_directory_and_the_url():
    here, beside = dedupe_key("http://example.com/a/b/one"), dedupe_key("http://example.com/a/b/two?x=/y/z")
    elsewhere = dedupe_key("http://example.com/a/c/one")
    assert len(here) == len(beside) == 16
    assert here[:4] == beside[:4] != elsewhere[:4]
    assert len({here[4:], beside[4:], elsewhere[4:]}) == 3


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("http://example.com/a", "http://example.com/a/"),
        ("http://example.com/a", "https://example.com/a"),
        ("http://example.com/a?x=1", "http://example.com/a?x=2"),
        ("http://example.com/a", "http://example.com/A"),
    ],
)
def test_dedupe_key_tells_urls_apart(one, other):
    assert dedupe_key(one) != dedupe_key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("http://example.com/%7Eu", "http://example.com/~u"),
        ("http://example.com/%e4", "http://example.com/%E4"),
        ("http://example.com/%7eu/%41%62c-%2e%5F?q=%7E%c3%a4", "http://example.com/~u/Abc-._?q=~%C3%A4"),
        ("http://example.com/a%2fb", "http://example.com/a%2Fb"),
    ],
)
def test_spellings_that_rfc_3986_calls_equal_have_one_key(one, other):
    assert dedupe_key(parse(one).href) == dedupe_key(parse(other).href)
    assert interval_form(one) == interval_form(other)
    assert parse(one).href == one, "the URL that is sent stays as it was found"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("http://example.com/a%2Fb", "http://example.com/a/b"),
        ("http://example.com/a%3Fb", "http://example.com/a?b"),
        ("http://example.com/%2541", "http://example.com/%41"),
        ("http://example.com/a%21", "http://example.com/a!"),
        ("http://example.com/%", "http://example.com/%25"),
        ("http://example.com/%4", "http://example.com/%04"),
    ],
)
def test_an_escape_of_a_reserved_character_is_another_url(one, other):
    assert dedupe_key(parse(one).href) != dedupe_key(parse(other).href)
    assert percent_normalized(parse(one).href) == parse(one).href


SPELLINGS = [("%7e", "~"), ("%7E", "~"), ("~", "~"), ("%41", "A"), ("%5f", "_"), ("%2f", "%2F"), ("%2F", "%2F")]
SPELLINGS += [("%e4", "%E4"), ("%3f", "%3F"), ("%25", "%25"), ("a", "a"), ("/", "/"), ("%2D", "-"), ("%30", "0")]
WRITTEN = st.lists(st.sampled_from(SPELLINGS), max_size=8)


@given(WRITTEN, WRITTEN)
def test_keys_are_equal_where_the_normalised_spellings_are(one, other):
    urls = ["http://example.com/x" + "".join(spelling for spelling, _ in signs) for signs in (one, other)]
    normal = ["http://example.com/x" + "".join(sign for _, sign in signs) for signs in (one, other)]
    assert list(map(percent_normalized, urls)) == normal
    assert (dedupe_key(urls[0]) == dedupe_key(urls[1])) is (normal[0] == normal[1])


def test_target_is_path_and_query():
    assert target("http://x/") == "/"
    assert target("https://user:pw@example.com:8080/a/b?c=/d") == "/a/b?c=/d"
    assert target("http://[::1]/x") == "/x"


@pytest.mark.parametrize(
    ("text", "form"),
    [
        # The contract's own table.
        ("HTTP://Example.com/Path", "https://example.com/Path"),
        ("http://example.com:80/a/../b/", "https://example.com/b"),
        ("https://example.com/?utm_source=a&keep=yes#x", "https://example.com/?keep=yes"),
        ("https://example.com/p?z=1&a=2", "https://example.com/p?a=2&z=1"),
        # Its sentences, one by one.
        ("http://example.com:443/", "https://example.com/"),
        ("https://example.com:80/", "https://example.com/"),
        ("http://example.com:8080/", "https://example.com:8080/"),
        ("http://example.com/a/./b/../c", "https://example.com/a/c"),
        ("http://example.com//a///b//", "https://example.com/a/b"),
        ("http://example.com", "https://example.com/"),
        ("http://example.com//", "https://example.com/"),
        ("http://www.example.com/", "https://www.example.com/"),
        ("http://example.com/p?b=2&a=2&b=1", "https://example.com/p?a=2&b=2&b=1"),
        ("http://example.com/p?q=a%20b&c", "https://example.com/p?c=&q=a+b"),
        ("http://example.com/p?q=a+b", "https://example.com/p?q=a+b"),
        ("http://example.com/p?", "https://example.com/p"),
        ("http://example.com/p?q=%E9&r=%e8", "https://example.com/p?q=%E9&r=%E8"),
        ("http://example.com/p?UTM_source=kept", "https://example.com/p?UTM_source=kept"),
        ("http://user:pw@example.com/", "https://user:pw@example.com/"),
        *(
            (f"http://example.com/p?{name}=1", "https://example.com/p")
            for name in (
                *("utm_source", "utm_medium", "utm_campaign", "utm_term", "utm_content"),
                *("fbclid", "gclid", "gclsrc", "dclid", "msclkid"),
            )
        ),
    ],
)
def test_interval_form(text, form):
    assert interval_form(text) == form
    assert interval_form(form) == form


@pytest.mark.parametrize("text", ["example.com/path", "", "http://", "/path", "http://[bad/"])
def test_interval_form_refuses(text):
    with pytest.raises(BadUrl):
        interval_form(text)


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
    ],
)
def test_a_server_hears_of_the_page_what_browsers_tell(page: str, url: str, told: str | None):
    assert referer(page, url) == told


@pytest.mark.parametrize(
    "text",
    [
        "http://user:pw@example.com/",
        "https://pw@example.com/a?b#c",
        "https://:pw@example.com/",
        "HTTP:\\\\user:pw@example.com/",
        "https:user:pw@example.com",
        "https://user:a@b:pw@example.com/",
    ],
)
def test_a_user_name_and_a_password_are_refused_and_not_told(text: str):
    with pytest.raises(BadUrl) as refused:
        parse(text)
    assert refused.value.reason == "credentials"
    assert "pw" not in str(refused.value)
    kept = parse(text, credentials=True)
    assert "pw" in kept.href
    assert "pw" not in without_credentials(kept.href)
    assert parse(without_credentials(kept.href)).host == kept.host


@pytest.mark.parametrize(
    "text", ["https://example.com/@me", "https://example.com/?to=a@b", "https://@example.com/", "https://example.com/"]
)
def test_an_at_sign_elsewhere_is_part_of_the_address(text: str):
    assert without_credentials(text) == text
    assert parse(text).host == "example.com"


@pytest.mark.parametrize(
    "text", ["http://user:pw@", "user:pw@example.com", "ftp://user:pw@example.com/", "//user:pw@x"]
)
def test_what_is_no_url_is_told_without_its_password(text: str):
    with pytest.raises(BadUrl) as refused:
        parse(text)
    assert "pw" not in str(refused.value)
    assert "pw" not in without_credentials(text)


def test_passwords_of_urls_in_a_message_are_hidden():
    told = "cannot send to (http://anna:pw@h.example/a) nor to redis://:pw@[::1]:6379/0, write to me@h.example"
    assert hide_in_text(told) == (
        "cannot send to (http://***@h.example/a) nor to redis://***@[::1]:6379/0, write to me@h.example"
    )
