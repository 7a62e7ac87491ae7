"""The generic extension: series and chapters by CSS selectors."""

from typing import Any

import pytest

from longline.model.errors import BadInput
from longline.parsers.series import NAME, SelectorExtension
from longline.plugins import Item, Links, Page
from longline.plugins.extension import EXTENSION_ATTRIBUTE

SELECTORS = {
    "series": {"container": "li", "id": "a@data-id", "title": "a", "url": "a@href", "cover": "img@src", "year": "i"},
    "list": {"container": "nav"},
    "chapter": {"container": "li", "number": "b", "language": "i", "title": "a"},
    "pages": {"container": "ul"},
}


def page(html: str, selectors: Any = SELECTORS, **more: Any) -> Page:
    config = {"config": {"selectors": selectors}} | more
    return Page("https://site.example/list", html.encode(), config=config)


def results(found: Any) -> tuple[list[Item], list[str]]:
    made = list(found)
    return [one for one in made if isinstance(one, Item)], [
        url for one in made if isinstance(one, Links) for url in one.urls
    ]


def test_series_of_a_list():
    html = (
        "<ul><li><a data-id=c1 href=/c/1>One</a><img src=1.jpg><i>1999</i></li><li><a href=/c/2>No id</a></li></ul>"
        "<nav><a href=/list?page=2>2</a></nav><a href=/elsewhere>x</a>"
    )
    items, links = results(SelectorExtension.discover(page(html)))
    assert [(item.key, item.fields) for item in items] == [
        (
            "c1",
            {
                "title": "One",
                "link": "https://site.example/c/1",
                "cover": "https://site.example/1.jpg",
                "year": "1999",
            },
        )
    ]
    assert links == ["https://site.example/list?page=2"]


def test_chapters_of_a_series():
    html = "<ul><li><b>1</b><i>en</i><a href=/r/1>First</a></li><li><b></b></li></ul>"
    items, links = results(SelectorExtension.crawl(page(html, series="s7")))
    assert [(item.key, item.fields["title"]) for item in items] == [(("s7", "1", "en", ""), "First")]
    assert links == ["https://site.example/r/1"]


def test_without_a_group_of_links_none_is_followed():
    items, links = results(SelectorExtension.discover(page("<a href=/x>x</a>", {"series": {"id": "a"}})))
    assert (items, links) == ([], [])


@pytest.mark.parametrize("config", [{}, {"selectors": []}, {"selectors": {"series": {"id": "a", "title": "b"}}}])
def test_a_config_without_selectors_of_series_is_refused(config: dict[str, Any]):
    with pytest.raises(BadInput, match=NAME):
        getattr(SelectorExtension, EXTENSION_ATTRIBUTE).check(config)


def test_a_whole_config_is_accepted():
    getattr(SelectorExtension, EXTENSION_ATTRIBUTE).check({"selectors": SELECTORS})
