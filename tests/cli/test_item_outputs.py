"""The options `-o` and `--kind`."""

import io

import pytest
from rich.console import Console

from longline.cli.item_outputs import print_tables, read_outputs
from longline.model.errors import BadInput
from longline.model.exports.export import ExportedFile, TableFile
from longline.services.exports.item_tables import ItemOutputs, WrittenTables
from tests.cli.conftest import Command, assert_one_line


def test_files_and_the_pipe_are_told_apart():
    assert read_outputs(["a.csv", "-", "b.jsonl", "a.csv"], ["book"]) == ItemOutputs(
        (TableFile("a.csv", "csv"), TableFile("b.jsonl", "jsonl")), stream=True, kinds=("book",)
    )
    assert read_outputs([], []) == ItemOutputs()
    with pytest.raises(BadInput, match=r"books\.xml"):
        read_outputs(["books.xml"], [])


def test_the_files_are_told_with_their_rows():
    out = io.StringIO()
    written = WrittenTables((ExportedFile("books.csv", 1, 1234),), {"page": 7})
    print_tables(Console(file=out, width=200), written)
    assert out.getvalue() == (
        "1,234 items are in books.csv\n"
        "7 items of the kind page are left out, as there are others; --kind page writes them\n"
    )


def test_a_file_without_a_format_is_refused_before_anything_is_fetched(longline: Command):
    assert_one_line(longline("crawl", "http://127.0.0.1:9/", "-o", "books"), 2, "cannot tell the format of books")
    assert_one_line(longline("export", "-o", "books.xml"), 2, "cannot tell the format of books.xml")
