"""Cookie files in the Netscape format, as browsers' extensions, curl and wget write them."""

from collections.abc import Iterator

from longline.model.errors import BadInput
from longline.model.fetch.cookies import Cookie

_HTTP_ONLY = "#HttpOnly_"
_FIELDS = 7
_SWITCHES = {"TRUE": True, "FALSE": False}
MAX_NAMED_LINES = 5
"""Largest number of bad lines that an error names."""


def read_cookie_file(text: str, name: str) -> list[Cookie]:
    """Return the cookies of a file called `name`; raise `BadInput` with the numbers of bad lines, without their text.

    A line has seven fields with tabs between them: domain, whether subdomains get the cookie, path, whether the cookie
    is Secure, expiry in seconds since 1970 or 0, name, value.
    """
    cookies, bad = [], []
    for number, line in _lines(text):
        cookie = _cookie(line.split("\t"))
        if cookie is None:
            bad.append(number)
        else:
            cookies.append(cookie)
    if bad:
        shown = ", ".join(map(str, bad[:MAX_NAMED_LINES]))
        more = f" and {len(bad) - MAX_NAMED_LINES} more" if len(bad) > MAX_NAMED_LINES else ""
        lines = f"line {shown} does not have" if len(bad) == 1 else f"lines {shown}{more} do not have"
        raise BadInput(
            f"{name} is no Netscape cookie file: {lines} the seven fields domain, subdomains, path, "
            "secure, expiry, name and value with tabs between them"
        )
    return cookies


def _lines(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.lstrip("\ufeff").splitlines(), 1):
        line = line.removeprefix(_HTTP_ONLY)
        if line.strip() and not line.startswith("#"):
            yield number, line


def _cookie(fields: list[str]) -> Cookie | None:
    if len(fields) == _FIELDS - 1:
        fields = [*fields, ""]  # some writers leave out an empty value
    if len(fields) != _FIELDS:
        return None
    domain, below, path, secure, expires, name, value = fields
    domain = domain.strip().lower()
    try:
        seconds = float(expires or 0)
    except ValueError:
        return None
    if not domain.strip(".") or not path.startswith("/") or {below.upper(), secure.upper()} - _SWITCHES.keys():
        return None
    host_only = not _SWITCHES[below.upper()] and not domain.startswith(".")
    return Cookie(name, value, domain.lstrip("."), path, host_only, _SWITCHES[secure.upper()], seconds or None)
