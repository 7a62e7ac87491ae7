"""The commands of the manual for newcomers work as printed."""

import json
import re
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

from tests.servers import program

MANUAL = Path(__file__).parents[2] / "docs/start.md"
EXAMPLE = "https://example.com/"
STORY = "".join(f"<p>In the {n} hour the ferry was late, and nobody on the quay knew why.</p>" for n in range(9))
ARTICLE = '<script type="application/ld+json">{"@type": "NewsArticle", "headline": "Late again"}</script>'
PAGES = {
    "/": "<title>Harbour Times</title><h1>The harbour today</h1><a href=/news/late>late</a> <a href=/gone>gone</a>",
    "/news/late": f"<title>Late</title>{ARTICLE}<article><h1>Late again</h1>{STORY}</article>",
}


@contextmanager
def newspaper() -> Iterator[tuple[str, list[str]]]:
    """Serve a site of two pages, and yield its address and the requested paths."""
    asked: list[str] = []

    class Desk(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            body = PAGES.get(self.path, "").encode()
            self.send_response(200 if body else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Desk) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/", asked
        finally:
            server.shutdown()
            thread.join()


def commands() -> list[str]:
    blocks = re.findall(r"```sh\n(.*?)```", MANUAL.read_text(encoding="utf-8"), re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if line.startswith("longline ")]


def test_a_first_crawl_by_the_manual(tmp_path: Path) -> None:
    said: dict[str, str] = {}
    with newspaper() as (site, asked):
        for line in commands():
            before = len(asked)
            words = shlex.split(line.replace(EXAMPLE, site))
            done = program.run(*words[1:], cwd=tmp_path)
            assert done.returncode == 0, (line, done.stderr)
            assert (len(asked) > before) == (words[1] == "crawl"), "only the crawl makes requests"
            said[line] = done.stdout

    crawled, found, page, markdown, urls, exported, again, different, first, reparsed, articles = said.values()
    assert re.search(r"completed\W+ok\W+2\b", crawled)
    assert re.search(r"failed\W+http_4xx\W+1\b", crawled)
    assert re.search(r"failed once: HTTP 404 \(http://127.0.0.1:\d+/gone\)", crawled)
    assert re.search(r"longline search WORDS --data /\S+/example\n", crawled)
    assert "The harbour today" in found
    assert page == PAGES["/"]
    assert markdown.startswith("# ")
    assert list(tmp_path.glob("files/markdown/127.0.0.1-*/*.md"))
    (gone,) = map(json.loads, urls.splitlines())
    assert (gone["status"], gone["reason"], gone["found_on"]) == (404, "http_4xx", site)
    assert {Path(name).name for name in re.findall(r"\S+\.(?:gz|jsonl|parquet|csv)", exported)} >= {
        "pages.csv",
        "urls.csv",
    }
    assert "items since the last crawl: 0 changed, 2 unchanged, 0 new, 0 gone" in again
    assert (different, "items.csv" in first) == ("", True)
    assert reparsed.startswith("pages parsed: 2, items: 1, new or changed: 1\npages without an item: page_type 1\n")
    assert "Late again" in articles
