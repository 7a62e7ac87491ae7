"""Hints of names."""

import pytest

from longline.html.article_text.attribute_hints import (
    DECLARED_BODY,
    MAX_NAME_CHARS,
    NAMED_BODY,
    RARELY_TEXT,
    SELDOM_TEXT,
    UNKNOWN,
    hint_of,
)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("comments", RARELY_TEXT),
        ("post__related-list", RARELY_TEXT),
        ("newsletterSignup", RARELY_TEXT),
        ("sidebar", SELDOM_TEXT),
        ("site-footer", SELDOM_TEXT),
        ("article-meta wide", SELDOM_TEXT),
        ("post-content sidebar", SELDOM_TEXT),
        ("my-author-bio-box", SELDOM_TEXT),
        ("sr-only", SELDOM_TEXT),
        ("has-sidebar", UNKNOWN),
        ("is-ad", UNKNOWN),
        ("md:hidden", UNKNOWN),
        ("player-123", UNKNOWN),
        ("plain words here", UNKNOWN),
        ("entry-content", NAMED_BODY),
        ("ArticleBody", NAMED_BODY),
        ("mw-parser-output", NAMED_BODY),
        ("--", UNKNOWN),
        (" ", UNKNOWN),
    ],
)
def test_the_hint_of_a_class_or_an_id(name, hint):
    assert hint_of("div", {"class": name}) == hint
    assert hint_of("div", {"id": name}) == hint


@pytest.mark.parametrize(
    ("tag", "attributes", "hint"),
    [
        ("div", {}, UNKNOWN),
        ("div", {"class": None, "id": None}, UNKNOWN),
        ("footer", {}, RARELY_TEXT),
        ("aside", {}, SELDOM_TEXT),
        ("aside", {"class": "entry-content"}, SELDOM_TEXT),
        ("article", {"class": "comment"}, UNKNOWN),
        ("div", {"hidden": None}, SELDOM_TEXT),
        ("div", {"role": "navigation"}, SELDOM_TEXT),
        ("div", {"style": "color: red; DISPLAY : none"}, SELDOM_TEXT),
        ("div", {"style": "display: block"}, UNKNOWN),
        ("div", {"itemprop": "articleBody"}, DECLARED_BODY),
        ("p", {"itemprop": "articleBody"}, UNKNOWN),
        ("div", {"itemprop": None}, UNKNOWN),
    ],
)
def test_the_hint_of_an_element(tag, attributes, hint):
    assert hint_of(tag, attributes) == hint


def test_the_end_of_a_very_long_name_is_not_read():
    assert hint_of("div", {"class": "x " * MAX_NAME_CHARS + "comments"}) == UNKNOWN
