"""Spellings by which URLs are compared."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longline.model.urls.normalization import dedupe_key, interval_form, percent_normalized
from longline.model.urls.url import BadUrl, parse


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
def test_different_urls_have_different_dedupe_keys(one, other):
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
