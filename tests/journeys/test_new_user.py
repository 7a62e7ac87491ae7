"""The first hour of a new user who knows Scrapy: a shop, a parser, a table, a schedule, and the changes."""

import json
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.journeys.place import Place, wait_until
from tests.journeys.test_how_to_limit import EXAMPLE, MANUAL, blocks, commands, type_in
from tests.journeys.test_intervals import QUICK, Client, quick
from tests.journeys.test_items import numbers, read_csv
from tests.journeys.test_versions import NEW_PRICES
from tests.servers import program
from tests.web import SiteHandle, running_site
from tests.web.shop import BOOKS, COLUMNS, PARSER, open_shop, price_of

SCRAPY = Path(__file__).parents[2] / ".venv-bench/bin/scrapy"
PAGE = "from-scrapy.md"
SHOP = "https://books.example"
GONE = 50


def take_away(site: SiteHandle, number: int) -> None:
    """Remove a book from the list; its own page stays."""
    place = f"/list/{(number - 1) // 20 + 1}"
    listed = site.site.extra[place]
    assert isinstance(listed, bytes)
    site.site.extra[place] = listed.replace(f'href="/book/{number}"'.encode(), b"")


def told_changes(lines: str) -> list[tuple[str, str, Any, Any]]:
    """Return the output of `longline diff`: change, number of the book, price before and after."""
    told = map(json.loads, lines.splitlines())
    return [(line["change"], line["url"].rpartition("/")[2], line["before"], line.get("after")) for line in told]


SEVEN = sorted(("changed", str(n), price_of(n), price) for n, price in NEW_PRICES.items())


class ByHand:
    """A user at a terminal who types the commands of the manual."""

    def __init__(self, site: SiteHandle, folder: Path) -> None:
        (folder / "books.py").write_text(PARSER)
        self._site, self._folder = site, folder
        self.crawl, self.again, self.diff = (
            line.replace(SHOP, EXAMPLE) for line in commands(PAGE) if line.startswith("longline ")
        )

    def type(self, line: str) -> str:
        return type_in(line, self._site, self._folder)

    def rows(self) -> list[dict[str, str]]:
        return read_csv(self._folder / "books.csv")


class Scheduled:
    """The same parser behind the API: a source that names it, and a job at an interval."""

    def __init__(self, client: Client, place: Place, site: SiteHandle, folder: Path) -> None:
        self._client, self._folder = client, folder
        self._engines = Place(place.data, {n: u for n, u in place.engines.items() if n != "redis"}).flags
        source = {"name": "Books", "url": site.url, "parser": "books", "max_depth": -1, "rate_limit": "1ms"}
        job = {
            "source_id": client.post("/api/v1/sources", source)["id"],
            "url": site.url,
            "interval_minutes": 6,
            "interval_type": "hours",
            "schedule_enabled": True,
        }
        self._job = client.post("/api/v1/jobs", job)["id"]

    def ended(self, runs: int) -> None:
        """Wait until so many runs have ended well."""
        wait_until(lambda: self._states() == ["completed"] * runs, f"the end of run {runs}")
        wait_until(lambda: self._client.get(f"/api/v1/jobs/{self._job}")["status"] == "scheduled", "the next turn")

    def run_again(self, runs: int) -> None:
        self._client.post(f"/api/v2/jobs/{self._job}/force-run")
        self.ended(runs)

    def rows(self) -> list[dict[str, str]]:
        """Return the items of the first run as a table."""
        self._run("export", "--run", str(self._numbers()[0]), "-o", "scheduled.csv")
        return read_csv(self._folder / "scheduled.csv")

    def diff(self, before: int, after: int) -> str:
        ids = self._numbers()
        return self._run("diff", str(ids[before - 1]), str(ids[after - 1])).stdout

    def _states(self) -> list[str]:
        return [run["status"] for run in self._client.runs(self._job)]

    def _numbers(self) -> list[int]:
        """Return the numbers of the runs of the job, as `longline runs` lists them; the oldest first."""
        lines = [line.split("\t") for line in self._run("runs").stdout.splitlines()]
        return [int(line[0]) for line in reversed(lines) if self._job in line]

    def _run(self, command: str, *words: str) -> subprocess.CompletedProcess[str]:
        done = program.run(command, *words, *self._engines, cwd=self._folder)
        assert done.returncode in (0, 1 if command == "diff" else 0), done.stderr
        return done


