import sqlite3
from contextlib import closing
from pathlib import Path

from tests.cli.conftest import Command, assert_one_line, running
from tests.journeys.place import wait_until
from tests.web import running_site


def test_a_budget_is_set_shown_and_lifted(longline: Command, tmp_path: Path):
    longline("migrate")
    with closing(sqlite3.connect(next(tmp_path.rglob("longline.db")))) as records:
        records.execute(
            "INSERT INTO sources (name, slug, base_url, config, enabled, created_at, updated_at)"
            " VALUES ('news', 'news', 'https://news.example/', '{}', TRUE, 1, 1)"
        )
        records.commit()
    set_ = longline("sources", "budget", "--id", "100000", "--most", "50")
    assert set_.stdout == "100000 news: 0 of 50 admitted\n", set_.stderr
    assert all(word in longline("sources", "list").stdout for word in ("news", "50"))
    assert longline("sources", "budget", "--id", "100000", "--none").stdout == "100000 news: no budget\n"
    assert_one_line(longline("sources", "budget", "--id", "7", "--most", "1"), 1, "no such source: 7")
    assert_one_line(longline("sources", "budget", "--id", "100000"), 2, "either --most or --none")


BOOKS = """
import msgspec
from longline.plugins import Item, parser
class Shop(msgspec.Struct):
    pages: int = 5
@parser("books", match=(), config=Shop)
def books(page, config):
    yield Item("book", url=page.url)
"""


def test_a_source_is_added_with_its_parser_and_given_another(longline: Command, tmp_path: Path):
    (tmp_path / "books.py").write_text(BOOKS)
    own = ("--parsers", "books.py")
    longline("migrate")
    made = longline("sources", "add", "shop", "https://shop.example/", "--parser", "books", *own)
    assert made.stdout.startswith("100000 shop: parser books, id in the HTTP API "), made.stderr
    api_id = made.stdout.split()[-1]
    assert (
        longline("sources", "list").stdout
        == f"100000\tshop\t{api_id}\thttps://shop.example/\tyes\tinterval\tbooks\t–\t–\t–\n"
    )
    assert_one_line(
        longline("sources", "add", "b", "https://b.example/", "--parser", "books"), 2, "there is no parser 'books'"
    )
    changed = longline(
        "sources", "parser", "--id", "100000", "--parser", "books", "--parser-config", '{"pages": 2}', *own
    )
    assert changed.stdout == '100000 shop: parser books {"pages":2}\n', changed.stderr
    refused = longline(
        "sources", "parser", "--id", "100000", "--parser", "books", "--parser-config", '{"page": 2}', *own
    )
    assert_one_line(refused, 2, "the config of the parser 'books' has no key 'page'; its keys are pages")
    none = longline("sources", "parser", "--id", "100000", "--none")
    assert none.stdout == "100000 shop: parser by the closest match\n"
    assert_one_line(longline("sources", "parser", "--id", "100000"), 2, "either --parser or --none")
    wrong = longline("sources", "add", "c", "https://c.example/", "--parser", "page", "--parser-config", "[1]")
    assert_one_line(wrong, 2, "is not a JSON object")


def test_a_source_names_its_sinks(longline: Command):
    setting = "books=https://a.example/in#whsec_canary,all=x://b"
    longline("migrate")
    made = longline("sources", "add", "shop", "https://shop.example/", "--sink", "books", LONGLINE_SINKS=setting)
    assert "parser by the closest match, sinks books, id in" in made.stdout, made.stderr
    two = longline("sources", "sinks", "--id", "100000", "--sink", "all", "--sink", "books", LONGLINE_SINKS=setting)
    assert two.stdout == "100000 shop: sinks all, books\n", two.stderr
    assert "all, books" in longline("sources", "list", COLUMNS="200").stdout
    checked = longline("doctor", "--port", "0")
    assert "sources name unknown sinks: all, books" in checked.stdout.replace("\n", " "), checked.stdout
    wrong = longline("sources", "sinks", "--id", "100000", "--sink", "bucks", LONGLINE_SINKS=setting)
    assert_one_line(wrong, 2, "there is no sink 'bucks'; known are all, books")
    assert "canary" not in wrong.stderr
    assert longline("sources", "sinks", "--id", "100000", "--none").stdout == "100000 shop: no sinks of its own\n"
    assert_one_line(longline("sources", "sinks", "--id", "100000"), 2, "either --sink or --none")


