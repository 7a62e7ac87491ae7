"""A small web server in this process, for sites of a few pages: it serves them like `bench.web`, without a program."""

import os
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from bench.site import ADDRESSES, Site
from bench.web import Served
from tests.servers.process import free_ports


class Handler(SimpleHTTPRequestHandler):
    """A handler for the files of a folder, each request a line of the log."""

    protocol_version = "HTTP/1.1"

    def __init__(self, *given: Any, address: str, log: Path, lock: threading.Lock, **named: Any) -> None:
        self._address, self._log, self._lock = address, log, lock
        super().__init__(*given, **named)

    def log_request(self, code: Any = "-", *_: Any) -> None:
        with self._lock, self._log.open("a") as log:
            log.write(f"{self._address} {int(code)} {self.path}\n")

    def log_message(self, format: str, *args: Any) -> None:
        """Write nothing: a request that cannot be served is in the log already."""


class Server(ThreadingHTTPServer):
    request_queue_size = 128
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore a client that closed its connection."""


@contextmanager
def small_web(site: Site, log: Path) -> Iterator[Served]:
    log.touch()
    port, lock = free_ports(1)[0], threading.Lock()
    with ExitStack() as stack:
        for address in ADDRESSES:
            directory = str(Path(site.folder) / address)
            handler = partial(Handler, address=address, log=log, lock=lock, directory=directory)
            server = stack.enter_context(Server((address, port), handler))
            thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
            thread.start()
            stack.callback(thread.join)
            stack.callback(server.shutdown)
        yield Served("small", port, log, os.getpid())
