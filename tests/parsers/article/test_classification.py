"""Kinds of content, by the tables of the contract."""

import json

import pytest

from longline.parsers.article.classification import (
    PageTypeFeatures,
    article_score,
    bucket,
    detected_type,
    page_type,
    skip_reason,
)
from longline.plugins import Page


def detected(url: str, markup: str = "", patterns: tuple[str, ...] = ()) -> str | None:
    return detected_type(Page(f"https://n.example{url}", markup.encode()), patterns)


def ld(*kinds: str) -> str:
    return f'<script type="application/ld+json">{json.dumps([{"@type": kind, "name": "x"} for kind in kinds])}</script>'


@pytest.mark.parametrize(
    ("kind", "found"),
    [
        ("NewsArticle", "article"),
        ("Article", "article"),
        ("BlogPosting", "blog_post"),
        ("PressRelease", "press_release"),
        ("Event", "event"),
        ("SpecialAnnouncement", "advisory"),
        ("Report", "report"),
        ("Product", None),
    ],
)
def test_by_json_ld(kind, found):
    assert detected("/", ld(kind)) == found
    assert detected("/jobs/x", ld("WebPage", kind)) == (found or "job")


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("/press/x", "press_release"),
        ("/newsroom/x", "press_release"),
        ("/events/x", "event"),
        ("/calendar/", "event"),
        ("/alerts/1", "advisory"),
        ("/bulletin/1", "advisory"),
        ("/reports/1", "report"),
        ("/files/a.pdf", "report"),
        ("/blotter/1", "blotter"),
        ("/updates/1", "company_announcement"),
        ("/obits/1", "obituary"),
        ("/food/soup", "recipe"),
        ("/careers/1", "job"),
        ("/tenders/1", "rfp"),
        ("/press", None),
        ("/expressway/x", None),
    ],
)
def test_by_path(path, found):
    assert detected(path) == found


@pytest.mark.parametrize(
    ("path", "is_content"),
    [
        ("/2024/05/01/storm", True),
        ("/2024/05/storm", True),
        ("/2024/05/", False),
        ("/news/storm", True),
        ("/news/", False),
        ("/storm-hits-the-coast", True),
        ("/storm-hits-the-coast.html", True),
        ("/der-sturm-trifft-die-k%C3%BCste", True),
        ("/storm-hits-coast", False),
        ("/storm-hits-coast.html", False),
        ("/tag/storm-hits-the-coast", False),
        ("/category/2024/05/01/storm", False),
        ("/storm-hits-the-coast.jpg", False),
        ("/", False),
    ],
)
def test_by_the_looks_of_the_url(path, is_content):
    assert detected(path) == ("article" if is_content else None)


def test_og_type_and_patterns():
    og = "<meta property=og:type content=Article>"
    assert detected("/x", og) == "article"
    assert detected("/tag/x", og) == "article"
    assert detected("/x", patterns=("^https://n.example/x$",)) == "article"
    # patterns replace the looks, and one that is none fits nothing
    assert detected("/news/storm", patterns=("/story/", "(")) is None


def figures(**changed: object) -> PageTypeFeatures:
    given = {"title": "", "words": 100, "markup": "", "links": 0, "schema_type": "", "og_type": "", "detected": None}
    return PageTypeFeatures(**(given | changed))  # type: ignore[arg-type]  # a table of any of them


@pytest.mark.parametrize(
    ("changed", "kind"),
    [
        ({"schema_type": "NewsArticle"}, "article"),
        ({"schema_type": "Report"}, "other"),
        ({"og_type": "article"}, "other"),
        ({"og_type": "article", "markup": "<time datetime=x>"}, "article"),
        ({"detected": "article", "markup": "<article>"}, "article"),
        ({"detected": "event", "markup": "<article>"}, "other"),
        ({"title": "x", "words": 200}, "article"),
        ({"title": "x", "words": 199}, "other"),
        ({"words": 500}, "other"),
        ({"links": 20, "words": 199}, "listing"),
        ({"links": 20, "words": 200}, "other"),
        ({"links": 19, "words": 10}, "other"),
        ({"title": "x", "words": 49}, "stub"),
        ({"title": "x", "words": 50}, "other"),
        ({"words": 49}, "other"),
        # a door to sign in at, and an article that only speaks of one
        ({"schema_type": "Article", "markup": "<b>Sign in</b>", "words": 199}, "other"),
        ({"schema_type": "Article", "markup": "<b>Log in to comment</b>", "words": 200}, "article"),
    ],
)
def test_page_types(changed, kind):
    assert page_type(figures(**changed)) == kind


def test_the_score_is_a_sum():
    everything = figures(
        title="x", words=200, markup="<ARTICLE><time datetime=x>", schema_type="Article", og_type="article"
    )
    assert article_score(everything) == 5 + 3 + 2 + 1 + 4
    assert article_score(figures(detected="article")) == 3


def test_the_gate_and_the_buckets():
    assert [skip_reason("x", words) for words in (0, 49, 50)] == ["quality_gate", "quality_gate", None]
    assert skip_reason("", 50) is None
    assert [bucket(words) for words in (0, 49, 50, 99, 199, 499, 999, 1999, 2000)] == [
        *("<50", "<50", "<100", "<100", "<200", "<500", "<1000", "<2000", ">=2000")
    ]


def test_of_several_types_the_first_of_the_table_counts():
    markup = '<script type="application/ld+json">{"@type": ["Report", "BlogPosting", "Article"], "name": "x"}</script>'
    assert detected("/", markup) == "article"
