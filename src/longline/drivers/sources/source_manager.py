"""The remote source manager over HTTP; its address comes from the operator, so the egress guard does not apply."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

import orjson
import wreq

from longline.drivers.http.certificates import load_issuers
from longline.drivers.http.client import read_body
from longline.drivers.http.failures import RAISED
from longline.model.errors import Conflict, Unavailable
from longline.model.urls.url_credentials import hide_in_text
from longline.ports.http import FetchFailed
from longline.ports.sources import Described, ListedSource

PAGE_SIZE = 500
REQUEST_TIMEOUT = timedelta(seconds=30)
MAX_BYTES = 64 * 1024 * 1024

ORDER = "sort_by=created_at&sort_order=asc"
"""Sort order with new sources last, so that reading page after page skips none."""

UNAVAILABLE_STATUSES = frozenset({401, 403, 408, 425, 429})
"""Statuses, beside 5xx, that count as unavailable and not as a rejection of the request."""

BROKEN: tuple[type[Exception], ...] = (*RAISED, FetchFailed)


class HttpSourceManager:
    """The remote source manager at the URL of its list; `token` makes the bearer token of each request."""

    def __init__(self, url: str, token: Callable[[], str], roots: Path | None = None) -> None:
        self._url, self._token = url.rstrip("/"), token
        self._client = wreq.Client(
            tls_verify=load_issuers(roots).store,
            no_proxy=True,
            timeout=REQUEST_TIMEOUT,
            redirect=wreq.Policy.none(),
        )

    async def page(self, number: int, *, feed_active: bool = False) -> ListedSource:
        only = "&feed_active=true" if feed_active else ""
        found = await self._ask(wreq.Method.GET, f"?page={number}&limit={PAGE_SIZE}&{ORDER}{only}")
        sources = found.get("sources") if isinstance(found, dict) else None
        if not isinstance(found, dict) or not isinstance(sources, list | None):
            raise Unavailable("the source service did not answer with a list of sources")
        described = [one for one in sources or () if isinstance(one, dict)]
        return ListedSource(described, _count(found.get("total")), _count(found.get("total_pages")))

    async def get(self, ref: str) -> Described | None:
        found = await self._ask(wreq.Method.GET, _path(ref))
        if found is None:
            return None
        source = found.get("source", found) if isinstance(found, dict) else None
        if not isinstance(source, dict):
            raise Unavailable("the source service did not answer with a source")
        return source

    async def put(self, ref: str, source: Described) -> None:
        await self._ask(wreq.Method.PUT, _path(ref), source)

    async def disable_feed(self, ref: str, reason: str) -> None:
        await self._ask(wreq.Method.PATCH, f"{_path(ref)}/feed-disable", {"reason": reason})

    async def enable_feed(self, ref: str) -> None:
        await self._ask(wreq.Method.PATCH, f"{_path(ref)}/feed-enable", {})

    async def close(self) -> None:
        self._client.close()

    async def _ask(self, method: wreq.Method, path: str, body: Described | None = None) -> Any:
        """Return the decoded response; None for a write or an unknown source."""
        status, said = await self._send(method, path, body)
        if status == 404 and path.startswith("/"):
            return None
        if 400 <= status < 500 and status not in UNAVAILABLE_STATUSES and body is not None:
            raise Conflict(f"the source service answered {status}")
        if status >= 300:
            why = ": does it have the secret that we sign with?" if status == 401 else ""
            raise Unavailable(f"the source service answered {status}{why}")
        if body is not None:
            return None
        try:
            return orjson.loads(said)
        except orjson.JSONDecodeError as error:
            raise Unavailable("the source service did not answer in JSON") from error

    async def _send(self, method: wreq.Method, path: str, body: Described | None) -> tuple[int, bytes]:
        headers = {"accept": "application/json", "authorization": f"Bearer {self._token()}"}
        given: dict[str, Any] = {"headers": headers}
        if body is not None:
            given = {"headers": headers | {"content-type": "application/json"}, "body": orjson.dumps(body)}
        try:
            async with self._client.request(method, f"{self._url}{path}", **given) as answer:
                return answer.status.as_int(), await read_body(answer, MAX_BYTES, cut=False)
        except BROKEN as error:
            why = hide_in_text(str(error).splitlines()[0])
            raise Unavailable(f"the source service cannot be asked: {why}") from error


def _path(ref: str) -> str:
    return f"/{quote(ref, safe='')}"


def _count(found: Any) -> int | None:
    return found if isinstance(found, int) and not isinstance(found, bool) else None
