"""A parser of ten lines: the same items by hand and on a schedule, as the manual shows; and its failures."""

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.cli.conftest import surroundings
from tests.journeys.place import LOOPBACK, Place, Row, wait_until
from tests.journeys.test_intervals import QUICK, Client, quick
from tests.journeys.test_schedules import Reader
from tests.servers import program

MANUAL = Path(__file__).parents[2] / "docs/how-to/parsers.md"
SITE = "https://books.example/"
SHELVES, BOOKS_A_SHELF = 5, 20
BOOKS = "SELECT kind, title, price FROM items WHERE kind <> 'extraction' ORDER BY title"


def shelf(number: int) -> str:
    """Return one page of the shop: its books, and a link to the next page."""
    first = (number - 1) * BOOKS_A_SHELF
    books = "".join(
        f"<article class=book id=b{n}><h3>Book {n:03}</h3><p class=price>£{n}.50</p></article>"
        for n in range(first, first + BOOKS_A_SHELF)
    )
    more = f'<a class=next href="/page/{number + 1}">next</a>' if number < SHELVES else ""
    return f"<!doctype html><meta charset=utf-8><title>Books</title>{books}{more}<a href=/about>about</a>"


@contextmanager
def bookshop() -> Iterator[str]:
    """Serve a hundred books on five pages, and yield the URL."""
    pages = {"/" if n == 1 else f"/page/{n}": shelf(n).encode() for n in range(1, SHELVES + 1)}

    class Clerk(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = pages.get(self.path, b"")
            self.send_response(200 if body else 404)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Write no log."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Clerk) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()
            thread.join()


def parser_of_the_manual(site: str) -> str:
    code: str
    [code] = [
        code
        for code in re.findall(r"```python\n(.*?)```", MANUAL.read_text(encoding="utf-8"), re.DOTALL)
        if '"books"' in code
    ]
    assert len([line for line in code.splitlines() if line]) <= 10
    return code.replace(SITE, site)


def run_job(client: Client, source: str, url: str) -> dict[str, Any]:
    """Run a job once, and return its run after its end."""
    job = client.post("/api/v1/jobs", {"source_id": source, "url": url, "max_retries": 0})["id"]
    wait_until(lambda: [run["status"] for run in client.runs(job)] not in ([], ["running"]), "the end of the job")
    return client.runs(job)[0]


def put(client: Client, source: str, body: dict[str, Any], expect: int = 200) -> Any:
    answer = client.http.put(f"/api/v1/sources/{source}", json=body)
    assert answer.status_code == expect, answer.text
    return answer.json()


def test_the_same_hundred_books_by_hand_and_on_a_schedule(place: Place, tmp_path: Path) -> None:
    file = place.data.parent / "books.py"
    file.parent.mkdir(parents=True, exist_ok=True)
    with bookshop() as site:
        file.write_text(parser_of_the_manual(site))
        with quick(place, f'{QUICK}workers = 2\nparsers = ["{file}"]\n') as (it, client):
            reader = Reader(it, place, tmp_path, site, MANUAL)
            reader.called |= {SITE: site, " books.py": f" {file}"}
            by_hand = crawled(reader.commands.pop(0), reader, tmp_path)
            assert len(by_hand) == SHELVES * BOOKS_A_SHELF
            assert by_hand[7] == ("book", "Book 007", 7.5)
            assert reader.commands.pop(0) == "longline up --parsers books.py\n"
            reader.type()
            made = reader.ask()
            assert (made["parser"], made.get("config")) == ("books", None)
            source = reader.called["{source}"] = made["id"]
            job = reader.ask()["id"]
            wait_until(lambda: [run["status"] for run in client.runs(job)] == ["completed"], "the end of the job")
            assert place.ask(BOOKS) == by_hand, "the same items"
            [run] = client.runs(job)
            assert (run["items_crawled"], run["items_indexed"]) == (SHELVES, len(by_hand))
            assert "books" in reader.type()
            assert re.search(r"parsers\tok\tbooks", reader.type())
            assert reader.commands == []
            refusals(client, source)
            between_runs(client, source, site, place, file)
            it.stop()


def crawled(command: str, reader: Reader, folder: Path) -> list[Row]:
    """Return the items of a crawl by hand."""
    for word, ours in reader.called.items():
        command = command.replace(word, ours)
    words = command.split()[1:]
    done = program.run(*words, "--out", str(folder / "by-hand"), cwd=folder, env=surroundings(LOOPBACK))
    assert done.returncode == 0, done
    return Place(folder / "by-hand").ask(BOOKS)


def refusals(client: Client, source: str) -> None:
    told = put(client, source, {"parser": "bocks"}, 400)["error"]
    assert "there is no parser 'bocks'; loaded are article, books, feed" in told
    told = put(client, source, {"config": {"currency": "GBP"}}, 400)["error"]
    assert told == "the parser 'books' takes no config, but the config has currency"
    assert client.get(f"/api/v1/sources/{source}")["parser"] == "books"


def between_runs(client: Client, source: str, site: str, place: Place, file: Path) -> None:
    """Change the parser between runs: another one, another file, one that raises, and a missing one."""
    put(client, source, {"parser": "article"})
    run = run_job(client, source, site)
    assert (run["status"], run["items_crawled"], run["items_indexed"]) == ("completed", 1, 0)
    skipped = run["metadata"]["crawl_metrics"]["skipped"]
    assert (skipped["url_filter"], skipped["page_type"]) == (2, 1), "/page/2 and /about; a page that is no article"
    put(client, source, {"parser": None})
    assert run_job(client, source, site)["items_indexed"] == SHELVES * BOOKS_A_SHELF, "the closest match"
    code = file.read_text()
    change(file, code.replace('Item("book"', 'Item("volume"'))
    put(client, source, {"parser": "books"})
    assert run_job(client, source, site)["items_indexed"] == SHELVES * BOOKS_A_SHELF
    assert place.value("SELECT COUNT(*) FROM items WHERE kind = 'volume'") == SHELVES * BOOKS_A_SHELF
    change(file, code.replace(".price", ".prize"))
    run = run_job(client, source, site)
    [error] = run["metadata"]["crawl_metrics"]["top_errors"]
    assert re.search(r"books: \S*books\.py:7: AttributeError", error["message"]), error
    change(file, code.replace('"books"', '"comics"'))
    run = run_job(client, source, site)
    assert (run["status"], run["items_crawled"]) == ("failed", 0)
    assert (
        "the source 'Books' cannot be parsed: there is no parser 'books'; loaded are article, comics"
        in (run["error_message"])
    )


def change(file: Path, code: str) -> None:
    """Write another text, which every process reads at its next check."""
    file.write_text(code)
    threading.Event().wait(1.2)


def test_a_parser_without_pages_or_with_failures_only_is_told_with_the_command_that_mends_it(tmp_path: Path) -> None:
    def run(*words: str) -> Any:
        return program.run(*words, cwd=tmp_path, env=surroundings({}))

    file = tmp_path / "own.py"
    text = 'from longline.plugins import Item, Links, parser\n@parser("own", match="{}")\ndef own(page):\n    {}\n'
    good = 'yield Item("shelf", title=page.title); yield Links(page.links())'
    with bookshop() as site:
        file.write_text(text.format("*/livre/*", good))
        told = run("crawl", site, "--parsers", "own.py", "--out", "out")
    assert told.returncode == 1
    assert f"parser own (own.py:2) does not match any of the {SHELVES} pages: match='*/livre/*'" in told.stdout
    command = told.stdout.partition("parse the same pages again: ")[2].splitlines()[0].split()
    assert run(*command[1:]).returncode == 1, "the pattern is still wrong"
    file.write_text(text.format("*", "yield Item('x', title=page.text('h3::text'))"))
    failed = run(*command[1:])
    assert failed.returncode == 1
    assert "own.py:4: the CSS selector 'h3::text' cannot be read" in failed.stdout
    file.write_text(text.format("*", good))
    mended = run("reparse", "--data", "out")
    assert (mended.returncode, mended.stderr) == (0, ""), "the files of the crawl are used without a flag"
    assert f"pages parsed: {SHELVES}, items: {SHELVES}" in mended.stdout
    assert run("runs", "--data", "out").stdout.split("\t")[5:7] == [str(SHELVES), str(SHELVES)], "pages and items now"


def test_a_crawl_fails_if_its_parser_fails_on_every_page(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(
        "from longline.plugins import Item, parser\n"
        '@parser("own", match="*/page/*")\ndef own(page):\n    yield {"title": page.title}\n'
    )
    with bookshop() as site:
        told = program.run("crawl", site, "--parsers", "own.py", "--out", "out", cwd=tmp_path, env=surroundings({}))
    assert told.returncode == 1
    assert "failed once: own: own.py:4: parser own yields dict, not Item" in told.stdout
    assert "own parsers failed on the only page that they took" in told.stdout


def test_parsers_that_cannot_be_loaded_leave_no_folder_behind(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text("1 / 0")
    for name in ("own.py", "none.py"):
        told = program.run("crawl", "http://127.0.0.1:9/", "--parsers", name, "--out", "out", cwd=tmp_path)
        assert told.returncode == 2
        assert name in told.stderr
    assert [file.name for file in tmp_path.iterdir()] == ["own.py"]
