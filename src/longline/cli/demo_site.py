"""The website of the demo: a harbour's log book, with a moved, a missing and a disallowed page."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

BOATS = ("Albatross", "Bonito", "Cormorant", "Dorado", "Ebb Tide", "Fulmar", "Gannet", "Halibut")
DAYS = 14
ROBOTS = "User-agent: *\nDisallow: /office/\n"

_PAGE = "<!doctype html><html lang=en><meta charset=utf-8><title>{title}</title><h1>{title}</h1>{body}</html>"


@dataclass(frozen=True)
class DemoSite:
    """The running demo site: its URL and its pages."""

    url: str
    book: "LogBook"

    @property
    def pages(self) -> int:
        """Return the number of pages that may be fetched."""
        return len(self.book.pages)


class LogBook:
    """The pages of the demo site by path."""

    @cached_property
    def pages(self) -> dict[str, str]:
        pages = {"/": self._page("The harbour", [f"/boats/{n}" for n in range(len(BOATS))] + ["/old", "/office/keys"])}
        for number, boat in enumerate(BOATS):
            days = [f"/boats/{number}/{day}" for day in range(1, DAYS + 1)]
            pages[f"/boats/{number}"] = self._page(boat, [*days, "/", "/lost"])
            for day, path in enumerate(days, start=1):
                pages[path] = self._page(f"{boat}, day {day}", [f"/boats/{number}", *days[day : day + 1]])
        return pages

    def _page(self, title: str, links: list[str]) -> str:
        body = "".join(f'<p><a href="{link}">{link}</a></p>' for link in links)
        return _PAGE.format(title=title, body=body)

    def answer(self, path: str) -> tuple[int, str, str]:
        """Return status, content type and text of a path: `/old` is a redirect, and an unknown path a 404."""
        if path == "/robots.txt":
            return 200, "text/plain", ROBOTS
        if path == "/old":
            return 301, "text/plain", "/"
        found = self.pages.get(path)
        return (200, "text/html; charset=utf-8", found) if found else (404, "text/plain", "no such page")


@contextmanager
def running_site() -> Iterator[DemoSite]:
    """Serve the site on a free port of loopback."""
    book = LogBook()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            status, kind, text = book.answer(self.path)
            body = text.encode()
            self.send_response(status)
            if status == 301:
                self.send_header("Location", text)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Log nothing: the demo shows the crawler's side only."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, name="demo site", daemon=True)
    thread.start()
    try:
        yield DemoSite(f"http://127.0.0.1:{server.server_port}/", book)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
