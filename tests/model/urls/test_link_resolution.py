"""Links of a page: joined, each once."""

import ada_url
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longline.model.urls.link_resolution import join, join_all
from longline.model.urls.normalization import interval_form
from longline.model.urls.url import parse


@pytest.mark.parametrize("base", ["http://xn--a.com/dir/", "http://xn--mller-kva.de/dir/", "http://faẞ.de/dir/"])
def test_links_of_a_page_on_a_host_with_an_invalid_or_rare_label_are_resolved(base):
    home = parse(base).href
    hrefs = ["x", "/é", "../~u", "http://xn--a.com/", "mailto:a@b", "//fass.de/y", "http://[", " z #a", "x#b"]
    wanted = [f"{home}x", home.replace("dir/", "%C3%A9"), home.replace("dir/", "~u"), "http://xn--a.com/"]
    assert join_all(base, hrefs) == [*wanted, "http://fass.de/y", f"{home}z%20"]
    assert interval_form(base) == home.replace("http:", "https:").rstrip("/")


@pytest.mark.parametrize(
    "href",
    ["/é/xn--a", "é", "?q=xn--a%20", "a--b/c%41", "//example.com/é", "https://example.com/a--b%20é", "/\t/xn--a.com/"],
)
def test_join_agrees_with_the_reference_where_no_host_is_international(href):
    for base in ("https://example.com/a/b?q", "https://xn--mller-kva.de/a/b?q"):
        assert join(base, href) == ada_url.join_url(base, href)


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


def test_a_base_that_is_no_url_gives_no_links():
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