@contextmanager
def shop() -> Iterator[SiteHandle]:
    with running_site(pages=0) as site:
        open_shop(site)
        yield site


def test_a_table_a_schedule_and_the_changes(place: Place, tmp_path: Path):
    with shop() as site:
        user = ByHand(site, tmp_path)
        assert "100 items are in books.csv" in user.type(user.crawl)
        table = user.rows()
        assert list(table[0]) == COLUMNS
        assert numbers(table) == list(range(1, BOOKS + 1))
        with quick(place, f'{QUICK}parsers = ["{tmp_path / "books.py"}"]\n') as (it, client):
            job = Scheduled(client, place, site, tmp_path)
            job.ended(1)
            assert sorted(job.rows(), key=str) == sorted(table, key=str), "the same items by hand and on a schedule"

            open_shop(site, NEW_PRICES)
            job.run_again(2)
            assert "7 changed, 93 unchanged, 0 new, 0 gone" in user.type(user.again)
            assert sorted(told_changes(user.type(user.diff))) == SEVEN
            assert sorted(told_changes(job.diff(1, 2))) == SEVEN

            take_away(site, GONE)
            job.run_again(3)
            assert "0 changed, 99 unchanged, 0 new, 1 gone" in user.type(user.again)
            for told in (user.type(user.diff.replace("1 2", "2 3")), job.diff(2, 3)):
                assert [line[:2] for line in told_changes(told)] == [("gone", str(GONE))]
            it.stop()


# -- the same in Scrapy -------------------------------------------------------------------------------------------


def lines_of(code: str) -> int:
    return len([line for line in code.splitlines() if line.strip()])


def step(name: str) -> list[str]:
    """Return the two cells of a row in the table of steps."""
    (row,) = re.findall(rf"^\| {re.escape(name)} \| (.*) \| (.*) \|$", (MANUAL / PAGE).read_text(), re.MULTILINE)
    return list(row)


def test_the_lines_and_commands_of_both_are_as_many_as_the_manual_says():
    spider, compare = blocks(PAGE, "python")
    ours = [line for line in commands(PAGE) if line.startswith("longline ")]
    theirs = [line for line in commands(PAGE) if not line.startswith("longline ")]
    assert step("the table of books") == [
        f"{lines_of(PARSER)} lines, 1 command",
        f"{lines_of(spider)} lines, 1 command",
    ]
    assert step("a second crawl, and the changes") == [
        f"0 lines, {len(ours) - 1} commands",
        f"{lines_of(compare)} lines, {len(theirs) - 1} commands",
    ]


def as_scrapy_writes(row: dict[str, str]) -> dict[str, str]:
    """Return a row with its list joined by commas, as Scrapy writes lists into CSV."""
    return row | {"tags": ",".join(json.loads(row["tags"]))}


@pytest.mark.skipif(not SCRAPY.exists(), reason="Scrapy is in .venv-bench, which `make bench` makes")
def test_scrapy_finds_the_same_books(tmp_path: Path):
    spider, compare = blocks(PAGE, "python")
    first, second, difference = (line for line in commands(PAGE) if not line.startswith("longline "))
    with shop() as site:
        (tmp_path / "spider.py").write_text(spider.replace(f"{SHOP}/", site.url))
        (tmp_path / "compare.py").write_text(compare)
        user = ByHand(site, tmp_path)
        user.type(user.crawl)
        ours = user.rows()
        path = f"PATH={SCRAPY.parent}:$PATH; "
        user.type(path + first)
        assert sorted(user.rows(), key=str) == sorted(map(as_scrapy_writes, ours), key=str)
        assert list(user.rows()[0]) == COLUMNS
        open_shop(site, NEW_PRICES)
        take_away(site, GONE)
        user.type(path + second)
        told = [line.split()[0].rpartition("/")[2] for line in user.type(difference).splitlines()]
    assert sorted(told) == sorted([*map(str, NEW_PRICES), *[str(GONE)] * len(COLUMNS)])
