"""What somebody who writes a parser imports; the built-in parsers use nothing else."""

from longline.plugins.made import Item, Link, Links
from longline.plugins.page import Page
from longline.plugins.parser import parser

__all__ = ["Item", "Link", "Links", "Page", "parser"]
