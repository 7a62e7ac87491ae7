"""File names of exported tables."""

import pytest

from longline.model.errors import BadInput
from longline.model.exports.export import TableFile, table_file


@pytest.mark.parametrize(
    ("name", "form"),
    [("a.csv", "csv"), ("b/c.JSONL", "jsonl"), ("d.jl", "jsonl"), ("e.ndjson", "jsonl"), ("f.parquet", "parquet")],
)
def test_the_suffix_gives_the_format(name: str, form: str):
    assert table_file(name) == TableFile(name, form)


@pytest.mark.parametrize("name", ["books", "books.json", "books.xlsx", "", "/dev/stdout"])
def test_a_name_without_a_known_format_is_refused(name: str):
    with pytest.raises(BadInput, match=r"name a file that ends in \.csv, \.jsonl or \.parquet"):
        table_file(name)


def test_each_of_several_kinds_has_its_name_in_the_file_name():
    file = TableFile("out/books.csv", "csv")
    assert file.for_kind("book", alone=True) == "out/books.csv"
    assert file.for_kind("book", alone=False) == "out/books.book.csv"
    assert file.for_kind("../a b", alone=False) == "out/books..._a_b.csv"
    assert TableFile("{kind}.csv", "csv").for_kind("book", alone=True) == "book.csv"
