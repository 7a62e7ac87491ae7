"""Credentials for sites: the headers and cookies that a person gives a run. Stored and sent, but never shown."""

import re

import msgspec

from longline.model.errors import BadInput
from longline.model.fetch.cookies import Cookie
from longline.model.urls.url import Url

Headers = tuple[tuple[str, str], ...]

MASK = "(hidden)"
"""Value that stands in archives in place of a secret one."""

SECRET_HEADERS = frozenset({"authorization", "cookie", "proxy-authorization"})
"""Headers whose values are secret in every request."""

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_OURS = {
    "user-agent": "use --user-agent, so that robots.txt is judged for the same name",
    "host": "the URL names the host",
    "content-length": "a request of a crawl has no body",
    "transfer-encoding": "a request of a crawl has no body",
    "connection": "the client keeps its connections itself",
    "accept-encoding": "the client says which encodings it can decode",
}


class Credentials(msgspec.Struct, frozen=True):
    """Headers for the origins of the seeds, and cookies for their own sites."""

    headers: Headers = ()
    cookies: tuple[Cookie, ...] = ()

    def __repr__(self) -> str:
        return f"Credentials({len(self.headers)} headers, {len(self.cookies)} cookies)"

    def text(self) -> str:
        """Return the credentials as JSON, or an empty text without headers and cookies."""
        return msgspec.json.encode(self).decode() if self.headers or self.cookies else ""

    @classmethod
    def read(cls, text: str) -> "Credentials":
        """Return the credentials of a text."""
        return msgspec.json.decode(text, type=cls) if text else cls()


def header_problem(name: str, value: str) -> str:
    """Return the reason for which a request cannot have a header; an empty text for one that it can have."""
    if not _NAME.fullmatch(name):
        return "is not a valid header name"
    if "\r" in value or "\n" in value:
        return "must not contain line breaks"
    return "must not contain control characters" if _CONTROL.search(value) else ""


def parse_header(text: str) -> tuple[str, str]:
    """Return name and value of a header written `Name: value`; errors do not show the value."""
    name, colon, value = (part.strip() for part in text.partition(":"))
    if not colon or not _NAME.fullmatch(name):
        raise BadInput("a header is written 'Name: value', as in --header 'Accept-Language: de'")
    if problem := header_problem(name, value):
        raise BadInput(f"the header {name} {problem}")
    if reason := _OURS.get(name.lower()):
        raise BadInput(f"the header {name} cannot be given: {reason}")
    return name, value


def parse_cookie(text: str, url: Url) -> Cookie:
    """Return the cookie of `name=value` for the host of a URL; the cookie of an https URL is Secure."""
    name, equals, value = (part.strip() for part in text.partition("="))
    if not equals or not name or _CONTROL.search(text) or set(text) & set(";,"):
        raise BadInput("a cookie is written name=value, without ; and , as in --cookie session=abc")
    return Cookie(name, value, url.hostname, secure=url.scheme == "https")


def origins(urls: tuple[Url, ...]) -> frozenset[str]:
    """Return the origins of URLs, and the https origin of each http one: a site that moves to https is the same site.

    The reverse would send a header in clear.
    """
    given = {f"{url.scheme}://{url.host}" for url in urls}
    return frozenset(
        given | {f"https://{url.host}" for url in urls if url.scheme == "http" and url.host == url.hostname}
    )


def masked(headers: Headers, secret_names: frozenset[str] = frozenset()) -> Headers:
    """Return the headers of a request as they may be stored: secret values are masked."""
    secret = SECRET_HEADERS | secret_names if secret_names else SECRET_HEADERS
    if secret.isdisjoint([name.lower() for name, _ in headers]):
        return headers  # as in nearly every request
    return tuple((name, MASK if name.lower() in secret else value) for name, value in headers)


def without_cookie_values(headers: Headers) -> Headers:
    """Return the headers of a response as they may be stored: the values of Set-Cookie are masked."""
    return tuple(
        (name, f"{value.partition('=')[0]}={MASK}" if name.lower() == "set-cookie" else value)
        for name, value in headers
    )
