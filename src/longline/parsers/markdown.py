"""The parser of pages as Markdown, for readers and language models."""

from collections.abc import Iterator

from longline.plugins import Item, Links, Page, parser


@parser("markdown", match=())
def markdown(page: Page) -> Iterator[Item | Links]:
    """Yield the article of a page as Markdown, unless robots may not index it, and every link to follow."""
    yield Links(page.links())
    text = "" if page.rules.noindex else page.markdown()
    if text:
        yield Item("markdown", title=page.title, url=page.url, text=text)
