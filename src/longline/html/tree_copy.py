"""Copies of parsed pages, for readers that remove or move elements."""

from selectolax.lexbor import LexborHTMLParser, SelectolaxError


def copy_tree(tree: LexborHTMLParser) -> LexborHTMLParser:
    """Return a copy of a parsed page that can be modified without changing the page."""
    try:
        return tree.clone()
    except SelectolaxError:
        # Lexbor cannot copy a doctype with a system identifier alone, such as `SYSTEM "about:legacy-compat"`. Its
        # serialization leaves identifiers out, so the same elements can be parsed again.
        return LexborHTMLParser(tree.html or "")
