"""The parser of pages as Markdown."""

from longline.parsers import markdown as built_in
from longline.plugins import Item, Links, Page
from longline.plugins.registry import Registry

STORY = "<p>" + "The line is set at dusk and hauled at dawn. " * 9 + "</p>"


async def parsed(markup: str) -> list[object]:
    marked = Registry(built_in).named("markdown")
    assert marked is not None
    page = Page("https://n.example/a", markup.encode(), content_type="text/html; charset=utf-8")
    return [one async for one in marked.parse(page)]


async def test_an_item_has_the_markdown_of_the_page():
    links, item = await parsed(f"<title>T</title><h1>Lines</h1>{STORY}<a href=/b>b</a>")
    assert links == Links(["https://n.example/b"])
    assert isinstance(item, Item)
    assert (item.kind, item.fields["title"], item.fields["url"]) == ("markdown", "T", "https://n.example/a")
    assert item.fields["text"].startswith("# Lines\n\nThe line is set at dusk")


async def test_pages_without_text_and_pages_not_to_be_indexed_make_no_item():
    assert await parsed("") == [Links([])]
    assert await parsed(f"<meta name=robots content=noindex>{STORY}") == [Links([])]
