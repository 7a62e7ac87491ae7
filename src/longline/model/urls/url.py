"""URLs to crawl: absolute http or https, written by the WHATWG rules, without a fragment.

Two bindings of one parser read URLs: `can_ada` is fast, `ada_url` knows the present rules for international host
names. `parse` is the gate for text from people and files.
"""

import re

import ada_url
import can_ada
import msgspec

from longline.model.errors import BadInput
from longline.model.urls.url_credentials import hide_credentials

MAX_LENGTH = 8192

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_BEYOND = r"%\x00-\x1f\x7f-\U0010ffff"
_INTERNATIONAL_HOST = re.compile(
    # a scheme or two slashes, and an authority; blanks among them are dropped by the parser
    rf"[\x00-\x20]*(?:[A-Za-z][A-Za-z0-9+.\t\n\r-]*:[/\\\t\n\r]*|[/\\\t\n\r]{{2,}})[^/\\?#{_BEYOND}]*[{_BEYOND}]"
)


class BadUrl(BadInput):
    """A text that is no URL to crawl; `reason` is one word of `outcomes.REFUSED`, `why` the rest of a sentence."""

    def __init__(self, reason: str, text: str, why: str) -> None:
        self.reason, self.why = reason, why
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
        url = read(text)
    except (ValueError, TypeError):  # TypeError: lone surrogates
        raise BadUrl("bad_url", text, _why_not(text)) from None
    if not credentials and "@" in text and (url.username or url.password):
        raise BadUrl("credentials", text, "it has a user name or a password in it")
    scheme = url.protocol[:-1]
    if scheme not in ("http", "https"):
        raise BadUrl("scheme", text, f"the scheme is {scheme}, not http or https")
    href = without_fragment(url.href)
    if len(href) > MAX_LENGTH:
        raise BadUrl("too_long", text, f"longer than {MAX_LENGTH} characters once it is percent-encoded")
    return Url(href, scheme, url.host, url.hostname)


def read(text: str) -> can_ada.URL | ada_url.URL:
    """Return the URL of a text; raise ValueError or TypeError for a text that is no URL."""
    if (text.isascii() and "%" not in text) or not is_international(text):
        try:
            return can_ada.parse(text)
        except ValueError:
            # The older rules refuse labels that only look like Punycode; of plain ASCII they misread nothing else.
            if not has_punycode(text):
                raise
    href = ada_url.normalize_url(text)
    try:
        url = can_ada.parse(href)
    except ValueError:
        return ada_url.URL(href)
    return url if url.href == href else ada_url.URL(href)


def is_international(text: str) -> bool:
    """Return whether the host of a URL has characters beyond ASCII, or escapes of them."""
    return _INTERNATIONAL_HOST.match(text) is not None


def has_punycode(text: str) -> bool:
    """Return whether a label of the host may be written in Punycode."""
    return "xn--" in text.lower()


def _why_not(text: str) -> str:
    stripped = text.strip()
    if not stripped:
        return "it is empty"
    if not _SCHEME.match(stripped):
        return "it has no scheme; write it out, as in https://example.com/"
    return "it has no host" if not stripped.partition(":")[2].strip("/\\") else "it cannot be parsed"


def without_fragment(href: str) -> str:
    """Return a URL without its fragment."""
    cut = href.find("#")
    return href if cut < 0 else href[:cut]


def target(href: str) -> str:
    """Return the path and query of a parsed URL, which the request line and the rules of robots.txt use."""
    return href[href.index("/", len("https://")) :]
