"""Items of a crawl as tables: one command, and every item is there once, with the columns of its parser."""

import csv
import json
import os
import re
import shlex
import signal
import subprocess
from pathlib import Path

import pytest
from arro3.io import read_parquet

from tests.journeys.place import wait_until
from tests.servers import program
from tests.servers.shell import type_command
from tests.web import running_site
from tests.web.shop import BOOKS, COLUMNS, MANUAL, PARSER, open_shop, price_of, title_of
from tests.web.wire import Answer

ROW = {"title": title_of(10), "price": 10.5, "stock": 10, "tags": ["new", "n10"]}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the parser of the shop."""
    (tmp_path / "books.py").write_text(PARSER)
    return tmp_path


def read_csv(file: Path) -> list[dict[str, str]]:
    with file.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def numbers(rows: list[dict[str, str]]) -> list[int]:
    """Return the numbers of the books, in order."""
    return sorted(int(row["url"].rpartition("/")[2]) for row in rows)


def test_a_shop_of_a_hundred_books_is_a_table(folder: Path):
    with running_site(pages=0) as site:
        open_shop(site)
        names = ["books.csv", "books.jsonl", "deep/books.parquet"]
        outputs = [word for name in names for word in ("-o", name)]
        done = program.run(
            "crawl", site.url, "--depth", "9", "--parsers", "books.py", *outputs, "--out", "data", cwd=folder
        )
    assert done.returncode == 0, done.stderr
    assert "100 items are in books.csv" in done.stdout
    rows = read_csv(folder / "books.csv")
    assert list(rows[0]) == COLUMNS
    assert numbers(rows) == list(range(1, BOOKS + 1))
    tenth = next(row for row in rows if row["title"] == ROW["title"])
    assert (float(tenth["price"]), int(tenth["stock"])) == (ROW["price"], ROW["stock"])
    assert json.loads(tenth["tags"]) == ROW["tags"]
    lines = [json.loads(line) for line in (folder / "books.jsonl").read_text().splitlines()]
    assert [list(line) for line in lines] == [COLUMNS] * BOOKS
    assert {
        name: value for line in lines if line["stock"] == 10 for name, value in line.items() if name != "url"
    } == ROW
    table = read_parquet(folder / "deep/books.parquet").read_all()
    types = [str(table.schema.field(name).type) for name in COLUMNS]
    assert [re.findall("<(.*)>", kind)[0] for kind in types] == ["Utf8", "Float64", "Int64", "Utf8", "Utf8"]
    assert sorted(table["price"].to_pylist()) == [price_of(n) for n in range(1, BOOKS + 1)]
    assert sorted(p.name for p in folder.iterdir()) == ["books.csv", "books.jsonl", "books.py", "data", "deep"]


def test_the_parser_has_ten_lines():
    assert len([line for line in PARSER.splitlines() if line]) <= 10


def test_the_commands_of_the_manual_work_as_they_stand(folder: Path):
    blocks = re.findall(r"```sh\n(.*?)```", MANUAL.read_text(encoding="utf-8"), re.DOTALL)
    commands = [line for block in blocks for line in block.splitlines()]
    assert all(line.startswith("longline ") for line in commands)
    said = []
    with running_site(pages=0) as site:
        open_shop(site)
        site.site.extra["/book/7"] = Answer(status=404)
        for line in commands:
            words = shlex.split(line.replace("https://books.example/", site.url).replace("books.example", "127.0.0.1"))
            done = program.run(*words[1:], cwd=folder)
            assert done.returncode == 0, (line, done.stderr)
            said.append(done.stdout)
    assert len(read_csv(folder / "books.csv")) == len(said[2].splitlines()) == BOOKS - 1
    assert [json.loads(line)["url"].rpartition("/")[2] for line in said[3].splitlines()] == ["7"]
    assert len(said[4].splitlines()) == 1 + BOOKS - 1 + 5, "a line of names, books and lists"
    assert len(read_csv(folder / "urls.csv")) == BOOKS + 5
    assert "headers" in read_csv(folder / "files/pages.csv")[0]


def test_a_kill_leaves_a_whole_table_and_the_resumed_crawl_all_items_once(folder: Path):
    words = ["--depth", "9", "--parsers", "books.py", "-o", "books.csv", "--out", "data"]
    with running_site(pages=0) as site:
        open_shop(site)
        site.site.held_after = 50
        with program.Program(["crawl", site.url, *words], cwd=folder, stdout=subprocess.DEVNULL) as crawl:
            wait_until((folder / "books.csv").exists, "a table")
            wait_until(lambda: len(read_csv(folder / "books.csv")) > 5, "rows")
            crawl.send_signal(signal.SIGKILL)
            crawl.wait()
        half = read_csv(folder / "books.csv")
        assert list(half[0]) == COLUMNS
        assert 5 < len(half) < BOOKS
        assert len(set(numbers(half))) == len(half)
        site.site.held_after = None
        done = program.run("crawl", site.url, *words, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert numbers(read_csv(folder / "books.csv")) == list(range(1, BOOKS + 1))
    assert sorted(p.name for p in folder.iterdir()) == ["books.csv", "books.py", "data"], (
        "no temporary file is left behind"
    )


def test_items_go_into_a_pipe_and_everything_else_elsewhere(folder: Path):
    words = ["--depth", "9", "--parsers", "books.py", "-o", "-", "--out", "data"]
    with running_site(pages=0) as site:
        open_shop(site)
        done = program.run("crawl", site.url, *words, cwd=folder)
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert numbers(lines) == list(range(1, BOOKS + 1))
    assert "admitted" in done.stderr
    again = program.run("export", "--data", "data", "-o", "-", cwd=folder)
    assert again.stdout == done.stdout, "the same items in the same order"


def test_a_reader_that_closes_the_pipe_ends_the_crawl_without_a_traceback(folder: Path):
    words = ["--depth", "9", "--parsers", "books.py", "-o", "-", "--out", "data"]
    with running_site(pages=0) as site:
        open_shop(site)
        site.site.delay = 0.3
        reader, writer = os.pipe()
        with program.Program(["crawl", site.url, *words], cwd=folder, stdout=writer, stderr=subprocess.PIPE) as crawl:
            os.close(writer)
            first = os.read(reader, 10)
            os.close(reader)
            error = crawl.communicate(timeout=60)[1].decode()
        site.site.delay = 0.0
        done = program.run("crawl", site.url, *words, cwd=folder)
    assert first.startswith(b'{"title"')
    assert crawl.returncode == 141, error
    assert "Traceback" not in error
    assert "the same command resumes the crawl" in error
    assert len(done.stdout.splitlines()) == BOOKS, "a pipe gets all items of the run"


def test_a_summary_without_a_reader_leaves_everything_on_disk(folder: Path):
    words = ["--depth", "9", "--parsers", "books.py", "-o", "books.csv", "--out", "data"]
    with running_site(pages=0) as site:
        open_shop(site)
        reader, writer = os.pipe()
        os.close(reader)
        crawl = program.Program(["crawl", site.url, *words], cwd=folder, stdout=writer, stderr=writer)
        os.close(writer)
        assert crawl.wait(60) == 141
    assert numbers(read_csv(folder / "books.csv")) == list(range(1, BOOKS + 1))
    listed = program.run("urls", "--data", "data", "--fate", "failed", cwd=folder)
    assert (listed.returncode, listed.stdout) == (0, "")


def test_a_crawl_keeps_its_parsers(folder: Path):
    with running_site(pages=0) as site:
        open_shop(site)
        first = program.run("crawl", site.url, "--parsers", "books.py", "--limit", "20", "--out", "data", cwd=folder)
        assert first.returncode == 0, first.stderr
        whole = program.run("crawl", site.url, "--limit", "none", "--out", "data", "-o", "books.csv", cwd=folder)
        assert whole.returncode == 0, whole.stderr
        assert "100 items are in books.csv" in whole.stdout
        again = program.run("crawl", site.url, "--out", "data", "--again", cwd=folder)
        assert "0 changed, 100 unchanged, 0 new, 0 gone" in again.stdout
        (folder / "books.py").unlink()
        without = program.run("crawl", site.url, "--out", "data", "--again", cwd=folder)
    assert without.returncode != 0
    assert str(folder / "books.py") in without.stderr


def test_tables_are_whole_with_an_unread_summary(tmp_path: Path) -> None:
    with running_site(pages=3) as site:
        done = type_command(f"longline crawl {site.url} --out data | true", {**os.environ}, tmp_path)
    assert "Traceback" not in done.stderr
    assert len((tmp_path / "data/items.jsonl").read_text().splitlines()) == 3
    assert read_parquet(tmp_path / "data/pages.parquet").read_all().num_rows == 3
