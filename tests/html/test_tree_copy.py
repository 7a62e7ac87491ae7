"""Copies of parsed pages."""

import pytest
from selectolax.lexbor import LexborHTMLParser

from longline.html.tree_copy import copy_tree

DOCTYPES = (
    "",
    "<!DOCTYPE html>",
    '<!DOCTYPE html SYSTEM "about:legacy-compat">',
    '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-strict.dtd">',
)
BODY = "<title>A &amp; B</title><p>first</p><table><td>cell</table><script>if (a < b) c()</script>"


@pytest.mark.parametrize("doctype", DOCTYPES)
def test_a_copy_has_the_elements_of_the_page_with_any_doctype(doctype: str):
    tree = LexborHTMLParser(doctype + BODY)
    copy = copy_tree(tree)
    assert copy.root is not None
    assert tree.root is not None
    assert copy.root.html == tree.root.html


@pytest.mark.parametrize("doctype", DOCTYPES)
def test_a_changed_copy_leaves_the_page_alone(doctype: str):
    tree = LexborHTMLParser(doctype + BODY)
    copy = copy_tree(tree)
    copy.strip_tags(["p"])
    assert copy.css_first("p") is None
    assert tree.css_first("p") is not None
