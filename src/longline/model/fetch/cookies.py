"""Cookies by RFC 6265, from Set-Cookie headers to Cookie headers: domain, path, Secure and expiry decide.

The storage model of 6265bis is followed where browsers follow it: a cookie without `=` has an empty name, an `http` URL
sets no Secure cookie, the prefixes `__Secure-` and `__Host-` are kept, and a domain such as .co.uk gets no cookie.
"""

import re
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from functools import lru_cache
from ipaddress import ip_address

import msgspec
from publicsuffixlist import PublicSuffixList

from longline.model.urls.url import Url, parse, target

MAX_COOKIES = 3000
"""Largest number of cookies of a run, beyond which those of the domain that was visited longest ago are dropped."""

MAX_DOMAIN_COOKIES = 180
"""Largest number of cookies of a domain, as in browsers: a site that sets a cookie for each page would get a Cookie
header that no server takes. The first ones stay, since a session is among them."""

MAX_COOKIE_CHARACTERS = 4096
"""Largest length of name and value together, as in browsers."""

_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_DELIMITER = re.compile(r"[\x09\x20-\x2f\x3b-\x40\x5b-\x60\x7b-\x7e]+")
_TIME = re.compile(r"(\d{1,2}):(\d{1,2}):(\d{1,2})(?:\D|$)")
_DAY = re.compile(r"(\d{1,2})(?:\D|$)")
_YEAR = re.compile(r"(\d{2,4})(?:\D|$)")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_FIRST_YEAR = 1601


class Cookie(msgspec.Struct, frozen=True):
    """A cookie: `host_only` keeps it from subdomains of its domain, `expires` is in seconds since 1970."""

    name: str
    value: str
    domain: str
    path: str = "/"
    host_only: bool = True
    secure: bool = False
    expires: float | None = None

    def __repr__(self) -> str:
        return f"Cookie({self.name!r}, domain={self.domain!r}, path={self.path!r})"

    @property
    def text(self) -> str:
        """Return the cookie as a Cookie header has it."""
        return f"{self.name}={self.value}" if self.name else self.value

    def belongs_to(self, hostname: str) -> bool:
        """Return whether a host gets the cookie, for some path."""
        return hostname == self.domain or (not self.host_only and _is_below(hostname, self.domain))

    def has_expired(self, now: float) -> bool:
        """Return whether the cookie has expired; a cookie without an expiry lasts as long as its run."""
        return self.expires is not None and self.expires <= now


class RunCookies:
    """The cookies of a run: each goes to its own site only. `now` is the time in seconds since 1970."""

    def __init__(self, cookies: Iterable[Cookie] = (), now: Callable[[], float] = time.time) -> None:
        self._now = now
        self._by_domain: OrderedDict[str, dict[tuple[str, str], Cookie]] = OrderedDict()
        self._count = 0
        for cookie in cookies:
            self.add(cookie)

    def __iter__(self) -> Iterator[Cookie]:
        now = self._now()
        return iter([c for of_domain in self._by_domain.values() for c in of_domain.values() if not c.has_expired(now)])

    def header(self, url: str) -> str | None:
        """Return the value of the Cookie header for a request to this URL, or None without cookies."""
        if not self._count:
            return None
        place = parse(url, credentials=True)
        path, now = _path(place), self._now()
        domains = [domain for domain in _domains(place.hostname) if domain in self._by_domain]
        for domain in domains:
            self._by_domain.move_to_end(domain)
        found = [
            cookie
            for domain in domains
            for cookie in self._by_domain[domain].values()
            if cookie.belongs_to(place.hostname)
            and _matches(path, cookie.path)
            and (not cookie.secure or place.scheme == "https")
            and not cookie.has_expired(now)
        ]
        # Longer paths first; cookies of one length stay in the order in which they were set.
        return "; ".join(c.text for c in sorted(found, key=lambda c: -len(c.path))) or None

    def store(self, url: str, values: Iterable[str]) -> None:
        """Store the cookies of a response from this URL, given its Set-Cookie headers."""
        place = parse(url, credentials=True)
        for value in values:
            if (cookie := read_set_cookie(place, value, self._now())) is not None:
                self.add(cookie)

    def add(self, cookie: Cookie) -> None:
        """Store a cookie in place of an earlier one; a cookie that has expired only removes the earlier one."""
        key, now = (cookie.name, cookie.path), self._now()
        of_domain = self._by_domain.get(cookie.domain, {})
        before = len(of_domain)
        if cookie.has_expired(now):
            of_domain.pop(key, None)
        else:
            if key not in of_domain and before >= MAX_DOMAIN_COOKIES:
                of_domain = {key: kept for key, kept in of_domain.items() if not kept.has_expired(now)}
            if key in of_domain or len(of_domain) < MAX_DOMAIN_COOKIES:
                of_domain[key] = cookie
        self._count += len(of_domain) - before
        self._put(cookie.domain, of_domain)

    def _put(self, domain: str, cookies: dict[tuple[str, str], Cookie]) -> None:
        """Replace the cookies of a domain that was visited last; drop those of other domains if there are too many."""
        self._by_domain.pop(domain, None)
        if cookies:
            self._by_domain[domain] = cookies
        while self._count > MAX_COOKIES:
            self._count -= len(self._by_domain.popitem(last=False)[1])


