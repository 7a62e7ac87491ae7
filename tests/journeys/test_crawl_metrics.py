"""The metrics of an execution's crawl, compared with the log of the site."""

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.journeys.place import Place, wait_until
from tests.journeys.test_intervals import QUICK, quick

WALL = {"Server": "cloudflare", "CF-Ray": "1", "CF-Mitigated": "challenge"}

Answer = tuple[int, dict[str, str], str]


class Moody:
    """A site that answers each path in its own way, and records every answer to a GET."""

    def __init__(self) -> None:
        self.visits: Counter[str] = Counter()
        self.sent: list[tuple[str, int, int]] = []
        self.broken = 0
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                site.visits[self.path] += 1
                if self.path == "/story/broken":
                    site.broken += 1
                    self.close_connection = True
                    return
                status, headers, text = site.answer(self.path)
                body = text.encode()
                self.send_response(status)
                for name, value in ({"Content-Type": "text/html"} | headers).items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
                if self.path != "/robots.txt":
                    site.sent.append((self.path, status, len(body)))

            def log_message(self, *_: object) -> None:
                """Write no log."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/"

    def answer(self, path: str) -> Answer:
        stories = ("flaky", "limited", "moved", "zz", "pdf", "wall", "private", "broken")
        kept: dict[str, Answer] = {
            "/": (200, {}, "".join(f'<a href="/story/{name}">{name}</a>' for name in stories)),
            "/robots.txt": (200, {"Content-Type": "text/plain"}, "User-agent: *\nDisallow: /story/private"),
            "/story/moved": (302, {"Location": "/story/there"}, ""),
            "/story/there": (200, {}, '<a href="/story/deep">deep</a>'),
            "/story/deep": (200, {}, '<a href="/story/deeper">deeper</a>'),
            "/story/pdf": (200, {"Content-Type": "application/pdf"}, "%PDF"),
            "/story/wall": (403, WALL, "Just a moment..."),
        }
        if path == "/story/flaky":
            return (503, {}, "later") if self.visits[path] < 3 else (200, {}, '<a href="/story/aa">aa</a>')
        if path == "/story/limited":
            return (429, {"Retry-After": "0"}, "") if self.visits[path] < 2 else (200, {}, "now")
        return kept.get(path, (404, {}, "gone"))


@contextmanager
def moody() -> Iterator[Moody]:
    """Yield the site for the time of the context."""
    site = Moody()
    thread = threading.Thread(target=site.server.serve_forever, daemon=True)
    thread.start()
    try:
        yield site
    finally:
        site.server.shutdown()
        thread.join()
        site.server.server_close()


def test_every_request_of_a_crawl_is_counted(place: Place):
    hasty = f'{QUICK}page_retry_delay = "10ms"\n'
    with moody() as site, quick(place, hasty) as (it, client):
        source = client.post("/api/v1/sources", {"name": "moody", "url": site.url, "rate_limit": "1ms", "max_depth": 3})
        made = client.post("/api/v1/jobs", {"source_id": source["id"], "url": site.url})["id"]
        wait_until(lambda: client.get(f"/api/v1/jobs/{made}")["status"] == "completed", "its end")
        [run] = client.runs(made)
        it.stop()
    told = run["metadata"]["crawl_metrics"]
    assert site.visits["/story/flaky"] == site.broken == 3
    assert told["requests_total"] == len(site.sent) + site.broken
    assert told["status_codes"] == Counter(str(status) for _, status, _ in site.sent)
    assert told["bytes_downloaded"] == sum(size for _, _, size in site.sent)
    assert told["error_categories"] == {"http_server": 2, "http_client": 3, "network": 3}
    assert told["requests_failed"] == 8
    assert (told["rate_limits"], told["cloudflare_blocks"]) == (1, 1)
    fetched = {"non_html": 1, "max_depth": 1, "robots_txt": 1}
    assert told["skipped"] == fetched | {"page_type": 1, "quality_gate": run["items_crawled"] - 1}
    errors = {error["message"]: error for error in told["top_errors"]}
    assert (errors["HTTP 404"]["count"], errors["HTTP 404"]["last_url"]) == (2, f"{site.url}story/aa")
    assert errors["HTTP 503"] == {"message": "HTTP 503", "count": 2, "last_url": f"{site.url}story/flaky"}
    times = told["response_time"]
    assert 0 <= times["min_ms"] <= times["avg_ms"] <= times["max_ms"]
    assert told["extraction_quality"]["items_indexed"] == run["items_indexed"]
