"""Cookies of one run: what sites set, and what is sent back to them."""

import email.message
from collections.abc import Iterable
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any, cast
from urllib.parse import urlsplit

MOST = 2000
"""Cookies that one run may collect; a site that sets more is left alone."""


class _Request:
    """The part of a request that the library looks at and writes to."""

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
    """The part of an answer that the library looks at."""

    def __init__(self, values: Iterable[str]) -> None:
        self._message = email.message.Message()
        for value in values:
            self._message["Set-Cookie"] = value

    def info(self) -> email.message.Message:
        return self._message


class RunCookies:
    """Sends each cookie only where it belongs; those of whole countries are refused."""

    def __init__(self) -> None:
        self._jar = CookieJar(DefaultCookiePolicy(strict_domain=True))
        self._count = 0

    def header(self, url: str) -> str | None:
        """The value of the Cookie header for a request to this URL, if there is any to send."""
        if not self._count:
            return None
        request = _Request(url)
        self._jar.add_cookie_header(cast(Any, request))
        return request.cookie

    def learn(self, url: str, values: Iterable[str]) -> None:
        """Remember what an answer from this URL set, by the values of its Set-Cookie headers."""
        if self._count < MOST:
            self._jar.extract_cookies(cast(Any, _CookieResponse(values)), cast(Any, _Request(url)))
            self._count = len(self._jar)
