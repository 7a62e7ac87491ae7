"""The `@session` decorator: a function that logs in to a site, and the client that it does this with."""

import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any, TypeVar, cast
from urllib.parse import urlencode

import msgspec

from longline.model.urls.link_resolution import join
from longline.plugins.page import Page
from longline.plugins.parser import matches_glob
from longline.plugins.parser_errors import ParserMistake

SESSION_ATTRIBUTE = "__longline_session__"

Pairs = Mapping[str, str] | Iterable[tuple[str, str]]
SessionFunction = Callable[["Session"], Awaitable[None]]
_Function = TypeVar("_Function", bound=Callable[..., Any])

_FORM = "application/x-www-form-urlencoded"
_JSON = "application/json"
_FIELDS = "input[name], select[name], textarea[name]"
_NO_VALUE = frozenset({"submit", "button", "image", "reset", "file"})


class LoginFailed(Exception):
    """A login that a site refused; raised by the function of a session, with the site's reason."""


class SessionRequest(msgspec.Struct, frozen=True):
    """A request of a session's function."""

    method: str
    url: str
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""


class Session:
    """The client that a session's function logs in with, under the rules of the run: wall, politeness and proxies.

    Redirects are followed, and cookies are kept. The cookies and the `headers` that the function leaves here go with
    every request of the run: each cookie to its own site, the headers to URLs that the session matches. `url` is the
    page that is to be fetched next. robots.txt is not asked: a person decided to log in.
    """

    def __init__(self, url: str, send: Callable[[SessionRequest], Awaitable[Page]]) -> None:
        self.url = url
        self.headers: dict[str, str] = {}
        self.cookies: dict[str, str] = {}
        self._send = send

    async def get(self, url: str, *, headers: Pairs = ()) -> Page:
        """Return the page at a URL, which may be relative to `url`."""
        return await self._send(SessionRequest("GET", self._absolute(url), _pairs(headers)))

    async def post(self, url: str, *, data: Pairs | None = None, json: Any = None, headers: Pairs = ()) -> Page:
        """Send a form (`data`) or a JSON value (`json`) by POST, and return the page that the site answers with."""
        if data is not None:
            body, kind = urlencode(_pairs(data)).encode(), _FORM
        else:
            body, kind = (b"", "") if json is None else (msgspec.json.encode(json), _JSON)
        typed = (("content-type", kind),) if kind else ()
        return await self._send(SessionRequest("POST", self._absolute(url), (*typed, *_pairs(headers)), body))

    async def submit(self, page: Page, data: Pairs, *, form: str = "form") -> Page:
        """Fill in a form of a page and send it as a browser does, with its hidden fields; `form` selects the form."""
        found = page.tree.css_first(form)
        if found is None:
            raise LoginFailed(f"there is no form {form!r} on {page.url}")
        fields = dict(_fields(found)) | dict(_pairs(data))
        action = join(page.base, found.attributes.get("action") or "") or page.url
        if (found.attributes.get("method") or "").strip().lower() == "post":
            return await self.post(action, data=fields)
        return await self.get(f"{action.partition('?')[0]}?{urlencode(fields)}")

    def _absolute(self, url: str) -> str:
        found = join(self.url, url)
        if found is None:
            raise LoginFailed(f"not a URL: {url}")
        return found


def _pairs(pairs: Pairs) -> tuple[tuple[str, str], ...]:
    return tuple((str(k), str(v)) for k, v in (pairs.items() if isinstance(pairs, Mapping) else pairs))


def _fields(form: Any) -> Iterable[tuple[str, str]]:
    """Yield names and values of the fields of a form that a browser would send unchanged."""
    for node in form.css(_FIELDS):
        given = node.attributes
        kind = (given.get("type") or "").lower()
        if "disabled" in given or kind in _NO_VALUE or (kind in ("checkbox", "radio") and "checked" not in given):
            continue
        if node.tag == "select":
            chosen = node.css_first("option[selected]") or node.css_first("option")
            value = (chosen.attributes.get("value") or chosen.text(strip=True)) if chosen else ""
        elif node.tag == "textarea":
            value = node.text()
        else:
            value = given.get("value") or ("on" if kind in ("checkbox", "radio") else "")
        yield given["name"], value


@dataclass(frozen=True)
class SessionHook:
    """A function that logs in, the URLs that need it, and the signs of a session that has expired."""

    name: str
    match: tuple[str, ...]
    statuses: frozenset[int]
    redirects: tuple[str, ...]
    function: SessionFunction = field(repr=False)
    expired: Callable[[Page], bool] | None = None

    @property
    def file(self) -> str:
        """Return the file in which the function is written."""
        return cast(FunctionType, inspect.unwrap(self.function)).__code__.co_filename

    def fit(self, url: str) -> int | None:
        """Return the length of the longest matching pattern without stars, or None for a URL of other sessions."""
        fits = [len(glob.replace("*", "")) for glob in self.match if matches_glob(glob, url)]
        return max(fits) if fits else None

    def leads_to_login(self, url: str) -> bool:
        """Return whether a redirect to a URL asks to log in."""
        return any(matches_glob(glob, url) for glob in self.redirects)


def session(
    function: object = None,
    /,
    *,
    match: str | tuple[str, ...] = (),
    statuses: tuple[int, ...] = (401,),
    redirects: str | tuple[str, ...] = (),
    expired: Callable[[Page], bool] | None = None,
) -> Callable[[_Function], _Function]:
    """Mark an async function that logs in to a site, for URLs that match; `*` stands for any characters.

    The function runs before the first page of a run, and again when the session has expired: when a page answers with
    one of the `statuses`, redirects to a URL that matches `redirects`, or is one for which `expired` returns True.
    """
    if function is not None or not match:
        raise ParserMistake('@session needs the URLs of the site, as in @session(match="https://shop.example/*")')

    def mark(function: _Function) -> _Function:
        if not inspect.iscoroutinefunction(function):
            raise ParserMistake(f"session {function.__name__} must be an async function: write async def")
        hook = SessionHook(
            function.__name__,
            (match,) if isinstance(match, str) else match,
            frozenset(statuses),
            (redirects,) if isinstance(redirects, str) else redirects,
            function,
            expired,
        )
        setattr(function, SESSION_ATTRIBUTE, hook)
        return function

    return mark
