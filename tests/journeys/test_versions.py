"""A shop that is crawled repeatedly: every run keeps its items, and changes are distinguished from failures."""

import json
import subprocess
from pathlib import Path

from tests.servers import program
from tests.web import SiteHandle, running_site
from tests.web.shop import BOOKS, PARSER, open_shop, price_of
from tests.web.wire import Answer

NEW_PRICES = {n: 1000.0 + n for n in range(1, 8)}


def crawl(site: SiteHandle, folder: Path, *more: str) -> str:
    """Crawl the shop, and return the line that counts items against the last crawl."""
    done = run(folder, "crawl", site.url, "--depth", "9", "--parsers", "books.py", "--out", "data", *more)
    assert done.returncode == 0, done.stderr
    return next((line for line in done.stdout.splitlines() if line.startswith("items since")), "")


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return program.run(*words, cwd=folder)


def prices(folder: Path, number: int) -> dict[int, float]:
    """Return the prices that a run found, by book."""
    exported = run(folder, "export", "--data", "data", "--run", str(number), "-o", f"{number}.jsonl")
    assert exported.returncode == 0, exported.stderr
    rows = map(json.loads, (folder / f"{number}.jsonl").read_text().splitlines())
    return {int(row["url"].rpartition("/")[2]): row["price"] for row in rows}


def differences(folder: Path, before: int, after: int) -> list[dict[str, object]]:
    done = run(folder, "diff", "--data", "data", str(before), str(after))
    assert done.returncode == (1 if done.stdout else 0), done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_seven_prices_change_and_a_product_disappears(tmp_path: Path):
    (tmp_path / "books.py").write_text(PARSER)
    with running_site(pages=0) as site:
        open_shop(site)
        assert crawl(site, tmp_path) == ""
        open_shop(site, NEW_PRICES)
        assert crawl(site, tmp_path, "--again").endswith(": 7 changed, 93 unchanged, 0 new, 0 gone")
        changed = differences(tmp_path, 1, 2)
        assert {line["key"]: (line["field"], line["before"], line["after"]) for line in changed} == {
            f"{site.url}book/{n}": ("price", price_of(n), price) for n, price in NEW_PRICES.items()
        }
        site.site.extra["/list/3"] = bytes(site.site.extra["/list/3"]).replace(b'href="/book/50"', b"")  # type: ignore[arg-type]
        assert crawl(site, tmp_path, "--again").endswith(": 0 changed, 99 unchanged, 0 new, 1 gone")
        assert [(line["change"], line["key"]) for line in differences(tmp_path, 2, 3)] == [
            ("gone", f"{site.url}book/50")
        ]
        site.site.extra["/book/7"] = Answer(403, b"not now")
        assert ": 0 changed, 98 unchanged, 0 new, 0 gone; 1 not seen" in crawl(site, tmp_path, "--again")
        open_shop(site, NEW_PRICES)
        assert crawl(site, tmp_path, "--again").endswith(": 0 changed, 100 unchanged, 0 new, 0 gone"), "both are back"
    old = {n: price_of(n) for n in range(1, BOOKS + 1)}
    assert prices(tmp_path, 1) == old
    assert prices(tmp_path, 2) == old | NEW_PRICES
    assert prices(tmp_path, 4) == {n: p for n, p in (old | NEW_PRICES).items() if n not in (7, 50)}
    assert run(tmp_path, "diff", "--data", "data", "2", "5").returncode == 0
