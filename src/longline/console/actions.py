"""Actions of visitors: the fields that every form carries, and the toast that tells the outcome on the next page."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as NotBase64
from collections.abc import Mapping
from typing import Annotated, Any
from urllib.parse import parse_qsl

import msgspec

from longline.surfaces.field_problems import InvalidRequest, Problem
from longline.surfaces.operation import ApiResponse, Content
from longline.surfaces.request_reader import RequestReader

TOAST_COOKIE = "longline_toast"
TOAST_SECONDS = 60
MAX_TOAST_CHARS = 300

HOME = "/console"


class ActionForm(msgspec.Struct, frozen=True):
    """The fields that the form of every action carries; the access check reads them."""

    csrf: str = ""
    reason: Annotated[str, msgspec.Meta(max_length=500)] = ""


class FormReader(RequestReader[Any]):
    """A reader of forms. The values of a field that is sent several times, as of boxes, have spaces between them."""

    def body(self, sent: bytes) -> Any:
        """Return the shape in a form; raise `InvalidRequest`, also for a NUL, which no database stores."""
        fields = parse_qsl(sent.decode("latin-1"), keep_blank_values=True, errors="replace")
        found: dict[str, list[str]] = {}
        for name, value in fields:
            found.setdefault(name, []).append(value)
        broken = [name for name, values in found.items() if name in self.names and any("\0" in one for one in values)]
        if broken:
            raise InvalidRequest(Problem(name, "check", f"{name} must be a text without NUL") for name in broken)
        return self.text({name: " ".join(values) for name, values in found.items() if name in self.names})


def long_texts(form: msgspec.Struct, limits: Mapping[str, int]) -> list[Problem]:
    """Return the problems of typed texts that have more characters than the limits of their fields.

    The handler asks for them: a bound in the shape of a form refuses it before the handler, and the input is lost.
    """
    given = {name: getattr(form, name) for name in limits}
    return [Problem(name, "too_long", limits[name], text) for name, text in given.items() if len(text) > limits[name]]


class Toast(msgspec.Struct, frozen=True, array_like=True):
    """The outcome of an action, which the next page tells once, with a page of the console to look at."""

    text: str
    link: str = ""
    path: str = ""
    is_failure: bool = False


def acted(path: str, text: str, *, link: str = "", target: str = "") -> ApiResponse[Any]:
    """Return the answer to an action: a redirect to a page, which tells the outcome; `link` names the page `target`."""
    return _told(path, Toast(text[:MAX_TOAST_CHARS], link, target))


def refused(path: str, problem: str) -> ApiResponse[Any]:
    """Return the answer to an action that was not possible: a redirect to the page of its form, which tells why."""
    return _told(path, Toast(f"{problem[:1].upper()}{problem[1:MAX_TOAST_CHARS].rstrip('.')}.", is_failure=True))


def _told(path: str, toast: Toast) -> ApiResponse[Any]:
    sent = urlsafe_b64encode(msgspec.json.encode(toast)).decode()
    return redirect(path, toast_header(sent, TOAST_SECONDS))


def toast_header(text: str = "", seconds: int = 0) -> Mapping[str, str]:
    """Return the header that sets the cookie of a toast, or deletes it."""
    return {"Set-Cookie": f"{TOAST_COOKIE}={text}; Path={HOME}; Max-Age={seconds}; HttpOnly; SameSite=Strict"}


def read_toast(cookies: Mapping[str, str]) -> Toast | None:
    """Return the toast that the browser carries from the last action."""
    try:
        found = msgspec.json.decode(urlsafe_b64decode(cookies.get(TOAST_COOKIE, "")), type=Toast)
    except (NotBase64, ValueError, msgspec.DecodeError):
        return None
    return found if found.path == "" or found.path.startswith(f"{HOME}/") else None


def redirect(path: str, headers: Mapping[str, str] | None = None) -> ApiResponse[Any]:
    """Return a redirect to another page, which is then requested by GET."""
    return ApiResponse(
        Content("text/plain", b"see other"), 303, {"Location": path, "Cache-Control": "no-store", **(headers or {})}
    )
