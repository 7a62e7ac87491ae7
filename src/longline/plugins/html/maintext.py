"""The main text of a page: what somebody came to read, without menus, teasers and comments."""

import logging
from collections.abc import Sequence
from importlib import import_module

from selectolax.lexbor import LexborHTMLParser, LexborNode

_NO_TEXT = ("script", "style", "noscript", "template", "nav", "header", "footer", "aside", "form")
_BLOCKS = "p, div, br, h1, h2, h3, h4, h5, h6, li, dt, dd, tr, td, th, pre, blockquote, section, figcaption"

# The library warns of every page without text; that is no news to whoever crawls.
logging.getLogger("trafilatura").setLevel(logging.CRITICAL)


def main_text(markup: str) -> str:
    """What the extraction library takes for the main text, a line for each paragraph; empty if it finds none."""
    # Loaded with the first text that is wanted: it takes longer than all of ours, and most processes never ask for one.
    library = import_module("trafilatura")
    try:
        text: str = library.extract(markup, fast=True, include_comments=False) or ""
    except Exception:  # heuristics of others on markup of others: whatever they raise, there is no text
        return ""
    return text


def simple_text(tree: LexborHTMLParser, without: Sequence[str] = _NO_TEXT) -> str:
    """The text of `article`, else of `main`, else of the body, without what is usually no text."""
    copy = tree.clone()
    copy.strip_tags(list(without))
    node = copy.css_first("article") or copy.css_first("main") or copy.body
    return lines_of(node) if node is not None else ""


def lines_of(node: LexborNode) -> str:
    """The text below a node, a line for each block; the node is changed by it."""
    for block in node.css(_BLOCKS):
        block.insert_before("\n")
        block.insert_after("\n")
    return "\n".join(line for part in node.text().split("\n") if (line := " ".join(part.split())))
