"""The place of an exception: the innermost line of the author's file."""

import json
from pathlib import Path

import pytest

from longline.plugins import Item, Page, parser, session, sink
from longline.plugins.parser_errors import NO_CSS, describe, place_of, shown

PAGE = Page("https://a.example/", b"<h1>One</h1>")
NO_NAME = '@parser needs the name of the parser in parentheses, as in @parser("books", match="*")'
NO_MATCH = '@session needs the URLs of the site, as in @session(match="https://shop.example/*")'


def raised(source: str, file: Path) -> BaseException:
    """Run the source of a file, and return its exception."""
    file.write_text(source)
    names = {"json": json, "PAGE": PAGE, "Item": Item, "parser": parser, "session": session, "sink": sink}
    with pytest.raises(Exception) as caught:  # noqa: PT011 - any exception of a foreign program
        exec(compile(source, file, "exec"), names)
    return caught.value


@pytest.mark.parametrize(
    ("source", "line", "said"),
    [
        ("x = 1\n\n1 / 0", 3, "ZeroDivisionError('division by zero')"),
        ("def f():\n    return {}['price']\n\n\nf()", 2, "KeyError('price')"),
        ("\njson.loads('[')", 2, "JSONDecodeError('Expecting value: line 1 column 2 (char 1)')"),
        ("a = 1\nb = = 2", 2, "SyntaxError: invalid syntax"),
        ("raise ValueError('half\\x00\\nline')", 1, "ValueError('half\\x00\\nline')"),
        ("import os\nos.environ['NO_KEY']", 2, "the environment variable NO_KEY is not set; set it before the start"),
        ("PAGE.tree.css('h1::text')", 1, f"a CSS selector cannot be read; {NO_CSS}"),
        (
            "type(PAGE.tree)('<!DOCTYPE html SYSTEM \"x\">').clone()",
            1,
            """SelectolaxError("Can't create a new document")""",
        ),
        ("PAGE.css('h1::text')", 1, f"the CSS selector 'h1::text' cannot be read; {NO_CSS}"),
        ("PAGE.text('a::attr(href)')", 1, f"the CSS selector 'a::attr(href)' cannot be read; {NO_CSS}"),
        ("PAGE.links('h1[')", 1, "the CSS selector 'h1[' cannot be read; check its brackets and quotes"),
        (
            "Item('b', a=1, p=PAGE.css('h1')[0])",
            1,
            "field p is a node of the page; take its text() or an attribute of it",
        ),
        (
            "Item('b', p=[{'x': PAGE.css('h1')}])",
            1,
            "field p is a node of the page; take its text() or an attribute of it",
        ),
        ("Item('b', p=PAGE.css('h1')[0].text)", 1, "field p is a method; call it with parentheses: text()"),
        ("Item('b', p=(i for i in ()))", 1, "field p is a generator; make a list of it with list(…)"),
        ("1\n@parser\ndef p(page):\n    yield", 2, NO_NAME),
        ("1\n@parser()\ndef p(page):\n    yield", 2, NO_NAME),
        (
            "@parser('p')\ndef p(page):\n    return",
            1,
            "parser p must yield items and links: write yield instead of return",
        ),
        ("\n@session\nasync def p(s): ...", 2, NO_MATCH),
        ("\n@session('shop')\nasync def p(s): ...", 2, NO_MATCH),
        ("\n@session(match='*')\ndef p(s): ...", 2, "session p must be an async function: write async def"),
        (
            "\n@sink\ndef p(s, i): ...",
            2,
            '@sink needs the scheme of its addresses in parentheses, as in @sink("kafka")',
        ),
    ],
)
def test_the_innermost_line_of_the_file_is_named(tmp_path: Path, source: str, line: int, said: str):
    file = tmp_path / "own.py"
    error = raised(source, file)
    assert describe(error, str(file)) == f"{file}:{line}: {said}"


def test_an_exception_from_elsewhere_has_no_place():
    error = ValueError("x")
    assert place_of(error, "own.py") == ""
    assert describe(error, "own.py") == "ValueError('x')"


def test_a_file_below_the_current_folder_is_shown_with_a_relative_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    assert shown(str(tmp_path / "shop" / "own.py")) == "shop/own.py"
    assert shown("/elsewhere/own.py") == "/elsewhere/own.py"
    assert shown("own.py") == "own.py"
