"""The lists of the article parser: links that are never followed, page types that are kept, and lists of sources."""

from typing import Any

import pytest

from longline.model.errors import BadInput
from longline.parsers.article import article as built_in
from longline.parsers.article.config import ArticleConfig
from longline.plugins import Item, Links, Page, Refused
from longline.plugins.parser import Made
from longline.plugins.registry import Registry

WORDS = "A line that carries hooks is set at dusk and hauled at dawn by people who know the sea. "
MARKUP = f"<h1>Lines</h1><article><p>{WORDS * 8}</p></article><a href=/page/2>2</a><a href=/fish/cod>Cod</a>"


@pytest.mark.parametrize(
    ("path", "wanted"),
    [
        ("/2024/05/a-long-story-about-fish", True),
        ("/", True),
        ("/story.html", True),
        ("/loginfo/x", True),
        ("/a.pdf", False),
        ("/a.JPG", False),
        ("/img.png?x=1", False),
        ("/static/x", False),
        ("/wp-content/uploads/x", False),
        ("/assets/x", False),
        ("/news/tag/fish", False),
        ("/search?q=1", False),
        ("/shop", False),
        ("/page/2", False),
        ("/feed/", False),
        ("/About", False),
        ("/Static/x", False),
    ],
)
def test_links_to_pages_without_text_are_never_followed(path: str, wanted: bool):
    url = f"https://news.example{path}"
    followed, refused = ArticleConfig().links([url])
    assert (followed.urls, refused.urls) == (([url], []) if wanted else ([], [url]))


async def made(config: dict[str, Any], url: str = "https://n.example/") -> list[Made]:
    marked = Registry(built_in).named("article")
    assert marked
    page = Page(url, MARKUP.encode(), content_type="text/html", config={"parser": "article", "config": config})
    return [one async for one in marked.parse(page)]


@pytest.mark.parametrize(
    ("config", "followed", "refused"),
    [
        ({}, ["fish/cod"], ["page/2"]),
        ({"never_follow": True}, ["fish/cod"], ["page/2"]),
        ({"never_follow": False}, ["page/2", "fish/cod"], []),
        ({"never_follow": []}, ["page/2", "fish/cod"], []),
        ({"never_follow": ["/fish/"]}, ["page/2"], ["fish/cod"]),
    ],
)
async def test_a_source_may_have_its_own_list_or_none(config: dict[str, Any], followed: list[str], refused: list[str]):
    found = await made(config)
    assert Links([f"https://n.example/{path}" for path in followed]) in found
    left = [one for one in found if isinstance(one, Refused) and one.urls]
    assert left == ([Refused("never_follow", [f"https://n.example/{path}" for path in refused])] if refused else [])


@pytest.mark.parametrize(
    ("config", "url", "document"),
    [
        ({}, "https://n.example/", False),
        ({"page_types": False}, "https://n.example/", True),
        ({}, "https://n.example/events/x", True),
        ({"page_types": ["article"]}, "https://n.example/events/x", False),
        ({"page_types": ["article", "event"]}, "https://n.example/events/x", True),
        ({"page_types": []}, "https://n.example/events/x", False),
    ],
)
async def test_a_source_may_have_its_own_types_or_no_gate(config: dict[str, Any], url: str, document: bool):
    found = await made(config, url)
    assert ("article" in [one.kind for one in found if isinstance(one, Item)]) is document
    assert (Refused("page_type") in found) is not document


@pytest.mark.parametrize(
    ("config", "error"),
    [
        ({"never_folow": []}, "has no key 'never_folow'; its keys are never_follow, page_types"),
        ({"never_follow": ["("]}, "never_follow: bad pattern"),
        ({"never_follow": 5}, "never_follow: expected"),
        ({"page_types": ["shop"]}, "page_types: there is no type 'shop'; there are article, blog_post"),
    ],
)
def test_a_config_that_is_not_valid_is_refused(config: dict[str, Any], error: str):
    with pytest.raises(BadInput, match=error):
        Registry(built_in).check("article", config)
