from longline.model.fetch.cookies import Cookie
from longline.model.fetch.credentials import Credentials
from longline.services.crawls.crawl_options import CrawlRequest, revise, revise_credentials, site_hosts
from tests.plans import crawl_plan

STORED = crawl_plan(
    ("https://a.example/",),
    max_depth=2,
    hosts=("a.example", "www.a.example"),
    include=("x",),
    exclude=("y",),
    delay_ms=50,
    user_agents=("mine/1",),
    config='{"parser":"books"}',
)
ASKED = crawl_plan(
    ("https://a.example/", "https://b.example/"),
    max_depth=9,
    hosts=("a.example",),
    delay_ms=1000,
    user_agents=("other/2",),
    config="{}",
)


def test_an_option_that_is_not_given_keeps_its_value():
    assert revise(STORED, CrawlRequest(crawl_plan(("HTTPS://A.example",), max_depth=9))) == STORED


def test_a_given_option_replaces_its_own_field_only():
    given = frozenset({"depth", "delay", "exclude", "parser"})
    revised = revise(STORED, CrawlRequest(ASKED, given=given))
    assert (revised.bounds.max_depth, revised.bounds.exclude, revised.politeness.delay_ms) == (9, (), 1000)
    assert (revised.bounds.include, revised.fetch.user_agents, dict(revised.config)) == (("x",), ("mine/1",), {})


def test_new_seeds_and_their_hosts_are_added():
    revised = revise(STORED, CrawlRequest(ASKED))
    assert revised.seeds == ("https://a.example/", "https://b.example/")
    assert set(revised.bounds.hosts) == {"a.example", "www.a.example", "b.example", "www.b.example"}


def test_other_hosts_are_followed_until_the_option_is_taken_back():
    anywhere = crawl_plan(ASKED.seeds)
    wide = revise(STORED, CrawlRequest(anywhere, given=frozenset({"offsite"})))
    assert wide.bounds.hosts == ()
    assert revise(wide, CrawlRequest(ASKED)).bounds.hosts == ()
    narrow = revise(wide, CrawlRequest(ASKED, given=frozenset({"offsite"})))
    assert set(narrow.bounds.hosts) == {"a.example", "www.a.example", "b.example", "www.b.example"}


def test_a_crawl_of_sitemaps_reads_sitemaps():
    asked = crawl_plan(ASKED.seeds, sitemap_only=True)
    revised = revise(STORED, CrawlRequest(asked, given=frozenset({"sitemap"})))
    assert dict(revised.config) == {"parser": "books", "sitemaps": True}


def test_headers_and_cookies_are_replaced_each_by_itself():
    stored = Credentials((("X-Key", "old"),), (Cookie("a", "old", "a.example"),))
    new = Credentials((("X-Key", "new"),), (Cookie("a", "new", "a.example"),))
    asked = CrawlRequest(ASKED, credentials=new, given=frozenset({"headers"}))
    assert revise_credentials(stored, asked) == Credentials(new.headers, stored.cookies)
    assert revise_credentials(stored, CrawlRequest(ASKED, credentials=new)) == stored


def test_a_name_with_www_is_the_same_site_and_an_address_has_none():
    assert site_hosts(("https://www.a.example/", "http://127.0.0.1:80/x", "http://[::1]:8/", "http://localhost/")) == (
        "www.a.example",
        "a.example",
        "127.0.0.1",
        "[::1]:8",
        "localhost",
    )
