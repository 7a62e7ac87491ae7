"""Credentials in a URL: sent as an Authorization header, and kept out of everything else."""

from base64 import b64encode
from urllib.parse import unquote_to_bytes


def split_credentials(href: str) -> tuple[str, str | None]:
    """Return a parsed URL without its credentials, and their Authorization header, if there are any."""
    scheme, slashes, rest = href.partition("//")
    authority, slash, path = rest.partition("/")
    userinfo, at, host = authority.rpartition("@")
    if not at:
        return href, None
    username, _, password = userinfo.partition(":")
    pair = unquote_to_bytes(username) + b":" + unquote_to_bytes(password)
    return f"{scheme}{slashes}{host}{slash}{path}", f"Basic {b64encode(pair).decode()}"
