"""Normalization of URLs: the spellings by which they are compared, never the URL to fetch."""

import re
from hashlib import sha256
from urllib.parse import parse_qsl, urlencode
from zlib import crc32

from longline.model.urls.tracking_parameters import TRACKING_PARAMETERS
from longline.model.urls.url import BadUrl, parse, read

_NAMES_HOST = re.compile(r"\s*[A-Za-z][A-Za-z0-9+.-]*://[^/\\?#]")
_SLASHES = re.compile(r"/{2,}")
_NOT_NORMAL = re.compile(
    # escapes of unreserved characters, and escapes with digits in lower case
    "%(?:2[DEde]|3[0-9]|4[1-9A-Fa-f]|5[0-9AFaf]|6[1-9A-Fa-f]|7[0-9AEae]|[0-9A-F][a-f]|[a-f][0-9A-Fa-f])"
)
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")


def percent_normalized(href: str) -> str:
    """Return the spelling by which URLs are compared (RFC 3986, 6.2.2); never the URL to fetch.

    Escapes of unreserved characters are decoded, hexadecimal digits of all others are in upper case.
    """
    return _NOT_NORMAL.sub(_normal, href) if "%" in href else href


def _normal(found: re.Match[str]) -> str:
    character = chr(int(found[0][1:], 16))
    return character if character in _UNRESERVED else found[0].upper()


def dedupe_key(href: str) -> bytes:
    """Return the key by which URLs of one host are compared, in 16 bytes: 4 of the directory, 12 of the URL.

    The directory comes first so that the links of a page, which mostly stay in a directory, fall on few index leaves.
    Spellings that are equal by RFC 3986 have one key.
    """
    if "%" in href:
        href = percent_normalized(href)
    query = href.find("?")
    end = href.rindex("/", 0, query if query >= 0 else len(href)) + 1
    return crc32(href[:end].encode()).to_bytes(4) + sha256(href.encode()).digest()[:12]


def interval_form(text: str) -> str:
    """Return the spelling of a URL for its SHA-256 in the interval contract; never the URL to fetch.

    https, no default port of either scheme, no repeated or trailing slashes, no tracking parameters, keys sorted,
    escapes as `percent_normalized` writes them.
    """
    if not _NAMES_HOST.match(text):
        raise BadUrl("bad_url", text, "it has no host")
    url = read(parse(text, credentials=True).href)
    host = url.hostname if url.port in ("80", "443") else url.host
    credentials = f"{url.username}:{url.password}".rstrip(":")
    path = _SLASHES.sub("/", percent_normalized(url.pathname)).rstrip("/") or "/"
    # Latin-1 carries every byte through unharmed, also those that are no UTF-8.
    pairs = parse_qsl(url.search[1:], keep_blank_values=True, encoding="latin-1")
    kept = sorted((pair for pair in pairs if pair[0] not in TRACKING_PARAMETERS), key=lambda pair: pair[0])
    query = urlencode(kept, encoding="latin-1")
    return f"https://{credentials}{'@' if credentials else ''}{host}{path}{'?' if query else ''}{query}"
