"""URLs to crawl: absolute http or https, written by the WHATWG rules, without a fragment.

Two bindings of one parser read URLs: `can_ada` is fast, `ada_url` knows the present rules for international host
names. `parse` is the gate for text from people and files, `join_all` for links of a page. URLs of one host with the
same `dedupe_key` are the same. The interval contract hashes another spelling, `interval_form`, and still fetches the
URL as it was given.
"""

import re
from collections.abc import Iterable
from hashlib import sha256
from urllib.parse import parse_qsl, urlencode
from zlib import crc32

import ada_url
import can_ada
import msgspec

from longline.model.errors import BadInput

MAX_LENGTH = 8192

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_NAMES_HOST = re.compile(r"\s*[A-Za-z][A-Za-z0-9+.-]*://[^/\\?#]")
_CREDENTIALS = re.compile(r"^(\s*+(?:[A-Za-z][A-Za-z0-9+.-]*+:)?+[/\\]*+).*@", re.DOTALL)
_IN_TEXT = re.compile(r"(://)[^/?#\s]*@")
_USER = re.compile(r"^([a-z]+://)[^/?#]*@")
_SLASHES = re.compile(r"/{2,}")
_BEYOND = r"%\x00-\x1f\x7f-\U0010ffff"
_INTERNATIONAL_HOST = re.compile(
    # a scheme or two slashes, and an authority; blanks among them are dropped by the parser
    rf"[\x00-\x20]*(?:[A-Za-z][A-Za-z0-9+.\t\n\r-]*:[/\\\t\n\r]*|[/\\\t\n\r]{{2,}})[^/\\?#{_BEYOND}]*[{_BEYOND}]"
)
_NOT_NORMAL = re.compile(
    # escapes of unreserved characters, and escapes with digits in lower case
    "%(?:2[DEde]|3[0-9]|4[1-9A-Fa-f]|5[0-9AFaf]|6[1-9A-Fa-f]|7[0-9AEae]|[0-9A-F][a-f]|[a-f][0-9A-Fa-f])"
)
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_BLANK = "".join(map(chr, range(0x21)))  # as WHATWG strips them; str.strip() takes more, such as no-break spaces
_BLANK_BYTES = _BLANK.encode()
_NOT_PAGES = ("javascript:", "mailto:", "data:", "tel:")
_PAGES = ("http://", "https://")
_TRACKING = frozenset(
    (
        "utm_source",
        "utm_medium",
        "utm_campaign",
        "utm_term",
        "utm_content",
        "fbclid",
        "gclid",
        "gclsrc",
        "dclid",
        "msclkid",
    )
)


def hide_credentials(text: str) -> str:
    """Return a text with every possible user name and password of a URL hidden."""
    return _CREDENTIALS.sub(r"\1***@", text) if "@" in text else text


def hide_in_text(text: str) -> str:
    """Return a message with the user names and passwords of the URLs in it hidden."""
    return _IN_TEXT.sub(r"\1***@", text) if "@" in text else text


def without_credentials(href: str) -> str:
    """Return a URL without its user name and password; a text that is no URL is hidden up to its last `@`."""
    if "@" not in href:
        return href
    try:
        url = can_ada.parse(href)
    except (ValueError, TypeError):
        return hide_credentials(href)
    if url.protocol not in ("http:", "https:"):
        return hide_credentials(href)
    return href if not (url.username or url.password) else _USER.sub(r"\1", url.href, count=1)


class BadUrl(BadInput):
    """A text that is no URL to crawl; `reason` is one word of `outcomes.REFUSED`."""

    def __init__(self, reason: str, text: str, why: str) -> None:
        self.reason = reason
        hidden = hide_credentials(text)
        shown = hidden if len(hidden) <= 100 else f"{hidden[:97]}..."
        super().__init__(f"bad URL {shown!r}: {why}")


class Url(msgspec.Struct, frozen=True, gc=False):
    """A URL that can be fetched. `host` is the politeness key: name and port, since two ports are two servers."""

    href: str
    scheme: str
    host: str
    hostname: str


def parse(text: str, *, credentials: bool = False) -> Url:
    """Return the URL of a text; raise `BadUrl` for a text that is not absolute http or https.

    A URL with a user name or a password is refused unless `credentials` allows it: URLs are stored, shown and logged.
    """
    if len(text) > MAX_LENGTH:
        raise BadUrl("too_long", text, f"longer than {MAX_LENGTH} characters")
    # The WHATWG rules drop tabs and newlines without a word; in a typed URL they are more likely a mistake.
    if not text.isprintable() and _CONTROL.search(text.strip()):
        raise BadUrl("bad_url", text, "has control characters")
    try:
        url = _read(text)
    except (ValueError, TypeError):  # TypeError: lone surrogates
        raise BadUrl("bad_url", text, _why_not(text)) from None
    if not credentials and "@" in text and (url.username or url.password):
        raise BadUrl("credentials", text, "it has a user name or a password in it")
    scheme = url.protocol[:-1]
    if scheme not in ("http", "https"):
        raise BadUrl("scheme", text, f"the scheme is {scheme}, not http or https")
    href = _without_fragment(url.href)
    if len(href) > MAX_LENGTH:
        raise BadUrl("too_long", text, f"longer than {MAX_LENGTH} characters once it is percent-encoded")
    return Url(href, scheme, url.host, url.hostname)


