"""Decoding by the rules of HTML: byte order mark, header, declaration in the page, and only then a guess.

Names of encodings are those of the Encoding Standard, in lower case.
"""

import codecs
import re
from collections.abc import Iterator
from itertools import islice

from longline.html.encoding_labels import encoding_of
from longline.html.multibyte import DIFFERENT_CHARACTERS, ERROR_HANDLER, decode_codes, has_codes, iso_2022_jp

PRESCAN_BYTES = 1024

MAX_ATTRIBUTES = 10_000
"""Most tags and attributes that are read in search of a `meta`, which stands in the head of a page."""

_BYTE_ORDER_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16le"), (codecs.BOM_UTF16_BE, "utf-16be"))
_HEADER_CHARSET = re.compile(r"(?:^|[;,\s])charset\s*=\s*[\"']?\s*([^\s\"';,]+)", re.IGNORECASE)

_UTF16_XML = ((b"<\0?\0x\0", "utf-16le"), (b"\0<\0?\0x", "utf-16be"))
_XML = re.compile(
    rb"<\?xml(?=[^>]*>)[^>]*?encoding[\x00-\x20]*=[\x00-\x20]*(?:\"([^\"\x00-\x20>]*)\"|'([^'\x00-\x20>]*)')"
)
_META = re.compile(rb"<meta[\t\n\f\r /]", re.IGNORECASE)
# A match ends before the next `meta`, where the next one begins: up to the next ">" the search would be quadratic.
# One character at a time: possessive quantifiers around a lookahead find nothing on Python 3.11.2.
_LATE_META = re.compile(rb"<meta[\t\n\f\r /](?:[^><c]|c(?!harset)|<(?!meta[\t\n\f\r /]))*charset", re.IGNORECASE)
_SCRIPT = re.compile(rb"<script\b", re.IGNORECASE)
_SCRIPT_END = re.compile(rb"</script", re.IGNORECASE)
_TAG = re.compile(rb"</?[a-z][^\t\n\f\r >]*", re.IGNORECASE)
_ATTRIBUTE = re.compile(
    rb"[\t\n\f\r /]*([^\t\n\f\r />][^\t\n\f\r />=]*)"
    rb"(?:[\t\n\f\r ]*=[\t\n\f\r ]*(?:([\"'])(.*?)(?:\2|\Z)|([^\t\n\f\r >]*)))?",
    re.DOTALL,
)
_CONTENT_CHARSET = re.compile(
    rb"charset[\t\n\f\r ]*=[\t\n\f\r ]*(?:\"([^\"]*)\"|'([^']*)'|([^\t\n\f\r ;\"'][^\t\n\f\r ;]*))"
)

# Encodings for which Python has another name, or a smaller character set under the same name.
_CODECS = {
    "utf-16le": "utf-16-le",
    "utf-16be": "utf-16-be",
    "ibm866": "cp866",
    "iso-8859-8-i": "iso8859-8",
    "macintosh": "mac-roman",
    "x-mac-cyrillic": "mac-cyrillic",
    "gbk": "gb18030",
    "big5": "big5hkscs",
    "iso-2022-jp": "iso2022_jp_ext",  # only for encoding
    "shift_jis": "cp932",
    "euc-kr": "cp949",
    "x-user-defined": "latin-1",
}


def charset_of(body: bytes, content_type: str = "") -> tuple[str, int]:
    """Return the encoding of a page, and the length of its byte order mark."""
    for mark, name in _BYTE_ORDER_MARKS:
        if body.startswith(mark):
            return name, len(mark)
    found = _HEADER_CHARSET.search(content_type)
    declared = (encoding_of(found[1]) if found else None) or _prescan(body[:PRESCAN_BYTES]) or _late_declaration(body)
    return declared or _guess(body), 0


def decode(body: bytes, content_type: str = "") -> str:
    """Return the text of a page; bytes that are invalid in its encoding are replaced."""
    name, skip = charset_of(body, content_type)
    return decode_as(name, body[skip:])