def read_set_cookie(place: Url, text: str, now: float) -> Cookie | None:
    """Return the cookie of one Set-Cookie header from a URL, or None for a cookie that is to be ignored."""
    pair, *parts = text.split(";")
    name, equals, value = (part.strip() for part in pair.partition("="))
    if not equals:
        name, value = "", name
    said = {key.strip().lower(): given.strip() for key, _, given in (part.partition("=") for part in parts)}
    if _CONTROL.search(text) or len(name) + len(value) > MAX_COOKIE_CHARACTERS or not (name or value):
        return None
    domain = said.get("domain", "").lstrip(".").lower()
    if domain and not _may_set(place.hostname, domain):
        return None
    path, secure = said.get("path", ""), "secure" in said
    host_only = not domain or (domain == place.hostname and is_public_suffix(domain))
    cookie = Cookie(
        name,
        value,
        domain or place.hostname,
        path if path.startswith("/") else _directory(_path(place)),
        host_only,
        secure,
        _expiry(said, now),
    )
    return cookie if _is_honest(cookie, place, whole_host=not domain and path == "/") else None


def _is_honest(cookie: Cookie, place: Url, *, whole_host: bool) -> bool:
    """Return whether a cookie is as secure as its name and its attributes claim."""
    if cookie.secure and place.scheme != "https":
        return False
    name = cookie.name.lower()
    if name.startswith("__host-"):
        return cookie.secure and whole_host
    return cookie.secure or not name.startswith("__secure-")


def _may_set(hostname: str, domain: str) -> bool:
    if hostname == domain:
        return True
    return _is_below(hostname, domain) and not is_public_suffix(domain)


def _is_below(hostname: str, domain: str) -> bool:
    return hostname.endswith(f".{domain}") and not _is_address(hostname)


def _is_address(hostname: str) -> bool:
    try:
        ip_address(hostname.strip("[]"))
    except ValueError:
        return False
    return True


def is_public_suffix(domain: str) -> bool:
    """Return whether everybody can register names directly below a domain, as below .co.uk."""
    return not _is_address(domain) and _suffixes().privatesuffix(domain) is None


@lru_cache(1)
def _suffixes() -> PublicSuffixList:
    # Read with the first Domain attribute: most crawls never see one.
    return PublicSuffixList()


def _domains(hostname: str) -> list[str]:
    """Return a host and the domains above it."""
    labels = hostname.split(".")
    return [".".join(labels[start:]) for start in range(len(labels))]


def _path(place: Url) -> str:
    return target(place.href).partition("?")[0]


def _directory(path: str) -> str:
    """Return the default path of a cookie: the directory of the URL, without the last slash."""
    return path[: path.rindex("/")] or "/"


def _matches(path: str, prefix: str) -> bool:
    return path == prefix or (path.startswith(prefix) and (prefix.endswith("/") or path[len(prefix)] == "/"))


def _expiry(said: dict[str, str], now: float) -> float | None:
    """Return the time of expiry: of Max-Age, else of Expires, else None."""
    age = said.get("max-age", "")
    if age.removeprefix("-").isdecimal() and age.isascii():
        return now + min(float(age), 1e10) if not age.startswith("-") and age.strip("0") else 0.0
    return _date(said["expires"]) if "expires" in said else None


def _date(text: str) -> float | None:
    """Return the time of an Expires attribute by the algorithm of RFC 6265, section 5.1.1, which takes any order."""
    clock = day = month = year = None
    for token in _DELIMITER.split(text):
        if clock is None and (found := _TIME.match(token)):
            clock = tuple(map(int, found.groups()))
        elif day is None and (found := _DAY.match(token)):
            day = int(found[1])
        elif month is None and token[:3].lower() in _MONTHS:
            month = _MONTHS.index(token[:3].lower()) + 1
        elif year is None and (found := _YEAR.match(token)):
            year = _full_year(int(found[1]))
    if clock is None or day is None or month is None or year is None or year < _FIRST_YEAR:
        return None
    hour, minute, second = clock
    try:
        return datetime(year, month, day, hour, minute, second, tzinfo=UTC).timestamp()
    except ValueError:
        return None


def _full_year(year: int) -> int:
    if year >= 100:
        return year
    return year + (1900 if year >= 70 else 2000)
