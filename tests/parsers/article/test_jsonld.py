"""The JSON-LD of articles: every key has one type."""

from typing import Any

import pytest

from longline.parsers.article.jsonld import find_article, json_ld_data

PUBLISHERS = [
    "The Paper",
    {"@type": "Organization", "name": "The Paper"},
    [{"name": "The Paper"}],
    {"name": {"@value": "The Paper"}},
    {"@list": [{"name": ["The Paper"]}]},
]


@pytest.mark.parametrize("publisher", PUBLISHERS)
def test_a_publisher_in_any_form_is_a_text(publisher):
    data = json_ld_data({"@type": "NewsArticle", "publisher": publisher}, "NewsArticle")
    assert data["jsonld_publisher_name"] == data["jsonld_raw"]["publisher"] == "The Paper"


def test_every_key():
    thing = {
        "@context": {"@vocab": "https://schema.org/"},
        "@type": "Article",
        "headline": "H",
        "description": "D",
        "articleSection": ["A", "B"],
        "author": [{"name": "X"}, "Y"],
        "url": "https://n.example/",
        "image": [{"url": "https://n.example/i.jpg"}],
        "datePublished": "2024-05-01",
        "dateCreated": "yesterday",
        "dateModified": "2024-05-02T10:00:00Z",
        "wordCount": "1,200",
        "keywords": "a, b,",
        "contentLocation": {"name": "Here"},
        "mainEntityOfPage": {"@id": "https://n.example/m"},
    }
    data = json_ld_data(thing, "Article")
    raw = data.pop("jsonld_raw")
    assert data == {
        "jsonld_headline": "H",
        "jsonld_description": "D",
        "jsonld_article_section": "A, B",
        "jsonld_author": "X, Y",
        "jsonld_url": "https://n.example/",
        "jsonld_image_url": "https://n.example/i.jpg",
        "jsonld_date_published": "2024-05-01T00:00:00+00:00",
        "jsonld_date_modified": "2024-05-02T10:00:00+00:00",
        "jsonld_word_count": 1200,
        "jsonld_keywords": ["a", "b"],
        "jsonld_schema_type": "Article",
        "jsonld_location": "Here",
    }
    assert raw["@context"] == "https://schema.org/"
    assert (raw["author"], raw["image"], raw["mainEntityOfPage"], raw["wordCount"]) == (
        *("X, Y", "https://n.example/i.jpg", "https://n.example/m", "1,200"),
    )


def test_events_and_announcements():
    event = {"name": "E", "startDate": "2024-05-01", "location": {"address": {"addressLocality": "Town"}}}
    data = json_ld_data(event, "Event")
    assert (data["jsonld_headline"], data["jsonld_date_published"][:10], data["jsonld_location"]) == (
        *("E", "2024-05-01", "Town"),
    )
    told = json_ld_data({"name": "N", "text": "T", "datePosted": "2024-05-01"}, "SpecialAnnouncement")
    assert (told["jsonld_headline"], told["jsonld_description"], told["jsonld_date_published"][:10]) == (
        *("N", "T", "2024-05-01"),
    )
    assert "jsonld_headline" not in json_ld_data({"name": "N"}, "Article")


def test_the_first_article_is_taken():
    things: list[dict[str, Any]] = [
        {"@type": "WebPage"},
        {"@type": ["Thing", "Article"], "headline": "1"},
        {"@type": "NewsArticle"},
    ]
    assert find_article(things) == (things[1], "Article")
    assert find_article([{"@type": "Product"}]) is None


def test_large_json_ld_is_not_kept_whole():
    data = json_ld_data({"headline": "H", "articleBody": "x" * 200_000}, "Article")
    assert "jsonld_raw" not in data
    assert data["jsonld_headline"] == "H"


@pytest.mark.parametrize(
    ("written", "meant"),
    [(350, 350), (350.0, 350), ("350", 350), ("1,200", 1200), (3e9, None), ("x", None), (-1, None)],
)
def test_a_word_count_is_a_number_that_the_index_can_store(written, meant):
    assert json_ld_data({"wordCount": written}, "Article").get("jsonld_word_count") == meant
