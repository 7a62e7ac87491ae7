"""The document of an article: its text is never worse than the library's."""

import json
from collections import Counter
from hashlib import sha256
from pathlib import Path
from typing import Any, NoReturn

import pytest
import trafilatura

from longline.parsers.article import article as built_in
from longline.parsers.article.article import document
from longline.plugins import Item, Links, Page, Refused
from longline.plugins.registry import Registry

PAGES = Path(__file__).parent / "pages"
HERE = "https://n.example/2024/05/01/lines-and-hooks"
WORDS = "A line that carries hooks is set at dusk and hauled at dawn by people who know the sea. "
STORY = "".join(f"<p>On day {day}: {WORDS * 4}</p>" for day in ("one", "two", "three", "four"))


def page(markup: str, url: str = HERE, headers: tuple[tuple[str, str], ...] = (), **config: Any) -> Page:
    return Page(url, markup.encode(), headers=headers, content_type="text/html; charset=utf-8", config=config)


def fields(markup: str, **config: Any) -> dict[str, Any]:
    return document(page(markup, **config)).fields


LD = {
    "@context": "https://schema.org",
    "@graph": [
        {
            "@type": ["NewsArticle"],
            "headline": "Lines, by LD",
            "author": {"name": "LD Author"},
            "datePublished": "2024-05-02",
            "articleSection": "Sea",
        }
    ],
}
FULL = f"""<html><head><title>Lines, by title</title><meta name=description content="About lines">
<meta name=keywords content="a, b"><meta name=author content="Meta Author"><meta property=og:type content=article>
<meta property=og:title content="Lines, by OG"><meta property=og:image content=https://n.example/i.jpg>
<meta property=og:site_name content=News><meta name=twitter:card content=summary>
<meta property=article:published_time content=2024-05-01T08:00:00Z><link rel=canonical href=/lines>
<script type="application/ld+json">{json.dumps(LD)}</script></head>
<body><nav><a href=/home>Home</a></nav><article><h1>Lines, by h1</h1>{STORY}</article></body></html>"""


def test_a_doctype_with_a_system_identifier_alone_changes_nothing():
    assert fields('<!DOCTYPE html SYSTEM "about:legacy-compat">' + FULL) == fields("<!DOCTYPE html>" + FULL)


def test_the_document():
    got = fields(FULL)
    raw_text, raw_html, data = got.pop("raw_text"), got.pop("raw_html"), got.pop("json_ld_data")
    assert got == {
        "id": sha256(HERE.encode()).hexdigest(),
        "url": HERE,
        "title": "Lines, by LD",
        "meta_description": "About lines",
        "meta_keywords": "a, b",
        "og_type": "article",
        "og_title": "Lines, by OG",
        "og_description": "",
        "og_image": "https://n.example/i.jpg",
        "author": "Meta Author",
        "canonical_url": "https://n.example/lines",
        "article_section": "Sea",
        "published_date": "2024-05-01T08:00:00+00:00",
        "word_count": len(raw_text.split()),
        "meta": {
            "page_type": "article",
            "detected_content_type": "article",
            "twitter_card": "summary",
            "og_site_name": "News",
        },
    }
    assert raw_text.count("hauled at dawn") == 16
    assert "Home" not in raw_text
    assert raw_html.startswith("<article>")
    assert data["jsonld_schema_type"] == "NewsArticle"


@pytest.mark.parametrize(
    ("head", "title", "author", "date"),
    [
        ("<title>T</title><h1>H</h1>", "T", None, None),
        ("<h1>H</h1><a rel=author>Ann</a><time datetime=2024-01-02>x</time>", "H", "Ann", "2024-01-02"),
        ("<meta property=og:title content=O><title>T</title><p class=byline>By Ann</p>", "O", "By Ann", None),
        ("<p class=post-date>2024-01-03</p><p class=author>Ann</p>", "", "Ann", "2024-01-03"),
        ("<meta property=article:published content='2024-01-04 10:00:00'><title>T</title>", "T", None, "2024-01-04"),
        (
            "<meta property=article:published_time content=soon><time datetime=2024-01-05></time>",
            "",
            None,
            "2024-01-05",
        ),
    ],
)
def test_sources_of_title_author_and_date(head, title, author, date):
    got = fields(head + STORY)
    assert (got["title"], got.get("author"), (got.get("published_date") or "")[:10] or None) == (title, author, date)


def test_the_selectors_of_the_source_come_first():
    mine = {
        "title": "h2",
        "body": ".mine",
        "author": ".who",
        "published_time": ".when",
        "description": "h3",
        "section": "h4",
        "exclude": [".ad"],
    }
    markup = FULL.replace(
        "</body>",
        f"<h2>Mine</h2><h3>About</h3><h4>Part</h4><i class=who>Me</i><i class=when>2020-01-01</i>"
        f"<div class=mine><p class=ad>Buy</p><p>{WORDS * 10}</p></div></body>",
    )
    got = document(page(markup, selectors={"article": mine}))
    f = got.fields
    assert got.method == "selector"
    found = {name: f[name] for name in ("title", "author", "meta_description", "article_section")}
    assert found == {"title": "Mine", "author": "Me", "meta_description": "About", "article_section": "Part"}
    assert f["raw_text"] == (WORDS * 10).strip()
    assert f["published_date"] == "2020-01-01T00:00:00+00:00"


