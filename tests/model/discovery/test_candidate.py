import pytest

from longline.model.discovery.candidate import DiscoveryRules, ProbeResult, home_of, identity_of, risk_of
from longline.model.urls.url import parse

PLACES = {
    "https://www.News.example/a?b": ("news.example", "https://www.news.example/"),
    "http://news.example:8080/": ("news.example", "http://news.example:8080/"),
    "https://anna.substack.com/p/x": ("substack:anna", "https://anna.substack.com/"),
    "https://substack.com/": ("substack.com", "https://substack.com/"),
    "https://medium.com/@Anna/x": ("medium:@Anna", "https://medium.com/@Anna"),
    "https://medium.com/topic": ("medium.com", "https://medium.com/"),
    "https://anna.medium.com/x": ("medium:anna", "https://anna.medium.com/"),
}


@pytest.mark.parametrize(("url", "place"), PLACES.items())
def test_a_place_is_known_by_its_host_or_its_tenant(url: str, place: tuple[str, str]):
    found = parse(url)
    assert (identity_of(found), home_of(found)) == place


def test_allow_and_block_lists_are_texts_that_a_url_contains():
    rules = DiscoveryRules(allow=("news", "blog"), block=("shop",))
    urls = ("https://news.example/", "https://news.example/shop", "https://other.example/")
    assert [rules.refusal(url) for url in urls] == [None, "blocked", "not allowed"]
    assert DiscoveryRules().refusal(urls[2]) is None


def test_doubts_about_a_place_raise_its_risk():
    good, closed = ProbeResult("ok", 200, "News"), ProbeResult("robots")
    scores = [
        risk_of("https://news.example/", good),
        risk_of("http://news.example/", good),
        risk_of("https://news.example/", closed),
        risk_of("http://192.0.2.1/", ProbeResult("dns")),
    ]
    assert scores == [0, 20, 35, 90]
    assert risk_of("http://xn--bcher-kva.b.c.d.e-e-e.example/", closed) <= 100
