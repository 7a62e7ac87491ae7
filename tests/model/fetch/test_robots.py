"""robots.txt by RFC 9309, and robots.txt files as found on the web."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longline.model.fetch.robots import MAX_BYTES, Robots, product_token

US = "Longline/0.1 (+https://example.com/bot)"


def allowed(text: str, path: str, agent: str = US) -> bool:
    return Robots.from_response(200, text.encode()).allows(agent, f"https://example.com{path}")


EVERYONE = "User-agent: *\n"

CASES = [
    # longest match, ties, empty rules
    (EVERYONE + "Disallow: /", "/x", False),
    (EVERYONE + "Disallow: /\nAllow: /p", "/page", True),
    (EVERYONE + "Allow: /p\nDisallow: /", "/page", True),
    (EVERYONE + "Allow: /folder\nDisallow: /folder", "/folder/page", True),
    (EVERYONE + "Disallow: /folder\nAllow: /folder", "/folder/page", True),
    (EVERYONE + "Allow: /example/page/\nDisallow: /example/page/disallowed.gif", "/example/page/disallowed.gif", False),
    (EVERYONE + "Allow: /example/page/\nDisallow: /example/page/disallowed.gif", "/example/page/other", True),
    (EVERYONE + "Allow: /page\nDisallow: /*.htm", "/page.htm", False),
    (EVERYONE + "Allow: /a/b/c\nDisallow: /*b", "/a/b/c", True),
    (EVERYONE + "Disallow: /a/b/c\nAllow: /*b", "/a/b/c", False),
    (EVERYONE + "Allow: /a*\nDisallow: /ab", "/abc", True),
    (EVERYONE + "Disallow: /a*\nAllow: /ab", "/abc", True),
    (EVERYONE + "Disallow: /a*b\nAllow: /a*c", "/abc", True),
    (EVERYONE + "Allow: /$\nDisallow: /", "/", True),
    (EVERYONE + "Allow: /$\nDisallow: /", "/page.htm", False),
    # a path that equals a rule, beside a longer rule
    (EVERYONE + "Disallow: /\nAllow: /$\nDisallow: /ab", "/", True),
    (EVERYONE + "Allow: /a\nDisallow: /a*\nDisallow: /longer", "/a", False),
    (EVERYONE + "Disallow: /shop\nAllow: /sho*\nAllow: /shop$\nDisallow: /shop/cart/items", "/shop", True),
    # a dollar inside a rule is as long as its escape, with a star in the rule and without
    (EVERYONE + "Disallow: /a$b\nAllow: /a$b*", "/a$b", True),
    (EVERYONE + "Disallow: /a%24b\nAllow: /a$b", "/a$b", True),
    (EVERYONE + "Disallow:", "/x", True),
    (EVERYONE + "Disallow:\nDisallow: /x", "/x", False),
    (EVERYONE + "Allow:\nDisallow: /", "/x", False),
    ("", "/x", True),
    # /robots.txt itself
    (EVERYONE + "Disallow: /", "/robots.txt", True),
    (EVERYONE + "Disallow: /", "/robots.txt?v=2", True),
    (EVERYONE + "Disallow: /", "/a/robots.txt", False),
    # prefixes, case, values that are no path
    (EVERYONE + "Disallow: /fish", "/fish", False),
    (EVERYONE + "Disallow: /fish", "/fishheads/yummy.html", False),
    (EVERYONE + "Disallow: /fish", "/fish.php?id=anything", False),
    (EVERYONE + "Disallow: /fish", "/Fish.asp", True),
    (EVERYONE + "Disallow: /fish", "/catfish", True),
    (EVERYONE + "Disallow: /fish/", "/fish", True),
    (EVERYONE + "Disallow: fish", "/fish", True),
    (EVERYONE + "Disallow: https://example.com/fish", "/fish", True),
    # wildcards
    (EVERYONE + "Disallow: /fish*", "/fish", False),
    (EVERYONE + "Disallow: /*.php", "/folder/filename.php?parameters", False),
    (EVERYONE + "Disallow: /*.php", "/windows.PHP", True),
    (EVERYONE + "Disallow: /*.php$", "/filename.php", False),
    (EVERYONE + "Disallow: /*.php$", "/filename.php?parameters", True),
    (EVERYONE + "Disallow: /*.php$", "/a.php/b.php", False),
    (EVERYONE + "Disallow: /fish*.php", "/fishheads/catfish.php?parameters", False),
    (EVERYONE + "Disallow: /fish*.php", "/Fish.PHP", True),
    (EVERYONE + "Disallow: *.gif", "/a/b.gif", False),
    (EVERYONE + "Disallow: /a**b", "/axxb", False),
    (EVERYONE + "Disallow: /a*b*c$", "/a-b-c-b", True),
    (EVERYONE + "Disallow: /a*b*c$", "/a-b-c-b-c", False),
    (EVERYONE + "Disallow: /ab*b$", "/ab", True),
    (EVERYONE + "Disallow: *", "/", False),
    (EVERYONE + "Disallow: /a$b", "/a$b", False),
    (EVERYONE + "Disallow: /a$b", "/a", True),
    (EVERYONE + "Disallow: /price-%24", "/price-$", False),
    (EVERYONE + "Disallow: /file-with-a-%2A.html", "/file-with-a-*.html", False),
    (EVERYONE + "Disallow: /file-with-a-%2A.html", "/file-with-a-x.html", True),
    # queries
    (EVERYONE + "Disallow: /*?", "/page?x=1", False),
    (EVERYONE + "Disallow: /*?", "/page", True),
    (EVERYONE + "Disallow: /*?*sort=", "/list?page=2&sort=asc", False),
    (EVERYONE + "Disallow: /search?q=", "/search?q=x", False),
    (EVERYONE + "Disallow: /search?q=", "/search?p=x", True),
    (EVERYONE + "Disallow: /p$", "/p?x", True),
    # the RFC's table of spellings, both ways round
    (EVERYONE + "Disallow: /foo/bar?baz=quz", "/foo/bar?baz=quz", False),
    (EVERYONE + "Disallow: /foo/bar?baz=https://foo.bar", "/foo/bar?baz=https%3A%2F%2Ffoo.bar", False),
    (EVERYONE + "Disallow: /foo/bar?baz=https%3A%2F%2Ffoo.bar", "/foo/bar?baz=https://foo.bar", False),
    (EVERYONE + "Disallow: /*=https%3a%2f%2ffoo", "/foo/bar?baz=https%3A%2F%2Ffoo.bar", False),
    (EVERYONE + "Disallow: /foo/bar/ツ", "/foo/bar/%E3%83%84", False),
    (EVERYONE + "Disallow: /foo/bar/%E3%83%84", "/foo/bar/%e3%83%84", False),
    (EVERYONE + "Disallow: /foo/bar/%62%61%7A", "/foo/bar/baz", False),
    (EVERYONE + "Disallow: /foo/bar/baz", "/foo/bar/%62%61%7A", False),
    (EVERYONE + "Disallow: /~joe", "/%7ejoe/index.html", False),
    (EVERYONE + "Disallow: /a%2fb", "/a/b", True),
    (EVERYONE + "Disallow: /a%2fb", "/a%2Fb", False),
    (EVERYONE + "Disallow: /a%3Fb", "/a?b", True),
    (EVERYONE + "Disallow: /caf%E9", "/caf%E8", True),
    (EVERYONE + "Disallow: /{id}", "/%7Bid%7D", False),
    (EVERYONE + "Disallow: /a?it's", "/a?it%27s", False),
    (EVERYONE + "Disallow: /a b", "/a%20b", False),
    (EVERYONE + "Disallow: /100%", "/100%", False),
    # the group that applies
    ("User-agent: longline\nDisallow: /x", "/x", False),
    ("User-agent: LongLine\nDisallow: /x", "/x", False),
    ("User-agent: Longline/2.0\nDisallow: /x", "/x", False),
    ("User-agent: long\nDisallow: /x", "/x", True),
    ("User-agent: longline-news\nDisallow: /x", "/x", True),
    ("User-agent: other\nDisallow: /x", "/x", True),
    ("User-agent: longline\nDisallow:\n\n" + EVERYONE + "Disallow: /", "/x", True),
    (EVERYONE + "Disallow: /\n\nUser-agent: longline\nDisallow: /private", "/x", True),
    (EVERYONE + "Disallow: /x\n\nUser-agent: longline\nDisallow: /private", "/private", False),
    # only a star that stands alone means every user agent
    ("User-agent: *WordPress*\nDisallow: /", "/x", True),
    ("User-agent: *bot\nDisallow: /", "/x", True),
    ("User-agent: *longline*\nDisallow: /", "/x", True),
    ("User-agent: **\nDisallow: /", "/x", True),
    ("User-agent: */*\nDisallow: /", "/x", True),
    ("User-agent: *WordPress*\nUser-agent: longline\nDisallow: /", "/x", False),
    (EVERYONE + "Disallow: /a\nUser-agent: *WordPress*\nDisallow: /b", "/b", True),
    ("User-agent: * \t\nDisallow: /", "/x", False),
    ("User-agent: * (all robots)\nDisallow: /", "/x", False),
    # groups
    ("User-agent: other\nUser-agent: longline\nDisallow: /x", "/x", False),
    ("User-agent: longline\n\n\nUser-agent: other\nDisallow: /x", "/x", False),
    ("User-agent: longline\nDisallow: /a\n\nUser-agent: longline\nDisallow: /b", "/a", False),
    ("User-agent: longline\nDisallow: /a\n\nUser-agent: longline\nDisallow: /b", "/b", False),
    ("User-agent: longline\nAllow: /y\nUser-agent: other\nDisallow: /x", "/x", True),
    ("User-agent: longline\nSitemap: https://example.com/s.xml\nDisallow: /x", "/x", False),
    ("User-agent: longline\nSitemap: https://example.com/s.xml\nUser-agent: other\nDisallow: /x", "/x", False),
    ("User-agent: longline\nNoindex: /y\nUser-agent: other\nDisallow: /x", "/x", False),
    ("User-agent: longline\nCrawl-delay: 5\nUser-agent: other\nDisallow: /x", "/x", False),
    ("User-agent: longline\nUnknown: 1\nDisallow: /x", "/x", False),
    ("Disallow: /x\n" + EVERYONE + "Disallow: /y", "/x", True),
    ("User-agent:\nDisallow: /x", "/x", True),
    # notation
    ("user-AGENT : *\nDISALLOW :/x", "/x", False),
    ("  User-agent: *\n\tDisallow:\t/x  ", "/x", False),
    ("User-agent: * # all\nDisallow: /x # here", "/x", False),
    ("User-agent: *\r\nDisallow: /x\r\n", "/x", False),
    ("User-agent: *\rDisallow: /x", "/x", False),
    ("User-agent: *\n# comment\n\nDisallow: /x", "/x", False),
    ("\ufeffUser-agent: *\nDisallow: /x", "/x", False),
    ("User-agent *\nDisallow /x", "/x", False),
    ("User-agent: *\nDisalow: /x", "/x", False),
    ("Useragent: *\nDisallow: /x", "/x", False),
    (EVERYONE + "Disallow: /a\x0cb", "/a", True),
    (EVERYONE + "Disallow: /a\u2028Disallow: /b", "/b", True),
    ("<!DOCTYPE html><html><body>Not found</body></html>", "/x", True),
    (EVERYONE + "Allow: /index.html\nDisallow: /", "/", False),
]


@pytest.mark.parametrize(("text", "path", "verdict"), CASES)
def test_each_case_has_its_verdict(text, path, verdict):
    assert allowed(text, path) is verdict


@pytest.mark.parametrize(
    ("agent", "token"),
    [
        ("Longline/0.1 (+https://example.com/bot)", "longline"),
        ("Longline", "longline"),
        ("my_bot-2 extra", "my_bot-2"),
        ("Mozilla/5.0 (compatible; Longline/0.1; +https://example.com)", "longline"),
        ("Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101", "mozilla"),
        ("", ""),
    ],
)
def test_the_product_token_is_found_in_an_agent_string(agent, token):
    assert product_token(agent) == token


def test_an_agent_string_like_a_browsers_obeys_the_product_token_of_the_crawler():
    agent = "Mozilla/5.0 (compatible; Longline/0.1)"
    assert not allowed("User-agent: longline\nDisallow: /", "/x", agent)
    assert allowed("User-agent: mozilla\nDisallow: /", "/x", agent)


@pytest.mark.parametrize(
    ("status", "verdict"), [(200, False), (204, False), (301, True), (401, True), (404, True), (410, True)]
)
def test_the_status_of_robots_txt_decides_about_its_rules(status, verdict):
    assert Robots.from_response(status, b"User-agent: *\nDisallow: /").allows(US, "http://example.com/x") is verdict


@pytest.mark.parametrize("status", [429, 500, 503, 599, 100])
def test_a_site_with_unreachable_robots_txt_is_disallowed(status):
    robots = Robots.from_response(status, b"")
    assert not robots.allows(US, "http://example.com/")
    assert robots.allows(US, "http://example.com/robots.txt")
    assert not Robots.unreachable().allows(US, "http://example.com/")


def test_bad_bytes_spoil_only_their_line():
    robots = Robots.from_response(200, b"User-agent: *\nDisallow: /\xff\xfe\nDisallow: /x\n")
    assert not robots.allows(US, "http://example.com/x")
    assert robots.allows(US, "http://example.com/y")


@pytest.mark.parametrize(
    "mark",
    [
        b"\xef\xbb\xbf",
        b"\xef\xbb",
        b"\xef",
        b"\xbb\xbf",
        b"\xbf",
        b"\xef\xbb\xbf\xef\xbb\xbf",
        b"\xef\x11\xbf",
        b"\xc3\xaf\xc2\xbb\xc2\xbf",  # a byte order mark that was decoded as Latin-1 and encoded again
        b"\xe2\x80\x8b",
        b"\xff\xfe",
        b"\0",
    ],
)
def test_a_byte_order_mark_whole_or_in_part_spoils_no_line(mark):
    robots = Robots.from_response(200, mark + b"User-agent: *\nDisallow: /x\n" + mark + b"Disallow: /y\n")
    assert not robots.allows(US, "http://example.com/x")
    assert not robots.allows(US, "http://example.com/y")


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_rules_in_utf_16_are_read(encoding):
    robots = Robots.from_response(200, "\ufeffUser-agent: *\r\nDisallow: /x\r\n".encode(encoding))
    assert not robots.allows(US, "http://example.com/x")
    assert robots.allows(US, "http://example.com/y")


def test_a_line_that_is_cut_at_the_size_limit_is_no_rule():
    head = b"User-agent: *\nDisallow: /first\n"
    padding = b"#" * (MAX_BYTES - len(head) - len(b"\nDisallow: /a")) + b"\n"
    robots = Robots.from_response(200, head + padding + b"Disallow: /a/b\nDisallow: /late\n")
    assert not robots.allows(US, "http://example.com/first")
    assert robots.allows(US, "http://example.com/a")
    assert robots.allows(US, "http://example.com/late")


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        (EVERYONE + "Crawl-delay: 10", 10.0),
        (EVERYONE + "Crawl-delay: 0.5\nDisallow: /x", 0.5),
        (EVERYONE + "Disallow: /x\nCrawl-delay: 2", 2.0),
        (EVERYONE + "Crawl-delay: 0", 0.0),
        (EVERYONE + "Crawl-delay: soon", None),
        (EVERYONE + "Crawl-delay: -1", None),
        (EVERYONE + "Crawl-delay: inf", None),
        (EVERYONE + "Crawl-delay: nan", None),
        (EVERYONE + "Crawl-delay: 1\n" + EVERYONE + "Crawl-delay: 3\n" + EVERYONE + "Crawl-delay: 2", 3.0),
        ("User-agent: longline\nDisallow: /x\n\n" + EVERYONE + "Crawl-delay: 9", None),
        ("User-agent: other\nCrawl-delay: 10\n\n" + EVERYONE + "Disallow: /x", None),
        ("Crawl-delay: 4\n" + EVERYONE + "Disallow: /x", None),
    ],
)
def test_the_crawl_delay_is_that_of_the_matching_group(text, seconds):
    assert Robots.from_response(200, text.encode()).crawl_delay(US) == seconds


def test_sitemaps_belong_to_no_user_agent():
    text = "Sitemap: https://example.com/a.xml\nUser-agent: x\nsitemap:https://example.com/b.xml\nDisallow: /\n"
    text += "Sitemap: https://example.com/a.xml\nSitemap:\n"
    robots = Robots.from_response(200, text.encode())
    assert robots.sitemaps == ("https://example.com/a.xml", "https://example.com/b.xml")
    assert Robots.open().sitemaps == ()


def test_many_stars_stay_cheap():
    text = EVERYONE + "Disallow: /" + "*a" * 200 + "$\n"
    assert allowed(text, "/" + "a" * 4000 + "b")
    assert not allowed(text, "/" + "a" * 4000)


@given(st.binary(max_size=400))
def test_any_bytes_are_read(body):
    robots = Robots.from_response(200, body)
    assert robots.allows(US, "http://example.com/a?b") in (True, False)
    delay = robots.crawl_delay(US)
    assert delay is None or delay >= 0


@given(st.text(alphabet="ab*$", max_size=8), st.text(alphabet="ab", max_size=8))
def test_a_rule_matches_the_same_paths_as_its_expression(pattern, path):
    """A rule agrees with the plain definition: a star matches any text, a last dollar matches the end."""
    reach = {0}
    url = f"/{path}"
    for sign in "/" + pattern.removesuffix("$"):
        if sign == "*":
            reach = set(range(min(reach, default=len(url) + 1), len(url) + 1))
        else:
            reach = {at + 1 for at in reach if at < len(url) and url[at] == sign}
    matches = (len(url) in reach) if pattern.endswith("$") else bool(reach)
    assert allowed(f"{EVERYONE}Disallow: /{pattern}", url) is not matches


STAR = None
SIGNS = [("a", "a"), ("%61", "a"), ("b", "b"), ("/", "/"), ("$", "%24"), ("%24", "%24"), ("%2a", "%2A")]
SIGNS += [("é", "%C3%A9"), ("%c3%A9", "%C3%A9"), ("%2F", "%2F"), ("~", "~"), ("%7e", "~")]
PATHS = st.lists(st.sampled_from([*SIGNS, ("*", "%2A")]), max_size=6)
PATTERNS = st.tuples(
    st.lists(st.sampled_from([*SIGNS, ("*", STAR), ("*", STAR)]), max_size=6), st.sampled_from(["", "", "$"])
)
"""Each sign as it is written and as it is compared."""


def written(signs: list[tuple[str, str | None]]) -> str:
    return "/" + "".join(spelling for spelling, _ in signs)


def judged(rules: list[tuple[bool, tuple[list[tuple[str, str | None]], str]]], path: list[tuple[str, str]]) -> bool:
    """Judge a path by the text of RFC 9309 alone: the matching rule with the most octets, Allow before Disallow."""
    compared = "/" + "".join(sign for _, sign in path)
    best = (-1, True)
    for allow, (signs, end) in rules:
        if not end and signs and signs[-1][0] == "$":
            signs, end = signs[:-1], "$"
        expression = "/" + "".join(".*" if sign is STAR else re.escape(sign) for _, sign in signs)
        if re.match(expression + (r"\Z" if end else ""), compared):
            length = 1 + sum(1 if sign is STAR else len(sign) for _, sign in signs) + len(end)
            best = max(best, (length, allow))
    return best[1]


@settings(max_examples=1500, deadline=None)
@given(st.lists(st.tuples(st.booleans(), PATTERNS), min_size=1, max_size=5), PATHS, st.booleans())
@pytest.mark.slow(reason="1,500 examples")
def test_a_group_judges_as_the_rfc_does(rules, path, among_them):
    if among_them:  # a rule that is equal to the path is the case that is easily overlooked
        rules.append((True, ([(sign.replace("*", "%2A"), seen) for sign, seen in path], "")))
        rules.append((False, ([("a", "a")] * 9, "")))
    lines = [f"{'Allow' if allow else 'Disallow'}: {written(signs)}{end}" for allow, (signs, end) in rules]
    assert allowed("\n".join(["User-agent: *", *lines]), written(path)) is judged(rules, path)