def test_a_page_with_little_text_has_the_text_of_its_markup():
    got = fields(f"<body><div class=content>{WORDS * 4}</div><main>tiny</main>")
    assert (got["raw_html"][:21], got["raw_text"]) == ('<div class="content">', (WORDS * 4).strip())


def test_excluded_elements_are_in_no_text_by_any_method():
    markup = f"<article>{STORY}<div class=extra><p>Buy this now. {WORDS * 5}</p></div></article>"
    for more in ({}, {"title": "h1"}, {"body": "article"}, {"container": "article"}):
        got = fields(markup, selectors={"article": {"exclude": [".extra"], **more}})
        assert ("Buy this" in got["raw_text"], "Buy this" in got["raw_html"]) == (False, False), more
    assert "Buy this" in fields(markup)["raw_text"]


def test_a_selector_that_finds_little_text_is_used_unless_the_fallback_is_on():
    mine = {"article": {"body": "h1"}}
    got = document(page(FULL, selectors=mine))
    assert (got.method, got.skipped, got.fields["raw_text"]) == ("selector", "quality_gate", "Lines, by h1")
    got = document(page(FULL, selectors=mine, readability=True))
    assert (got.method, got.skipped) == ("readability", None)
    assert got.fields["word_count"] > 200


@pytest.mark.parametrize(
    ("markup", "url", "skipped"),
    [
        (STORY, HERE, None),
        (STORY, "https://n.example/", "page_type"),
        ("<p>few words</p>", HERE, "quality_gate"),
        ("", HERE, "quality_gate"),
        (f"<meta name=robots content=noindex>{STORY}", HERE, "noindex"),
    ],
)
def test_reasons_for_an_article_that_is_not_indexed(markup, url, skipped):
    assert document(page(markup, url)).skipped == skipped


@pytest.mark.parametrize("url", ["https://n.example/", "https://n.example/p/123", "https://n.example/?p=55"])
def test_an_article_parser_requested_by_name_skips_the_gate_by_type(url: str):
    assert document(page(STORY, url)).skipped == "page_type"
    assert document(page(STORY, url, by_name=True)).skipped is None
    assert document(page("<p>few words</p>", url, by_name=True)).skipped == "quality_gate"


def test_url_patterns_of_the_source_select_articles():
    assert document(page(STORY, "https://n.example/x7", article_url_patterns=["/x[0-9]$"])).skipped is None


async def test_as_a_parser():
    registry = Registry(built_in)
    assert registry.parser_for(Page(HERE, b"", content_type="text/html")) is None
    marked = registry.named("article")
    assert marked
    made = [one async for one in marked.parse(page(FULL))]
    assert Links(["https://n.example/lines", "https://n.example/home"]) in made
    counted, indexed = [one for one in made if isinstance(one, Item)]
    reading = {"method": "template", "words": "<500", "type": "article", "skipped": None}
    assert counted == Item("extraction", url=HERE, title="Lines, by LD", **reading)
    assert (indexed.kind, indexed.fields["title"]) == ("article", "Lines, by LD")
    short = page("<title>T</title><a href=/a>a</a>")
    links, read, refused = [one async for one in marked.parse(short)]
    reading = {"method": "heuristic", "words": "<50", "type": "stub", "skipped": "quality_gate"}
    assert (links, read) == (Links(["https://n.example/a"]), Item("extraction", url=HERE, title="T", **reading))
    assert refused == Refused("quality_gate")


@pytest.mark.parametrize(
    ("markup", "url", "reason"),
    [(STORY, "https://n.example/", "page_type"), (f"<meta name=robots content=noindex>{STORY}", HERE, "noindex")],
)
async def test_a_refused_page_costs_no_extraction(markup, url, reason, monkeypatch):
    def never(*_: object, **__: object) -> NoReturn:
        raise AssertionError("the page was read")

    for name in ("extract", "document", "_content"):
        monkeypatch.setattr(built_in, name, never)
    monkeypatch.setattr(Page, "article", never)
    marked = Registry(built_in).named("article")
    assert marked
    made = [one async for one in marked.parse(page(f"{markup}<title>T</title><a href=/a>a</a>", url))]
    counted = Item("extraction", url=url, title="T", skipped=reason)
    assert made == [Links(["https://n.example/a"]), counted, Refused(reason)]


def f1(text: str, expected: str) -> float:
    """Return the F1 score of the words of a text against the expected words."""
    got, wanted = Counter(text.split()), Counter(expected.split())
    common = (got & wanted).total()
    return 2 * common / max(got.total() + wanted.total(), 1)


@pytest.mark.parametrize("name", sorted(path.stem for path in PAGES.glob("*.html")))
def test_the_text_is_never_worse_than_the_library_alone(name, record_property):
    body = (PAGES / f"{name}.html").read_bytes()
    expected = (PAGES / f"{name}.txt").read_text(encoding="utf-8")
    alone = f1(trafilatura.extract(body, fast=True) or "", expected)
    there = Page(f"https://n.example/2024/05/{name}", body, content_type="text/html")
    for ours in (f1(there.article(), expected), f1(document(there).fields["raw_text"], expected)):
        print(f"{name}: ours {ours:.3f}, the library alone {alone:.3f}")
        assert ours >= alone
        assert ours > 0.8
