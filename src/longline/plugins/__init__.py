"""The API of parsers: the decorator, the page, items and links."""

from longline.plugins.page import Page
from longline.plugins.parser import parser
from longline.plugins.results import Item, Link, Links

__all__ = ["Item", "Link", "Links", "Page", "parser"]
