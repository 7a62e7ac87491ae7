"""What somebody who writes a parser imports; the built-in parsers use nothing else."""

from longline.plugins.page import Page
from longline.plugins.parser import parser
from longline.plugins.results import Item, Link, Links

__all__ = ["Item", "Link", "Links", "Page", "parser"]
