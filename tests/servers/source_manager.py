"""A small source-manager: sources behind real HTTP, with its contract and, by `trouble`, with any other answer.

The list is open and paged; all other paths need a token of the shared secret. It has no code of longline's.
"""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import jwt

Json = dict[str, Any]
Answer = tuple[int, Any]

SECRET = "a secret that all services share, and long enough"
ROOT = "/api/v1/sources"
WHOLE = {"name", "url", "rate_limit", "max_depth", "selectors", "article_url_patterns", "enabled"}
"""The required fields of a source."""

FIRST = 1_767_225_600
"""The time of the first source, in seconds."""

COOLDOWN = {"forbidden": 24, "not_found": 48, "gone": 72, "upstream_failure": 6, "network": 12, "parse_error": 24}
"""Hours that a feed rests."""


@dataclass(frozen=True)
class Call:
    """One request that was let in and parsed."""

    method: str
    path: str
    query: dict[str, str]
    body: Any


@dataclass
class SourceManager:
    """The sources of the manager and the requests to it. `trouble` answers in its place, with any response."""

    url: str = ""
    sources: dict[str, Json] = field(default_factory=dict)
    calls: list[Call] = field(default_factory=list)
    trouble: Callable[[Call], tuple[int, bytes] | None] = lambda _: None
    most: int = 500
    closing: threading.Event = field(default_factory=threading.Event)

    def add(self, ref: str, **more: Any) -> Json:
        """Add a source with the default fields, except for the given ones."""
        said = {
            "id": ref,
            "name": ref,
            "url": f"https://{ref}.example/",
            "rate_limit": "1s",
            "max_depth": 2,
            "selectors": {"article": {"title": "h1"}},
            "article_url_patterns": [],
            "enabled": True,
            "ingestion_mode": "feed",
            "render_mode": "static",
            "feed_poll_interval_minutes": 15,
            "created_at": shown(FIRST + len(self.sources)),
        }
        self.sources[ref] = said | more
        return self.sources[ref]

    def answer_always(self, status: int, said: bytes = b"{}") -> None:
        """Answer any request."""
        self.trouble = lambda _: (status, said)

    def told(self, method: str = "PATCH") -> list[tuple[str, Any]]:
        """Return the reports about feeds, in order."""
        return [(call.path.removeprefix(f"{ROOT}/"), call.body) for call in list(self.calls) if call.method == method]

    def answer(self, call: Call, token: str | None) -> Answer:
        parts = call.path.removeprefix(ROOT).strip("/").split("/")
        if parts == [""] and call.method == "GET":
            return 200, self._list(call.query)
        if not allowed(token):
            return 401, {"error": "invalid token"}
        source = self.sources.get(parts[0])
        if source is None:
            return 404, {"error": "Source not found"}
        match call.method, parts[1:]:
            case "GET", []:
                return 200, source
            case "PUT", []:
                return self._put(source, call.body)
            case "PATCH", ["feed-disable"] if isinstance(call.body, dict) and call.body.get("reason"):
                source |= {"feed_disabled_at": shown(time.time()), "feed_disable_reason": call.body["reason"]}
                return 200, source
            case "PATCH", ["feed-enable"]:
                for name in ("feed_disabled_at", "feed_disable_reason"):
                    source.pop(name, None)
                return 200, source
        return 400, {"error": "bad request"}

    def _put(self, source: Json, body: Any) -> Answer:
        if not isinstance(body, dict) or not set(body) >= WHOLE:
            return 400, {"error": "a source is written whole"}
        ref = source["id"]
        source.clear()
        source |= body | {"id": ref}
        return 200, source

    def _list(self, query: dict[str, str]) -> Json:
        found = sorted(self.sources.values(), key=lambda one: one["created_at"])
        if query.get("feed_active") == "true":
            found = [one for one in found if active(one)]
        limit = min(int(query.get("limit", 100)), self.most)
        page = int(query.get("page", 1))
        shown = found[(page - 1) * limit : page * limit]
        pages = -(-len(found) // limit)
        return {"sources": shown, "total": len(found), "page": page, "per_page": limit, "total_pages": pages}


def active(source: Json) -> bool:
    """Return true if a feed is to be polled: it does not rest, or has rested long enough for a trial."""
    since = source.get("feed_disabled_at")
    if not source.get("feed_url") or not since:
        return bool(source.get("feed_url"))
    hours = COOLDOWN.get(source.get("feed_disable_reason", ""), 24)
    return datetime.fromisoformat(since).timestamp() + hours * 3600 <= time.time()


def shown(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat().replace("+00:00", "Z")


def allowed(token: str | None) -> bool:
    """Return true for a token of the crawler's, valid for a day."""
    try:
        claims = jwt.decode(token or "", SECRET, algorithms=["HS256"], options={"require": ["exp", "iat", "sub"]})
    except jwt.InvalidTokenError:
        return False
    return bool(claims["sub"] == "crawler-service" and claims["exp"] - claims["iat"] == 86_400)


def token() -> str:
    """Return the token of the crawler."""
    now = int(time.time())
    return jwt.encode({"sub": "crawler-service", "iat": now, "exp": now + 86_400}, SECRET, algorithm="HS256")


class Unworried(ThreadingHTTPServer):
    """A server that ignores killed clients."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Write no log."""


@contextmanager
def running_manager() -> Iterator[SourceManager]:
    """Yield the service on a free port of loopback for the time of the context."""
    manager = SourceManager()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _answer(self) -> None:
            where, length = urlsplit(self.path), int(self.headers.get("content-length", 0))
            body = json.loads(self.rfile.read(length)) if length else None
            query = {name: values[0] for name, values in parse_qs(where.query).items()}
            call = Call(self.command, where.path, query, body)
            planted = manager.trouble(call)
            manager.calls.append(call)
            status, said = planted or self._said(call)
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(said)))
            self.end_headers()
            self.wfile.write(said)

        def _said(self, call: Call) -> tuple[int, bytes]:
            token = (self.headers.get("authorization") or "").removeprefix("Bearer ")
            status, said = manager.answer(call, token)
            return status, json.dumps(said).encode()

        def log_message(self, *_: Any) -> None:
            pass

    for verb in ("GET", "PUT", "PATCH"):
        setattr(Handler, f"do_{verb}", Handler._answer)
    server = Unworried(("127.0.0.1", 0), Handler)
    server.daemon_threads, server.block_on_close = True, False
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    manager.url = f"http://127.0.0.1:{server.server_port}{ROOT}"
    try:
        yield manager
    finally:
        manager.closing.set()
        server.shutdown()
        server.server_close()
        thread.join(timeout=10)
