import pytest

from longline.model.fetch.cookies import MAX_COOKIES, MAX_DOMAIN_COOKIES, RunCookies

HOME = "https://www.site.example/shop/"


@pytest.mark.parametrize(
    ("value", "url", "sent"),
    [
        ("a=1", "https://www.site.example/shop/2", "a=1"),
        ("a=1", "https://www.site.example/", None),  # the default path is the directory
        ("a=1; Path=/", "https://www.site.example/", "a=1"),
        ("a=1; Path=/", "https://other.site.example/", None),  # a host-only cookie
        ("a=1; Path=/; Domain=site.example", "https://other.site.example/", "a=1"),
        ("a=1; Path=/; Domain=site.example", "https://other.example/", None),
        ("a=1; Path=/; Domain=elsewhere.example", "https://elsewhere.example/", None),
        ("a=1; Path=/; Domain=example", "https://x.example/", None),  # a whole top-level domain
        ("a=1; Path=/; Secure", "http://www.site.example/", None),
        ("a=1; Path=/; Secure", "https://www.site.example/", "a=1"),
        ("a=1; Path=/; Max-Age=0", "https://www.site.example/", None),
        ("a=1; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT", "https://www.site.example/", None),
        ("a=1; Path=/; Max-Age=3600", "https://www.site.example/", "a=1"),
        ("nonsense without a sign; Path=/", "https://www.site.example/", "nonsense without a sign"),
    ],
)
def test_a_cookie_is_sent_within_its_domain_path_and_lifetime(value: str, url: str, sent: str | None):
    jar = RunCookies()
    jar.store(HOME, [value])
    assert jar.header(url) == sent


def test_a_later_value_takes_the_place_of_an_earlier_one():
    jar = RunCookies()
    jar.store(HOME, ["a=1; Path=/", "b=2; Path=/"])
    jar.store(HOME, ["a=3; Path=/"])
    assert sorted((jar.header(HOME) or "").split("; ")) == ["a=3", "b=2"]


def test_a_site_that_sets_cookies_without_an_end_keeps_its_first_ones():
    now = 0.0
    jar = RunCookies(now=lambda: now)
    jar.store(HOME, ["session=1; Path=/", "brief=1; Path=/; Max-Age=9"])
    jar.store(HOME, [f"seen{n}=1; Path=/" for n in range(5000)])
    jar.store(HOME, ["session=2; Path=/"])
    sent = (jar.header(HOME) or "").split("; ")
    assert len(sent) == MAX_DOMAIN_COOKIES
    assert sent[0] == "session=2"
    now = 10.0
    jar.store(HOME, ["late=1; Path=/", "later=1; Path=/"])
    assert (jar.header(HOME) or "").endswith("; late=1")  # replaces the one that has expired


def test_a_run_with_more_sites_than_cookies_takes_the_cookies_of_each():
    jar = RunCookies()
    jar.store(HOME, ["first=1; Path=/"])
    for n in range(2 * MAX_COOKIES):
        jar.store(f"https://a{n}.example/", ["a=1; Path=/"])
        assert jar.header(f"https://a{n}.example/") == "a=1"
        assert jar.header(HOME) == "first=1"  # a site that is still visited
    assert len(list(jar)) == MAX_COOKIES
    assert jar.header("https://a0.example/") is None


@pytest.mark.parametrize(
    ("value", "url", "sent"),
    [
        ("a=1; Path=/shop", "https://www.site.example/shop", "a=1"),
        ("a=1; Path=/shop", "https://www.site.example/shop/x", "a=1"),
        ("a=1; Path=/shop", "https://www.site.example/shopping", None),  # a path ends at a slash
        ("a=1; Path=shop", "https://www.site.example/shop/x", "a=1"),  # no path: the directory
        ("a=1; Path=/; domain=.SITE.example", "https://site.example/", "a=1"),
        ("a=1; Path=/; Domain=", "https://other.site.example/", None),
        ("a=1; Path=/; Domain=www.site.example", "https://x.www.site.example/", "a=1"),
        ("a=1; Path=/; Max-Age=3600; Expires=Thu, 01 Jan 1970 00:00:00 GMT", "https://www.site.example/", "a=1"),
        ("a=1; Path=/; Max-Age=-5", "https://www.site.example/", None),
        ("a=1; Path=/; Max-Age=soon", "https://www.site.example/", "a=1"),
        ("a=1; Path=/; Expires=Sunday, 06-Nov-94 08:49:37 GMT", "https://www.site.example/", None),
        ("a=1; Path=/; Expires=06 Nov 2994 08:49:37", "https://www.site.example/", "a=1"),
        ("a=1; Path=/; Expires=31 Feb 2994 08:49:37", "https://www.site.example/", "a=1"),  # no date: no expiry
        ("a=1; Path=/; Expires=tomorrow", "https://www.site.example/", "a=1"),
        ("a=b=c; Path=/", "https://www.site.example/", "a=b=c"),
        ("__Secure-a=1; Path=/", "https://www.site.example/", None),
        ("__Secure-a=1; Path=/; Secure", "https://www.site.example/", "__Secure-a=1"),
        ("__Host-a=1; Path=/; Secure; Domain=site.example", "https://www.site.example/", None),
        ("__Host-a=1; Path=/; Secure", "https://www.site.example/", "__Host-a=1"),
        ("a=\x01; Path=/", "https://www.site.example/", None),
        ("a=" + "x" * 5000 + "; Path=/", "https://www.site.example/", None),
        ("; Path=/", "https://www.site.example/", None),
    ],
)
def test_a_cookie_is_read_by_the_standard(value: str, url: str, sent: str | None):
    jar = RunCookies()
    jar.store(HOME, [value])
    assert jar.header(url) == sent


@pytest.mark.parametrize(
    ("home", "value", "url", "sent"),
    [
        ("http://site.example/", "a=1; Secure", "https://site.example/", None),
        ("https://a.co.uk/", "a=1; Domain=co.uk", "https://b.co.uk/", None),
        ("https://127.0.0.1/", "a=1; Domain=0.0.1", "https://127.0.0.1/", None),
        ("https://127.0.0.1/", "a=1; Domain=127.0.0.1", "https://127.0.0.1/", "a=1"),
        ("http://localhost/", "a=1; Domain=localhost", "http://x.localhost/", None),
        ("http://localhost/", "a=1; Domain=localhost", "http://localhost/", "a=1"),
        ("http://site.example:8080/", "a=1", "http://site.example:9090/", "a=1"),  # cookies are not bound to ports
    ],
)
def test_a_cookie_is_not_sent_to_other_hosts(home: str, value: str, url: str, sent: str | None):
    jar = RunCookies()
    jar.store(home, [value])
    assert jar.header(url) == sent


def test_longer_paths_come_first_and_an_expired_cookie_removes_the_earlier_one():
    now = [1000.0]
    jar = RunCookies(now=lambda: now[0])
    jar.store(HOME, ["a=1; Path=/", "b=2; Path=/shop", "c=3; Path=/; Max-Age=60"])
    assert jar.header(HOME) == "b=2; a=1; c=3"
    jar.store(HOME, ["a=; Path=/; Max-Age=0"])
    assert jar.header(HOME) == "b=2; c=3"
    now[0] += 61
    assert (jar.header(HOME), [cookie.name for cookie in jar]) == ("b=2", ["b"])


def test_a_value_is_not_shown():
    jar = RunCookies()
    jar.store(HOME, ["a=secret"])
    assert "secret" not in repr(list(jar))
