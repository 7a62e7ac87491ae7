"""Type of a document by its first bytes: the Content-Type of XML is often wrong."""

import re

SNIFFED_BYTES = 8192
"""Bytes of a document in which its root element must begin."""

# One step at a time: one pattern for all of them could backtrack in many ways, and Python before 3.11.4 has a bug in
# possessive quantifiers.
_BEFORE_ROOT = re.compile(
    rb"\s+|<\?.*?(?:\?>|\Z)|<!--.*?(?:-->|\Z)|<![a-z](?:[^\[<>]|<(?!/)[^<>]*>|\[[^\]]*\])*>",
    re.DOTALL | re.IGNORECASE,
)
_ROOT = re.compile(rb"<(?:[\w.-]+:)?(?P<name>[\w.-]+)")

# Nearly every page is HTML, and every page is checked.
_HTML = re.compile(rb"\s*+<(?:!doctype\s++)?html\b", re.IGNORECASE)
_JSON = re.compile(rb"(?:\xef\xbb\xbf)?[ \t\r\n]*+\{")


def root_of(body: bytes) -> str:
    """Return the name of the first element, without its prefix and in lower case; empty without an element."""
    if _HTML.match(body):
        return "html"
    # Names are ASCII in any encoding of Unicode, once the zero bytes of UTF-16 are removed.
    start = body[:SNIFFED_BYTES].replace(b"\0", b"").lstrip(b"\xef\xbb\xbf\xff\xfe")
    at = 0
    while skipped := _BEFORE_ROOT.match(start, at):
        at = skipped.end()
    found = _ROOT.match(start, at)
    return found["name"].decode("ascii", "replace").lower() if found else ""


def is_json(body: bytes) -> bool:
    """Return whether a document begins as a JSON object does."""
    return _JSON.match(body) is not None
