"""An origin of files on loopback: it serves, fails and stalls by the path, and keeps a log of its requests."""

import hashlib
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Origin:
    """A running origin."""

    url: str = ""
    requests: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    healed: bool = False
    gate: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def asked(self, path: str) -> int:
        """Return the number of requests for a path."""
        return Counter(found for found, _ in self.requests)[path]

    def headers(self, path: str) -> dict[str, str]:
        """Return the headers of the last request for a path."""
        return next(headers for found, headers in reversed(self.requests) if found == path)


def content(path: str) -> bytes:
    """Return the bytes of the file at a path."""
    return hashlib.sha256(path.encode()).digest() * 32


def digest(path: str) -> str:
    return hashlib.sha256(content(path)).hexdigest()


@contextmanager
def running_origin() -> Iterator[Origin]:
    """Yield an origin for the time of the context. `/status/N/…` answers N, `/gate/…` waits for the gate."""
    origin = Origin()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            with origin.lock:
                origin.requests.append((self.path, {name.lower(): value for name, value in self.headers.items()}))
            parts = self.path.strip("/").split("/")
            if parts[0] == "gate":
                origin.gate.wait(60)
            status = int(parts[1]) if parts[0] == "status" and not origin.healed else 200
            body = content(self.path) if status == 200 else b"no"
            self.send_response(status)
            self.send_header("Content-Type", "image/png" if status == 200 else "text/plain")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Write no log."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    origin.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield origin
    finally:
        origin.gate.set()
        server.shutdown()
        server.server_close()
        thread.join()