def _read(text: str) -> can_ada.URL | ada_url.URL:
    """Return the URL of a text; raise ValueError or TypeError for a text that is no URL."""
    if (text.isascii() and "%" not in text) or not _INTERNATIONAL_HOST.match(text):
        try:
            return can_ada.parse(text)
        except ValueError:
            # The older rules refuse labels that only look like Punycode; of plain ASCII they misread nothing else.
            if not _has_punycode(text):
                raise
    href = ada_url.normalize_url(text)
    try:
        url = can_ada.parse(href)
    except ValueError:
        return ada_url.URL(href)
    return url if url.href == href else ada_url.URL(href)


def _has_punycode(text: str) -> bool:
    return "xn--" in text.lower()


def _why_not(text: str) -> str:
    stripped = text.strip()
    if not stripped:
        return "it is empty"
    if not _SCHEME.match(stripped):
        return "it has no scheme; write it out, as in https://example.com/"
    return "it has no host" if not stripped.partition(":")[2].strip("/\\") else "it cannot be parsed"


def _without_fragment(href: str) -> str:
    cut = href.find("#")
    return href if cut < 0 else href[:cut]


def join(base: str, href: str) -> str | None:
    """Return the URL of a link on the page `base`, or None when it cannot be fetched."""
    joined = join_all(base, (href,))
    return joined[0] if joined else None


def join_all(base: str, hrefs: Iterable[str]) -> list[str]:
    """Return the URLs of the links on the page `base`, each once, in order, less links that cannot be fetched."""
    try:
        start = _read(base)
    except (ValueError, TypeError):
        return []
    # Most links of a page are repeats, or differ in the fragment only: drop them before the costly part.
    raw = dict.fromkeys(_bare_all(list(dict.fromkeys(hrefs))))
    if isinstance(start, can_ada.URL):
        joined = _resolve_all(start, raw)
    else:
        joined = [_resolve_any(start, href) for href in raw if not href.startswith(_NOT_PAGES)]
    return list(dict.fromkeys(filter(None, joined)))


def _bare_all(hrefs: list[str]) -> list[str]:
    """Return links without their fragments and without the blanks around them."""
    text = "".join(hrefs).encode(errors="surrogatepass")
    # Blanks are found as bytes: `isprintable` takes five times as long, as much as to resolve ten links.
    if len(text.translate(None, _BLANK_BYTES)) < len(text):
        return [_bare(href) for href in hrefs]
    return [href.partition("#")[0] for href in hrefs] if b"#" in text else hrefs


def _bare(href: str) -> str:
    bare = href.strip(_BLANK).partition("#")[0]
    # A blank before the fragment is part of the path; at the very end it would be stripped.
    return f"{bare}#" if bare and bare[-1] in _BLANK else bare


def _resolve_all(start: can_ada.URL, hrefs: Iterable[str]) -> list[str | None]:
    """Join links to the URL of their page; one loop, since a page has a hundred links."""
    joined: list[str | None] = []
    for href in hrefs:
        if href.startswith(_NOT_PAGES):
            continue
        if "%" in href or not href.isascii():
            joined.append(_resolve_any(start, href))
            continue
        try:
            url = (start + href).href
        except (ValueError, TypeError):
            joined.append(_resolve_any(start, href) if _has_punycode(href) else None)
            continue
        if url.startswith(_PAGES):
            joined.append(url if url[-1] != "#" else _without_fragment(url))
    return joined


def _resolve_any(start: can_ada.URL | ada_url.URL, href: str) -> str | None:
    try:
        if isinstance(start, can_ada.URL) and not _has_punycode(href) and not _INTERNATIONAL_HOST.match(href):
            url = (start + href).href
        else:
            url = ada_url.join_url(start.href, href)
    except (ValueError, TypeError):
        return None
    return _without_fragment(url) if url.startswith(_PAGES) else None


def referer(page: str, href: str) -> str | None:
    """Return the Referer of a request, by the default policy of browsers (strict-origin-when-cross-origin).

    The page without its credentials to its own origin, the origin alone to others, None from https to http. Both URLs
    are written as `parse` writes them.
    """
    origin = page[: page.index("/", len("https://")) + 1]
    if href.startswith(origin) and "@" not in origin:
        return page
    here, there = _read(page), _read(href)
    if here.protocol == "https:" != there.protocol:
        return None
    return f"{here.origin}{target(here.href)}" if here.origin == there.origin else f"{here.origin}/"


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


def target(href: str) -> str:
    """Return the path and query of a parsed URL, which the request line and the rules of robots.txt use."""
    return href[href.index("/", len("https://")) :]


def interval_form(text: str) -> str:
    """Return the spelling of a URL for its SHA-256 in the interval contract; never the URL to fetch.

    https, no default port of either scheme, no repeated or trailing slashes, no tracking parameters, keys sorted,
    escapes as `percent_normalized` writes them.
    """
    if not _NAMES_HOST.match(text):
        raise BadUrl("bad_url", text, "it has no host")
    url = _read(parse(text, credentials=True).href)
    host = url.hostname if url.port in ("80", "443") else url.host
    credentials = f"{url.username}:{url.password}".rstrip(":")
    path = _SLASHES.sub("/", percent_normalized(url.pathname)).rstrip("/") or "/"
    # Latin-1 carries every byte through unharmed, also those that are no UTF-8.
    pairs = parse_qsl(url.search[1:], keep_blank_values=True, encoding="latin-1")
    kept = sorted((pair for pair in pairs if pair[0] not in _TRACKING), key=lambda pair: pair[0])
    query = urlencode(kept, encoding="latin-1")
    return f"https://{credentials}{'@' if credentials else ''}{host}{path}{'?' if query else ''}{query}"
