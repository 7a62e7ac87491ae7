"""Requests that follow a redirect."""

import msgspec

from longline.ports.http import Request

_KEEPS_METHOD = frozenset({307, 308})
_OF_BODY = frozenset({"content-type", "content-length", "content-encoding", "content-language", "content-location"})


def redirected(request: Request, status: int, url: str) -> Request:
    """Return the request that follows a redirect: 307 and 308 keep method and body, all others make it a GET.

    The Fetch standard turns a redirected POST into a GET for 301 and 302 as well as for 303, as browsers do.
    """
    if status in _KEEPS_METHOD or request.method == "GET":
        return msgspec.structs.replace(request, url=url)
    headers = tuple((name, value) for name, value in request.headers if name.lower() not in _OF_BODY)
    return msgspec.structs.replace(request, url=url, headers=headers, method="GET", body=b"")
