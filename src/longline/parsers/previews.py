"""The parser of previews, used only by name: the facts of a page that somebody wants to see before it is crawled."""

from collections.abc import Iterator

from longline.html.page_text import simple_text
from longline.plugins import Item, Page, parser
from longline.plugins.feed_links import feed_links

_WITHOUT_TEXT = ("script", "style", "nav", "header", "footer")
_OPEN_GRAPH = ("title", "description", "image", "type", "url", "site_name")


@parser("page_preview", match=())
def page_preview(page: Page) -> Iterator[Item]:
    """Yield the title, the text, the metadata and the feeds of a page as one item."""
    yield Item(
        "page_preview",
        title=page.title,
        text=simple_text(page.tree, _WITHOUT_TEXT),
        author=_meta(page, 'meta[name="author"]'),
        description=_meta(page, 'meta[name="description"]'),
        open_graph={name: text for name in _OPEN_GRAPH if (text := _meta(page, f'meta[property="og:{name}"]'))},
        feeds=feed_links(page),
    )


def _meta(page: Page, selector: str) -> str:
    return next((text for node in page.css(selector) if (text := node.attributes.get("content"))), "")
