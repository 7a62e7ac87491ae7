"""The identity of a submitted URL: it keeps nearly everything that a site may read in it."""

from hashlib import sha256
from urllib.parse import urlsplit, urlunsplit


def normal_form(text: str) -> str:
    """Return the form of a URL by which it is known: scheme and authority in small letters, query pieces in order.

    Path, percent codes, default ports and every piece of the query stay as they are; the fragment is dropped.
    """
    parts = urlsplit(text.strip())
    query = "&".join(sorted(parts.query.split("&")))
    return urlunsplit((parts.scheme.lower(), parts.netloc.lower(), parts.path, query, ""))


def submitted_hash(text: str) -> str:
    """Return the SHA-256 of a URL's normal form, in hexadecimal digits."""
    return sha256(normal_form(text).encode()).hexdigest()
