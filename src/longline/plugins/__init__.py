"""The API of parsers: the decorator, the page, items and links."""

from longline.plugins.page import Page
from longline.plugins.parser import parser
from longline.plugins.results import Item, Link, Links, Refused

__all__ = ["Item", "Link", "Links", "Page", "Refused", "parser"]
