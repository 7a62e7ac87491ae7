"""Credentials in URLs: user names and passwords are hidden or removed before a URL is stored, shown or logged."""

import re

import can_ada

_CREDENTIALS = re.compile(r"^(\s*+(?:[A-Za-z][A-Za-z0-9+.-]*+:)?+[/\\]*+).*@", re.DOTALL)
_IN_TEXT = re.compile(r"(://)[^/?#\s]*@")
_USER = re.compile(r"^([a-z]+://)[^/?#]*@")


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
