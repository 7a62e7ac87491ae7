"""From bytes to text by the rules of HTML: byte order mark, header, `meta`, and only then a guess."""

import codecs
import re

PRESCAN_BYTES = 1024

_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_HEADER = re.compile(r"charset\s*=\s*[\"']?\s*([^\s\"';]+)", re.IGNORECASE)
_COMMENT = re.compile(rb"<!--.*?-->", re.DOTALL)
_META = re.compile(rb"<meta[\s/][^>]*?charset\s*=\s*[\"']?\s*([^\s\"'/>;]+)", re.IGNORECASE)
_XML = re.compile(rb"\s*<\?xml[^>]*?encoding\s*=\s*[\"']([^\"']+)", re.IGNORECASE)

# The Encoding Standard's encodings by Python's names for them. A page chooses among these and nothing else: Python
# knows codecs that are slow, that warn, or that are no text at all.
_ENCODINGS = {
    **{name: name for name in ("utf-8", "utf-16-le", "utf-16-be", "cp866", "koi8-r", "koi8-u", "mac-roman")},
    **{name: name for name in ("mac-cyrillic", "euc_jp", "iso2022_jp", "gb18030", "cp932", "cp949", "big5hkscs")},
    **{f"cp{number}": f"cp{number}" for number in (874, *range(1250, 1259))},
    **{f"iso8859-{number}": f"iso8859-{number}" for number in (2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16)},
    # Where the standard means something else, or something larger, than Python does by the same name.
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
    "utf-16": "utf-16-le",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "big5": "big5hkscs",
}
_ALIASES = {
    "unicode": "utf-16-le",
    "unicode-1-1-utf-8": "utf-8",
    "windows-874": "cp874",
    "x-cp1252": "cp1252",
    "x-gbk": "gb18030",
    "x-mac-cyrillic": "mac-cyrillic",
    "x-sjis": "cp932",
    "iso-8859-8-i": "iso8859-8",
}


def charset_of(body: bytes, content_type: str = "") -> tuple[str, int]:
    """The encoding of a page by Python's name, and how many bytes of mark stand before its text."""
    for mark, name in _MARKS:
        if body.startswith(mark):
            return name, len(mark)
    declared = _known(_from_header(content_type)) or _declared_inside(body[:PRESCAN_BYTES])
    return declared or _guess(body), 0


def decode(body: bytes, content_type: str = "") -> str:
    """The text of a page; bytes that are none in its encoding are replaced."""
    name, skip = charset_of(body, content_type)
    return body[skip:].decode(name, "replace")


def _from_header(content_type: str) -> str:
    found = _HEADER.search(content_type)
    return found[1] if found else ""


def _declared_inside(start: bytes) -> str | None:
    found = _META.search(_COMMENT.sub(b"", start)) or _XML.match(start)
    name = _known(found[1].decode("ascii", "replace")) if found else None
    # What could be read as ASCII up to here cannot be UTF-16, whatever it says.
    return "utf-8" if name and name.startswith("utf-16") else name


def _known(label: str) -> str | None:
    label = label.strip().lower()
    try:
        return _ENCODINGS.get(codecs.lookup(_ALIASES.get(label, label)).name)
    except (LookupError, ValueError):  # ValueError: a null character
        return None


def _guess(body: bytes) -> str:
    try:
        body.decode("utf-8")
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"
