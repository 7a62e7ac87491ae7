"""Lists: tables on a terminal, plain lines elsewhere."""

from io import StringIO

import pytest
from rich.console import Console
from rich.text import Text

from longline.cli.listing import Column, Listing, OutputConsole, counted

LONG_URL = "https://shop.example/" + "a-very-long-name-" * 8


def printed(*, terminal: bool, width: int = 80) -> str:
    out = StringIO()
    console = Console(file=out, width=width, force_terminal=terminal, color_system=None)
    listing = Listing("name", Column("URL", copied=True), Column("pages", right=True), console=console)
    listing.add("a [red]shop", LONG_URL, "1,200")
    listing.add(Text("two\nlines\tand a tab"), "https://b.example/", "")
    listing.print()
    return out.getvalue()


def test_a_pipe_gets_whole_values_between_tabs_and_nothing_else():
    assert printed(terminal=False) == (
        f"a [red]shop\t{LONG_URL}\t1,200\ntwo lines and a tab\thttps://b.example/\t\n"
    ), "no header, no box, no colour, no text cut"


@pytest.mark.parametrize("width", [40, 80, 200])
def test_a_terminal_gets_a_table_in_which_values_to_copy_are_whole(width: int):
    told = printed(terminal=True, width=width)
    head, first, *rest = told.splitlines()
    assert head.split() == ["name", "URL", "pages"]
    assert LONG_URL in first
    assert "a [red]shop" in first, "a value is no markup"
    assert any("https://b.example/" in line for line in rest)
    assert all(line == line.rstrip() for line in told.splitlines()), "spaces would be broken into empty lines"
    assert "…" not in told


def test_names_of_emoji_are_printed_as_they_are(capsys: pytest.CaptureFixture[str]):
    OutputConsole().print("books.py:100: no price")
    assert capsys.readouterr().out == "books.py:100: no price\n"


@pytest.mark.parametrize("terminal", [True, False])
def test_control_characters_of_a_page_do_not_reach_the_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *, terminal: bool
):
    if terminal:
        monkeypatch.setenv("FORCE_COLOR", "1")
        monkeypatch.setenv("TERM", "dumb")
    listing = Listing("title", Column("URL", copied=True))
    listing.add("a\x1b]52;c;cm0=\x07b\x9bc", "https://b.example/\x1b[2J")
    listing.print()
    listing.note("gone \x1b[31mred")
    told = capsys.readouterr()
    shown = told.out + told.err
    assert not set("\x07\x9b") & set(shown)
    assert "\x1b]" not in shown
    assert "\x1b[2J" not in shown
    assert "\x1b[31m" not in shown
    assert "m0=bc" in shown


def test_other_columns_give_way_to_values_to_copy():
    out = StringIO()
    console = Console(file=out, width=60, force_terminal=True, color_system=None)
    listing = Listing("text", Column("id", copied=True), console=console)
    listing.add("many words " * 10, "7f3c" * 9)
    listing.print()
    assert "7f3c" * 9 in out.getvalue()
    assert max(map(len, out.getvalue().splitlines())) <= 60


def test_an_empty_list_is_a_note_alone(capsys: pytest.CaptureFixture[str]):
    listing = Listing("name")
    listing.print()
    listing.note("no [names]; add one")
    told = capsys.readouterr()
    assert (told.out, told.err) == ("", "no [names]; add one\n"), "standard output belongs to the rows"


def test_numbers_have_their_nouns():
    assert [counted(number, "item") for number in (0, 1, 1234)] == ["0 items are", "1 item is", "1,234 items are"]
