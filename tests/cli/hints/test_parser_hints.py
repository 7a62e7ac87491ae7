"""Hints about custom parsers, and the exit codes that go with them."""

import shlex
from pathlib import Path

import pytest

from longline.cli.commands.crawl import exit_code
from longline.cli.hints.parser_hints import parser_hints
from longline.plugins.parser import HTML
from longline.services.archive.parser_report import ParserUse, UnusedParser
from longline.services.crawls.crawl_loop import CrawlResult
from longline.settings import Settings
from tests.cli.commands.test_crawl import a_run

UNUSED = UnusedParser("books", "books.py:3", ("*/livre/*",), HTML)
NO_FIT = ParserUse(106, "https://shop.example/book/1", unused=(UNUSED,))


def hints(use: ParserUse) -> list[str]:
    return parser_hints(
        use, a_run(id=3), Settings(data=Path("/d"), database="sqlite:////d/longline.db", parsers=("/p/books.py",))
    )


def test_a_parser_without_a_page_is_named_with_a_page_to_compare():
    said, command = hints(NO_FIT)
    assert said == (
        "parser books (books.py:3) does not match any of the 106 pages: match='*/livre/*', "
        "but a page is https://shop.example/book/1"
    )
    words = shlex.split(command.partition("again: ")[2])
    assert words[1:] == ["reparse", "--run", "3", "--parsers", "/p/books.py", "--data", "/d"]


def test_the_hint_for_a_parser_without_a_pattern_names_the_option():
    named = UnusedParser("books", "books.py:3", (), HTML)
    assert "--parser books" in hints(ParserUse(6, "https://shop.example/", unused=(named,)))[0]


def test_failures_are_counted_among_the_pages_that_own_parsers_took():
    said, command = hints(ParserUse(106, "u", taken=100, failed=12, used=1))
    assert said == "own parsers failed on 12 of the 100 pages that they took; the pages are archived"
    assert " reparse --run 3 " in command
    assert hints(ParserUse(106, "u", taken=100, failed=100, used=1))[0].startswith(
        "own parsers failed on all 100 pages"
    )
    assert hints(ParserUse(106, "u", taken=100, used=1)) == []


@pytest.mark.parametrize(
    ("use", "given", "code"),
    [
        (ParserUse(), True, 0),
        (NO_FIT, True, 1),
        (NO_FIT, False, 0),
        (ParserUse(106, "u", taken=9, unused=(UNUSED,), used=1), True, 0),
        (ParserUse(106, "u", taken=100, failed=99, used=1), True, 0),
        (ParserUse(106, "u", taken=100, failed=100, used=1), False, 1),
    ],
    ids=["none", "no fit", "no fit, of a settings file", "one of two fits", "one page is well", "all failed"],
)
def test_a_crawl_without_the_results_of_its_parsers_fails(use: ParserUse, given: bool, code: int):
    result = CrawlResult(a_run(completed=10), [], False, False, parser_use=use)
    assert exit_code(result, parsers_given=given) == code
