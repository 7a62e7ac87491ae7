"""The main text of a page, without menus, teasers and comments."""

import logging
from collections.abc import Sequence
from importlib import import_module

from selectolax.lexbor import LexborHTMLParser, LexborNode

from longline.html.parse_cost import TooComplex, check_parse_cost
from longline.html.tree_copy import copy_tree

_ELEMENTS_WITHOUT_MAIN_TEXT = ("script", "style", "noscript", "template", "nav", "header", "footer", "aside", "form")
_BLOCKS = "p, div, br, h1, h2, h3, h4, h5, h6, li, dt, dd, tr, td, th, pre, blockquote, section, figcaption"

# The library warns of every page without text, which is common in a crawl.
logging.getLogger("trafilatura").setLevel(logging.CRITICAL)


def main_text(markup: str) -> str:
    """Return the main text found by trafilatura, a line for each paragraph; empty if it finds none or is missing."""
    try:
        # Imported on first use: the import takes longer than all of Longline's, and most processes never need it.
        library = import_module("trafilatura")
        text: str = library.extract(markup, fast=True, include_comments=False) or ""
    except Exception:  # third-party heuristics on arbitrary markup: any exception means no text
        return ""
    return text


def with_whole_blocks(text: str, blocks: str) -> str:
    """Return a text, whose lines the library breaks at bold words, with the lines of `blocks` that have its words."""
    wanted = {_squeezed(block): block for block in blocks.split("\n")}
    longest, lines, rest = max(map(len, wanted)), [], text.split("\n")
    while rest:
        taken, joined = 1, ""
        for number, line in enumerate(rest, 1):
            joined += _squeezed(line)
            if len(joined) > longest:
                break
            if joined in wanted:
                taken = number
        lines.append(wanted.get(_squeezed("".join(rest[:taken])), rest[0]))
        del rest[:taken]
    return "\n".join(lines)


def _squeezed(text: str) -> str:
    return "".join(text.split())


def simple_text(tree: LexborHTMLParser, without: Sequence[str] = _ELEMENTS_WITHOUT_MAIN_TEXT) -> str:
    """Return the text of `article`, else of `main`, else of the body, without the elements in `without`."""
    copy = copy_tree(tree)
    copy.strip_tags(list(without))
    node = copy.css_first("article") or copy.css_first("main") or copy.body
    return lines_of(node) if node is not None else ""


def lines_of(node: LexborNode) -> str:
    """Return the text below a node, a line for each block; the node is modified."""
    for block in node.css(_BLOCKS):
        block.insert_before("\n")
        block.insert_after("\n")
    return "\n".join(line for part in node.text().split("\n") if (line := " ".join(part.split())))


def declared_text(body: str) -> str:
    """Return the text of an `articleBody`, a line for each paragraph; some pages put markup into it."""
    if "<" in body and ">" in body:
        markup = body.encode("utf-8", "replace")
        try:
            check_parse_cost(markup)
        except TooComplex:
            return ""
        tree = LexborHTMLParser(markup)
        return lines_of(tree.body) if tree.body is not None else ""
    return "\n".join(line for part in body.splitlines() if (line := " ".join(part.split())))
