"""Files and modules of custom parsers, as each process loads them."""

import sys
from pathlib import Path

import pytest

from longline.model.errors import BadInput
from longline.plugins.parser_files import is_module, read_source, run_source
from longline.plugins.registry import ParserSources

MINE = """
from longline.plugins import Item, parser
@parser("mine", match="https://mine.example/*")
def mine(page):
    yield Item("mine", url=page.url)
"""


def test_a_shelf_opens_modules_by_name_and_files_that_import_their_neighbours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "shop_of_mine").mkdir()
    (tmp_path / "shop_of_mine" / "parsers.py").write_text(MINE)
    (tmp_path / "shop_of_mine" / "broken.py").write_text("\n\n1 / 0")
    (tmp_path / "words_beside.py").write_text('NAME = "neighbour"')
    (tmp_path / "own.py").write_text("from words_beside import NAME\n" + MINE.replace('"mine"', "NAME", 1))
    registry = ParserSources(("longline.parsers.page",), ("shop_of_mine.parsers", str(tmp_path / "own.py"))).open()
    assert [found.name for found in registry.custom] == ["mine", "neighbour"]
    for name, error in (
        ("shop_of_mine.none", "there is no file and no module shop_of_mine.none"),
        ("nobodys_shop", "there is no file and no module nobodys_shop"),
        ("shop_of_mine.broken", r"shop_of_mine.broken cannot be loaded: .*broken.py:3: ZeroDivisionError"),
    ):
        with pytest.raises(BadInput, match=error):
            ParserSources((), (name,)).open()


def test_a_name_with_dots_is_a_module_and_a_path_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "books").write_text("")
    names = {"shop.parsers": True, "shop": True, "shop.py": False, "./shop": False, "books": False, "a b": False}
    assert {name: is_module(name) for name in names} == names


def test_two_files_of_one_name_are_two_modules(tmp_path: Path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "own.py").write_text(f"NAME = {folder!r}")
    first, second = (run_source(str(file), read_source(str(file))) for file in sorted(tmp_path.rglob("own.py")))
    assert (first.NAME, second.NAME, first.__name__ == second.__name__) == ("a", "b", False)
    assert (sys.modules[first.__name__], sys.modules[second.__name__]) == (first, second)


def test_a_module_that_fails_leaves_the_previous_one(tmp_path: Path):
    file = str(tmp_path / "own.py")
    first = run_source(file, b"import msgspec\nclass Shop(msgspec.Struct):\n    pages: int = 1")
    with pytest.raises(BadInput, match=r"own\.py:2: ZeroDivisionError"):
        run_source(file, b"\n1 / 0")
    assert sys.modules[first.__name__] is first


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path):
    (tmp_path / "words.txt").write_text("words")
    for name, said in (("none.py", "there is no file /.*/none.py"), ("words.txt", "words.txt is no Python file; name")):
        with pytest.raises(BadInput, match=said):
            read_source(str(tmp_path / name))