def decode_as(name: str, body: bytes) -> str:
    """Decode bytes in one of the standard's encodings."""
    if name == "replacement":  # encodings that were used to smuggle markup past filters: nothing is decoded
        return "\ufffd" if body else ""
    if name == "iso-2022-jp":
        return iso_2022_jp(body)
    if name == "windows-1255":  # Python's codec does not map byte 0xCA
        return "\u05ba".join(piece.decode("cp1255", ERROR_HANDLER) for piece in body.split(b"\xca"))
    if has_codes(name):
        text = decode_codes(name, _codec(name), body)
    else:
        text = body.decode(_codec(name), "replace" if name.startswith("utf") else ERROR_HANDLER)
    return text.translate(DIFFERENT_CHARACTERS[name]) if name in DIFFERENT_CHARACTERS else text


def encode_as(name: str, text: str) -> bytes:
    """Encode a text in one of the standard's encodings; unencodable characters are written as in forms and queries."""
    if name.startswith("utf-16") or name == "replacement":
        name = "utf-8"
    return text.encode(_codec(name), "replace" if name == "utf-8" else "xmlcharrefreplace")


def _codec(name: str) -> str:
    return _CODECS.get(name) or name.replace("windows-", "cp")


def _prescan(start: bytes) -> str | None:
    """Return the encoding declared in the first bytes of a page; an XML declaration comes last."""
    for sign, name in _UTF16_XML:
        if start.startswith(sign):
            return name
    at = 0
    attributes = 0
    while (at := start.find(b"<", at)) >= 0 and attributes <= MAX_ATTRIBUTES:
        if start.startswith(b"<!--", at):
            at = _end_of(start, b"-->", at + 2)
        elif tag := _TAG.match(start, at):
            declared, at, read = _declared(start, at, tag.end())
            attributes += read + 1
            if declared:
                return declared
        elif start[at + 1 : at + 2] in (b"!", b"/", b"?"):
            at = _end_of(start, b">", at)
        else:
            at += 1
    found = _XML.match(start)
    return _encoding_of_label(found[1] or found[2]) if found else None


def _late_declaration(body: bytes) -> str | None:
    """Return the encoding declared by a `meta` further down, at which a browser restarts parsing."""
    return _prescan(_without_scripts(body)) if _LATE_META.search(body, PRESCAN_BYTES) else None


def _without_scripts(body: bytes) -> bytes:
    """Return a page without its scripts; an unclosed script stays, and so does the rest of the page."""
    kept, at = [], 0
    while begun := _SCRIPT.search(body, at):
        ended = _SCRIPT_END.search(body, begun.end())
        if ended is None:
            break
        kept.append(body[at : begun.start()])
        at = ended.end()
    return b"".join([*kept, body[at:]])


def _end_of(start: bytes, sign: bytes, at: int) -> int:
    found = start.find(sign, at)
    return found + len(sign) if found >= 0 else len(start)


def _declared(start: bytes, at: int, end: int) -> tuple[str | None, int, int]:
    """Return the encoding that the tag declares if it is a `meta`, the end of the tag, and its number of attributes."""
    meta = _META.match(start, at)
    seen: dict[bytes, bytes] = {}
    read = 0
    for name, value, reached in islice(_attributes(start, meta.end() if meta else end), MAX_ATTRIBUTES + 1):
        seen.setdefault(name, value)
        end = reached
        read += 1
    return (_meta_charset(seen) if meta and end < len(start) else None), end, read


def _attributes(start: bytes, at: int) -> Iterator[tuple[bytes, bytes, int]]:
    """Yield name, value (both in lower case) and end of each attribute; a truncated value ends with the input."""
    while found := _ATTRIBUTE.match(start, at):
        at = found.end()
        yield found[1].lower(), (found[3] or found[4] or b"").lower(), at


def _meta_charset(seen: dict[bytes, bytes]) -> str | None:
    if b"charset" in seen:
        return _encoding_of_label(seen[b"charset"])
    found = _CONTENT_CHARSET.search(seen.get(b"content", b""))
    pragma = seen.get(b"http-equiv") == b"content-type"
    return _encoding_of_label(found[1] or found[2] or found[3] or b"") if found and pragma else None


def _encoding_of_label(label: bytes) -> str | None:
    """Return the encoding of a label that stands in the page itself."""
    name = encoding_of(label.decode("latin-1"))
    if name in ("utf-16le", "utf-16be"):  # a page that was read as ASCII up to the label is not UTF-16
        return "utf-8"
    return "windows-1252" if name == "x-user-defined" else name


def _guess(body: bytes) -> str:
    try:
        body.decode("utf-8")
    except UnicodeDecodeError:
        return "windows-1252"
    return "utf-8"
