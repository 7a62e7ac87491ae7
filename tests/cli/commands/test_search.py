from io import StringIO
from typing import Any

from rich.console import Console

from longline.cli.commands.search import show
from longline.model.search.item import ItemRow
from longline.model.search.query import Piece
from longline.services.search.item_search import Hit, SearchPage
from tests.cli.conftest import Command, assert_one_line


def shown(found: SearchPage, *, terminal: bool = True, offset: int = 0) -> str:
    paper = StringIO()
    show(found, Console(file=paper, width=80, force_terminal=terminal, color_system=None), offset)
    return paper.getvalue()


def item(**facts: Any) -> ItemRow:
    none: dict[str, Any] = dict.fromkeys(ItemRow.__struct_fields__, 0)
    given = {"id": 7, "kind": "book", "title": "A [red]title", "url": "https://a.example/" + "a" * 90}
    return ItemRow(**none | given | facts)


HIT = Hit(item(), 0.000001234, (Piece("one "), Piece("hook", wanted=True), Piece("\nmore")))


def test_hits_are_paragraphs_with_the_whole_url():
    said = shown(SearchPage((HIT,), 1))
    assert "A [red]title" in said, "text of a page is no markup"
    assert f"\n{item().url}\n" in said
    assert "one hook more" in said
    assert "0.00" not in said
    assert said.endswith("1 found\n")


def test_in_a_pipe_a_hit_is_a_line():
    said = shown(SearchPage((HIT, HIT), 22), terminal=False, offset=20)
    line = f"book\tA [red]title\t{item().url}\tone hook more\n"
    assert said == f"7\t21\t{line}7\t22\t{line}"


def test_a_corrected_query_is_shown():
    said = shown(SearchPage((Hit(item(title=""), 0.5, ()),), 1000, more=True, meant="fishing"))
    assert "searched for: fishing" in said
    assert "(no title)" in said
    assert said.endswith("more than 1,000 found\n")


def test_nothing_found_is_an_exit_code(longline: Command):
    longline("migrate")
    outcome = longline("search", "hook")
    assert (outcome.returncode, outcome.stdout, outcome.stderr) == (1, "", "0 found\n")
    assert_one_line(longline("search", "--", "-only"), 2, "give words to search for")
    assert_one_line(longline("search", "("), 2, "give words to search for")
