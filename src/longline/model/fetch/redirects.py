"""Redirects: the statuses that lead to another URL, the URL that a Location leads to, and the method of its request."""

from longline.model.errors import LonglineError
from longline.model.urls.link_resolution import join
from longline.model.urls.url import BadUrl, parse
from longline.model.urls.url_credentials import without_credentials

REDIRECTS = frozenset({301, 302, 303, 307, 308})
"""Statuses whose Location is requested next, by every part of the crawler that follows redirects."""

REDIRECT_STATUSES = (300, 301, 302, 303, 307, 308)
"""Statuses whose Location is the page; their own content only describes where it is (RFC 9110, section 15.4)."""


class RefusedLocation(LonglineError):
    """A Location that leads to no URL of a page."""


def redirect_target(location: str, base: str) -> str:
    """Return a Location resolved against `base`; raise `RefusedLocation` for a URL that the parser rejects."""
    target = join(base, _escaped(location))
    if target is None:
        raise RefusedLocation("redirected to a text that is no URL of a page")
    try:
        # Credentials of the base are known already; credentials from a site are not accepted.
        return parse(target, credentials=without_credentials(base) != base).href
    except BadUrl as error:
        raise RefusedLocation(f"redirected to a URL that is refused ({error.reason})") from None


def redirected_method(status: int, method: str) -> str:
    """Return the method of the request that follows a redirect, by the Fetch standard.

    303 leads to a page, which is requested by GET or HEAD. A POST becomes a GET for 301 and 302 too, as in browsers.
    """
    if (status == 303 and method != "HEAD") or (status in (301, 302) and method == "POST"):
        return "GET"
    return method


def _escaped(text: str) -> str:
    """Percent-encode the non-ASCII bytes of a header, one by one, as browsers do.

    Header bytes are decoded as Latin-1. Text outside Latin-1 comes from a file, and stays unchanged.
    """
    if text.isascii():
        return text
    try:
        return "".join(chr(byte) if byte < 0x80 else f"%{byte:02X}" for byte in text.encode("latin-1"))
    except UnicodeEncodeError:
        return text
