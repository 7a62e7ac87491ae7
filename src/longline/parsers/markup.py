"""Conversion of HTML embedded in another document: to plain text, or to HTML with absolute URLs and no scripts."""

import re
from html import unescape

from selectolax.lexbor import LexborHTMLParser, LexborNode

from longline.html.parse_cost import check_parse_cost
from longline.model.errors import LonglineError
from longline.model.urls.link_resolution import join

_TAG_OR_REFERENCE = re.compile(r"<[a-zA-Z/!]|&[#\w]")
# Most markup needs no change, and stays exactly as written.
_NEEDS_CHANGE = re.compile(
    r"<\s*(?:script|style|iframe|object|embed|applet|param|base|meta|link|form)\b|script\s*:"
    # A slash or a quote may stand before an attribute in place of a space.
    r"|[\s/\"':](?:on\w+|style|href|src|cite|poster|action|formaction)\s*=",
    re.IGNORECASE,
)
_ACTIVE = ["script", "style", "iframe", "embed", "param", "base", "meta", "link"]
_AROUND_TEXT = ["object", "applet", "form"]
"""Active elements with visible content: in a form always, in an object as its fallback."""

_INVISIBLE = ["script", "style", "template"]
_SPACES = re.compile(r"[ \t\r\n\f]+")
_KEPT_URL_ATTRIBUTES = ("href", "src", "cite", "poster")
_URL_ATTRIBUTES = (*_KEPT_URL_ATTRIBUTES, "xlink:href", "action", "formaction")


def plain_text(markup: str) -> str:
    """Return the visible text on one line."""
    if _TAG_OR_REFERENCE.search(markup):
        tree = _tree(markup)
        markup = _visible_text(tree) if tree else unescape(markup)
    return one_line(markup)


def _visible_text(tree: LexborHTMLParser) -> str:
    tree.strip_tags(_INVISIBLE)
    return tree.body.text() if tree.body else ""


def one_line(text: str) -> str:
    """Return the text without line breaks and runs of spaces; other white space, such as no-break spaces, stays."""
    return _SPACES.sub(" ", text).strip(" ")


def sanitized(markup: str, base: str) -> str:
    """Return the markup with absolute links, and without scripts and other active content."""
    if not _NEEDS_CHANGE.search(markup):
        return markup
    tree = _tree(markup)
    if tree is None:
        return ""
    for active in tree.css(", ".join(_ACTIVE)):
        active.decompose()
    tree.unwrap_tags(_AROUND_TEXT)
    for node in tree.css("*"):
        _sanitize(node, base)
    return (tree.body.inner_html or "") if tree.body else ""


def _tree(markup: str) -> LexborHTMLParser | None:
    octets = markup.encode("utf-8", "replace")
    try:
        check_parse_cost(octets)
        return LexborHTMLParser(b"<body>" + octets)
    except (LonglineError, ValueError):
        return None


def _sanitize(node: LexborNode, base: str) -> None:
    for name, value in list(node.attributes.items()):
        if name.startswith("on") or name == "style":
            del node.attrs[name]
        elif value is not None and name in _URL_ATTRIBUTES:
            whole = join(base, value) if name in _KEPT_URL_ATTRIBUTES and value.strip() else None
            if whole is not None:
                node.attrs[name] = whole
            elif "script:" in "".join(value.split()).lower():
                del node.attrs[name]
