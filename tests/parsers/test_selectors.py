"""Items by selectors of a config."""

from typing import Any

from longline.parsers import selectors as built_in
from longline.plugins import Item, Links, Page
from longline.plugins.parser import Made
from longline.plugins.registry import Registry

MARKUP = b"""<h1> A  title </h1><ul><li class=card><a href=/1><b>One</b></a><img src=1.png></li>
<li class=card><a href=/2><b>Two</b></a></li><li class=ad><a href=/ad>Ad</a></li></ul><a href=/else>else</a>"""


async def made(**groups: Any) -> list[Made]:
    marked = Registry(built_in).named("selectors")
    assert marked
    page = Page("https://n.example/x", MARKUP, config={"selectors": groups})
    return [one async for one in marked.parse(page)]


async def items(**groups: Any) -> list[Item]:
    return [one for one in await made(**groups) if isinstance(one, Item)]


async def test_a_field_for_each_selector():
    assert await items(page={"title": "h1", "none": ".none", "bad": "(("}) == [
        Item("page", url="https://n.example/x", title="A title")
    ]


async def test_an_item_for_each_container():
    assert await items(card={"container": ".card", "name": "b", "link": "a@href", "image": "img@src"}) == [
        Item("card", url="https://n.example/x", name="One", link="/1", image="1.png"),
        Item("card", url="https://n.example/x", name="Two", link="/2"),
    ]
    assert len(await items(article={"container": "li", "name": "b"})) == 1


async def test_a_list_of_selectors_finds_all():
    assert (await items(page={"all": ["li b", "h1", "img@src"], "exclude": [".ad"]}))[0].fields["all"] == [
        *("One", "Two", "A title", "1.png")
    ]


async def test_links_of_the_list_alone():
    listed = Links(["https://n.example/1", "https://n.example/2"])
    assert await made(list={"container": "ul", "exclude_from_list": [".ad"]}) == [listed]
    (every,) = await made()
    assert isinstance(every, Links)
    assert len(every.urls) == 4


async def test_a_config_of_another_shape_finds_nothing():
    assert await items(page="h1", other=5) == []
