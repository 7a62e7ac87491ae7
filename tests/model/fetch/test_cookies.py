import pytest

from longline.model.fetch.cookies import MAX_COOKIES, RunCookies

HOME = "https://www.site.example/shop/"


@pytest.mark.parametrize(
    ("value", "url", "sent"),
    [
        ("a=1", "https://www.site.example/shop/2", "a=1"),
        ("a=1", "https://www.site.example/", None),  # the default path is the directory
        ("a=1; Path=/", "https://www.site.example/", "a=1"),
        ("a=1; Path=/", "https://other.site.example/", None),  # for its own host
        ("a=1; Path=/; Domain=site.example", "https://other.site.example/", "a=1"),
        ("a=1; Path=/; Domain=site.example", "https://other.example/", None),
        ("a=1; Path=/; Domain=elsewhere.example", "https://elsewhere.example/", None),
        ("a=1; Path=/; Domain=example", "https://x.example/", None),  # a whole top level
        ("a=1; Path=/; Secure", "http://www.site.example/", None),
        ("a=1; Path=/; Secure", "https://www.site.example/", "a=1"),
        ("a=1; Path=/; Max-Age=0", "https://www.site.example/", None),
        ("a=1; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT", "https://www.site.example/", None),
        ("a=1; Path=/; Max-Age=3600", "https://www.site.example/", "a=1"),
        ("nonsense without a sign; Path=/", "https://www.site.example/", "nonsense without a sign"),
    ],
)
def test_a_cookie_goes_where_it_belongs(value: str, url: str, sent: str | None):
    jar = RunCookies()
    jar.store(HOME, [value])
    assert jar.header(url) == sent


def test_a_later_value_takes_the_place_of_an_earlier_one():
    jar = RunCookies()
    jar.store(HOME, ["a=1; Path=/", "b=2; Path=/"])
    jar.store(HOME, ["a=3; Path=/"])
    assert sorted((jar.header(HOME) or "").split("; ")) == ["a=3", "b=2"]


@pytest.mark.slow(reason="thousands of cookies")
def test_a_site_that_sets_cookies_without_an_end_is_left_alone():
    jar = RunCookies()
    for n in range(MAX_COOKIES + 500):
        jar.store(HOME, [f"c{n}=1; Path=/p{n}/"])
    assert jar.header(f"https://www.site.example/p{MAX_COOKIES - 1}/") is not None
    assert jar.header(f"https://www.site.example/p{MAX_COOKIES + 10}/") is None
