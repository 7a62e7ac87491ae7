"""The example parsers of the manual work unchanged."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from longline.engine.parse.page_parser import PageParser
from longline.engine.parse.process_pool import ProcessPool
from longline.parsers.built_in_parsers import BUILT_IN
from longline.plugins import Item
from longline.plugins.page import Page
from longline.plugins.registry import ParserSources

MANUAL = Path(__file__).parents[2] / "docs/how-to/parsers.md"
STORY = "".join(f"<p>In the {n} hour the line was hauled, hook after hook, and it was heavy.</p>" for n in range(12))
PAGE = f"<nav><a href=/>Home</a></nav><h1>Lines</h1><article>{STORY}</article><a class=related href=more>More</a>"


def _codes() -> list[str]:
    return re.findall(r"```python\n(.*?)```", MANUAL.read_text(encoding="utf-8"), re.DOTALL)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    code = _codes()[0]
    written = tmp_path / "news.py"
    written.write_text(code)
    return written


@pytest.mark.slow(reason="starts a process")
async def test_the_parser_of_the_manual_runs_in_a_parser_process(file: Path):
    shelf = ParserSources(BUILT_IN, (str(file),))
    aside = ProcessPool(shelf, 1, 30.0)
    try:
        parser = PageParser(shelf.open(), aside)
        got = await parser.parse(Page("https://news.example/a/story", PAGE.encode(), content_type="text/html"))
        elsewhere = await parser.parse(Page("https://other.example/", PAGE.encode(), content_type="text/html"))
    finally:
        aside.close()
    assert (got.title, got.links, got.error) == ("Lines", ("https://news.example/a/more",), None)
    [item] = got.items
    assert isinstance(item, Item)
    assert (item.kind, item.fields["url"]) == ("article", "https://news.example/a/story")
    assert "heavy" in item.fields["body"]
    assert "Home" not in item.fields["body"]
    assert [item.kind for item in elsewhere.items] == ["page"]


@pytest.mark.slow(reason="starts a process")
def test_the_test_of_the_manual_runs_unchanged(file: Path):
    test = _codes()[1]
    (file.parent / "test_news.py").write_text(test)
    (file.parent / "story.html").write_text(PAGE)
    # As in an installation without plugins.
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:asyncio", "-p", "no:cacheprovider"]
    ran = subprocess.run(command, cwd=file.parent, capture_output=True, text=True, timeout=60, check=False)
    assert "1 passed" in ran.stdout, ran.stdout + ran.stderr


async def test_the_parser_with_a_config_of_the_manual_runs_unchanged(tmp_path: Path):
    (tmp_path / "prices.py").write_text(_codes()[3])
    registry = ParserSources(BUILT_IN, (str(tmp_path / "prices.py"),)).open()
    prices = registry.check("prices", {"currency": "EUR"})
    assert prices
    page = Page(
        "https://a.example/", b"<p class=price>7</p>", config={"parser": "prices", "config": {"currency": "EUR"}}
    )
    assert [one async for one in prices.parse(page)] == [Item("price", amount="7", currency="EUR")]


def test_the_manual_lists_every_built_in_parser():
    told = re.findall(r"^\| `(\w+)` \|", MANUAL.read_text(encoding="utf-8"), re.MULTILINE)
    assert told == [parser.name for parser in ParserSources(BUILT_IN).open().parsers]
