"""Pages read from files, and the items and links that a parser yields for them."""

import mimetypes
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import Any

from longline.plugins.page import Page
from longline.plugins.parser import PARSER_ATTRIBUTE, Made, Parser, ParserFunction


def page(
    file: str | PathLike[str],
    url: str = "https://site.test/",
    *,
    content_type: str | None = None,
    config: Mapping[str, Any] = MappingProxyType({}),
) -> Page:
    """Return a file as the page at this URL; `content_type` defaults to the type that the file's name suggests."""
    path = Path(file)
    guessed = content_type or mimetypes.guess_type(path.name)[0] or "text/html"
    return Page(url, path.read_bytes(), content_type=guessed, config=config)


async def parsed(function: ParserFunction, page: Page) -> list[Made]:
    """Return all results that a function marked with `@parser` yields for a page, in order, checked as in a crawl."""
    parser: Parser = getattr(function, PARSER_ATTRIBUTE)
    return [made async for made in parser.parse(page)]