def test_a_broken_file_of_parsers_is_named_with_its_line_at_the_start_and_by_the_doctor(
    longline: Command, tmp_path: Path
):
    (tmp_path / "books.py").write_text(BOOKS + "\nbooks = = 1\n")
    assert_one_line(longline("up", "--port", "0", "--parsers", "books.py"), 2, "books.py:10: SyntaxError")
    checked = longline("doctor", "--port", "0", "--parsers", "books.py")
    assert checked.returncode == 1
    assert "parsers\tfail\t" in checked.stdout
    assert "engines\tok\t" in checked.stdout, "the engines are checked all the same"


def test_a_use_is_added_and_taken_off(longline: Command, tmp_path: Path):
    data = ("--data", str(tmp_path / "data"))
    longline("migrate", *data)
    longline("sources", "add", "shop", "https://shop.example/", *data)
    both = longline("sources", "use", "--id", "100000", "--add", "products", *data)
    assert both.stdout.endswith("shop: interval, products\n")
    left = longline("sources", "use", "--id", "100000", "--remove", "interval", *data)
    assert left.stdout.endswith("shop: products\n")
    assert "products" in longline("sources", "list", *data).stdout
    assert longline("sources", "use", "--id", "100000", *data).returncode == 2


def test_the_parsers_of_the_running_platform_are_known_without_a_flag(longline: Command, tmp_path: Path):
    (tmp_path / "books.py").write_text(BOOKS)
    words = ("worker", "--roles", "parse", "--parsers", "books.py", "--leashed")
    with running(tmp_path, *words):
        wait_until(lambda: platform(tmp_path) == [f'["{tmp_path}/books.py"]'], "the worker")
        made = longline("sources", "add", "shop", "https://shop.example/", "--parser", "books")
        assert made.stdout.startswith("100000 shop: parser books"), made.stderr
        other = longline("sources", "parser", "--id", "100000", "--parser", "books", "--parser-config", '{"pages": 2}')
        assert other.stdout == '100000 shop: parser books {"pages":2}\n', other.stderr


def platform(folder: Path) -> list[str]:
    """Return the parsers of the registered processes."""
    try:
        with closing(sqlite3.connect(next(folder.rglob("longline.db")))) as records:
            return [row[0] for row in records.execute("SELECT parsers FROM workers")]
    except (StopIteration, sqlite3.OperationalError):
        return []


def test_a_source_names_pools_of_proxies(longline: Command):
    longline("migrate")
    assert longline("proxies", "add", "http://192.0.2.1:8000").returncode == 0
    assert longline("proxies", "pool", "homes", "1").returncode == 0
    longline("sources", "add", "shop", "https://shop.example/", "--proxy-pool", "homes")
    unknown = longline("sources", "pools", "--id", "100000", "--proxy-pool", "dear")
    assert_one_line(unknown, 2, "there is no proxy pool named 'dear'")
    assert longline("sources", "pools", "--id", "100000", "--none").stdout == "100000 shop: no proxy pool\n"
    again = longline("sources", "pools", "--id", "100000", "--proxy-pool", "homes")
    assert again.stdout == "100000 shop: proxy pools homes\n"
    assert_one_line(longline("sources", "pools", "--id", "100000"), 2, "either --proxy-pool or --none")


def test_the_robots_of_a_source_are_fetched_on_order(longline: Command):
    longline("migrate")
    with running_site(pages=1, robots="User-agent: *\nCrawl-delay: 7\n") as site:
        longline("sources", "add", "shop", site.url)
        found = longline("sources", "robots", "--id", "100000", "--egress-allow", "127.0.0.0/8")
    assert found.stdout.endswith("answered 200, Crawl-delay 7 s, which is the delay of the source now\n"), found.stderr
