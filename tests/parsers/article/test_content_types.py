"""Kinds of content, by the tables of the contract."""

import json

import pytest

from longline.parsers.article.content_types import detected_type
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
def test_by_the_shape_of_the_url(path, is_content):
    assert detected(path) == ("article" if is_content else None)


def test_og_type_and_patterns():
    og = "<meta property=og:type content=Article>"
    assert detected("/x", og) == "article"
    assert detected("/tag/x", og) == "article"
    assert detected("/x", patterns=("^https://n.example/x$",)) == "article"
    # patterns replace the shape of the URL, and an invalid one matches nothing
    assert detected("/news/storm", patterns=("/story/", "(")) is None


def test_of_several_types_the_first_of_the_table_counts():
    markup = '<script type="application/ld+json">{"@type": ["Report", "BlogPosting", "Article"], "name": "x"}</script>'
    assert detected("/", markup) == "article"
