"""What a document is, by how it begins: what servers say of XML is often wrong."""

import re

LOOKED_AT = 8192
"""How far into a document its root must stand."""

# One step at a time: in one pattern these could be cut up in many ways, and Python before 3.11.4 gets the possessive
# form of it wrong.
_BEFORE_ROOT = re.compile(
    rb"\s+|<\?.*?(?:\?>|\Z)|<!--.*?(?:-->|\Z)|<![a-z](?:[^\[<>]|<(?!/)[^<>]*>|\[[^\]]*\])*>",
    re.DOTALL | re.IGNORECASE,
)
_ROOT = re.compile(rb"<(?:[\w.-]+:)?(?P<name>[\w.-]+)")

# Nearly every page is one of these, and every page is asked.
_HTML = re.compile(rb"\s*+<(?:!doctype\s++)?html\b", re.IGNORECASE)
_JSON = re.compile(rb"(?:\xef\xbb\xbf)?[ \t\r\n]*+\{")


def root_of(body: bytes) -> str:
    """The name of the first element, without its prefix and in lower case; empty where there is none."""
    if _HTML.match(body):
        return "html"
    # Names are ASCII in any encoding of Unicode, once the zeros between its letters are gone.
    start = body[:LOOKED_AT].replace(b"\0", b"").lstrip(b"\xef\xbb\xbf\xff\xfe")
    at = 0
    while skipped := _BEFORE_ROOT.match(start, at):
        at = skipped.end()
    found = _ROOT.match(start, at)
    return found["name"].decode("ascii", "replace").lower() if found else ""


def is_json(body: bytes) -> bool:
    """Whether a document begins as a JSON object does."""
    return _JSON.match(body) is not None
