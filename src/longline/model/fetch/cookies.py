"""Cookies of one run, from Set-Cookie headers to Cookie headers."""

import email.message
from collections.abc import Iterable
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any, cast
from urllib.parse import urlsplit

MAX_COOKIES = 2000
"""Number of cookies from which on a run stores no more."""


class _Request:
    """The part of a request that the library reads and writes."""

    unverifiable = False

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self.type, self.host = parts.scheme, parts.netloc
        self.origin_req_host = parts.hostname or ""
        self.cookie: str | None = None
        self._url = url

    def get_full_url(self) -> str:
        return self._url

    def has_header(self, _: str) -> bool:
        return False

    def add_unredirected_header(self, name: str, value: str) -> None:
        if name == "Cookie":
            self.cookie = value


class _CookieResponse:
    """The part of a response that the library reads."""

    def __init__(self, values: Iterable[str]) -> None:
        self._message = email.message.Message()
        for value in values:
            self._message["Set-Cookie"] = value

    def info(self) -> email.message.Message:
        return self._message


class RunCookies:
    """The cookie jar of a run: each cookie goes to its own site only; domains such as .co.uk are refused."""

    def __init__(self) -> None:
        self._jar = CookieJar(DefaultCookiePolicy(strict_domain=True))
        self._count = 0

    def header(self, url: str) -> str | None:
        """Return the value of the Cookie header for a request to this URL, or None without cookies."""
        if not self._count:
            return None
        request = _Request(url)
        self._jar.add_cookie_header(cast(Any, request))
        return request.cookie

    def store(self, url: str, values: Iterable[str]) -> None:
        """Store the cookies of a response from this URL, given its Set-Cookie headers."""
        if self._count < MAX_COOKIES:
            self._jar.extract_cookies(cast(Any, _CookieResponse(values)), cast(Any, _Request(url)))
            self._count = len(self._jar)
