"""The API of parsers: the decorators, the page, items and links."""

from longline.model.sinks.sink import ItemRefused, SinkItem
from longline.plugins.extension import chapter, extension, series
from longline.plugins.page import Page
from longline.plugins.parser import parser
from longline.plugins.results import Child, Item, Link, Links, Refused
from longline.plugins.session import LoginFailed, Session, session
from longline.plugins.sink import sink

__all__ = [
    "Child",
    "Item",
    "ItemRefused",
    "Link",
    "Links",
    "LoginFailed",
    "Page",
    "Refused",
    "Session",
    "SinkItem",
    "chapter",
    "extension",
    "parser",
    "series",
    "session",
    "sink",
]
