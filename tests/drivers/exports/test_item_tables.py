"""Tables of items: each file is complete, has the columns of the parser, and is replaced at once."""

import os
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from arro3.io import read_parquet

from longline.drivers.exports.item_tables import ItemTableFiles, check_places
from longline.model.errors import Unavailable
from longline.model.exports.export import ExportedFile, table_file
from tests.drivers.exports.rows import item


async def written(folder: Path, names: list[str], *items, kinds: list[str] | None = None) -> list[ExportedFile]:
    with ItemTableFiles([table_file(str(folder / name)) for name in names]) as tables:
        for one in items:
            await tables.add([one])
        return await tables.finish(kinds or sorted({one.kind for one in items}))


async def test_columns_are_those_of_all_items(tmp_path: Path):
    first, late = item(title="A", price=1), item(title="B", price=2.5, tags=["x", 'say "y"'], note="a\nb, c")
    (file,) = await written(tmp_path, ["books.csv"], first, late)
    assert (tmp_path / "books.csv").read_text() == (
        'title,price,tags,note\nA,1.0,,\nB,2.5,"[""x"",""say \\""y\\""""]","a\nb, c"\n'
    )
    assert file == ExportedFile(str(tmp_path / "books.csv"), (tmp_path / "books.csv").stat().st_size, 2)
    assert os.listdir(tmp_path) == ["books.csv"]


async def test_types_are_kept_in_parquet(tmp_path: Path):
    noon = datetime(2026, 1, 2, 12)
    fields: dict[str, Any] = {
        "n": 1,
        "x": 0.5,
        "ok": True,
        "at": noon.replace(tzinfo=UTC),
        "local": noon,
        "day": date(2026, 1, 2),
    }
    await written(tmp_path, ["t.parquet"], item("book", **fields, mixed=1, deep={"a": 1}), item(mixed="one"))
    table = read_parquet(tmp_path / "t.parquet").read_all()
    found = {name: table[name].to_pylist() for name in table.column_names}
    assert found.pop("mixed") == ["1", "one"]
    assert found.pop("deep") == ['{"a":1}', None]
    assert found == {name: [value, None] for name, value in fields.items()}
    assert "Int64" in str(table.schema.field("n").type)


async def test_lines_have_the_fields_of_their_item_alone(tmp_path: Path):
    await written(tmp_path, ["t.jsonl"], item(b=1, a=[1, {"c": None}]), item(a="x"))
    assert (tmp_path / "t.jsonl").read_text() == '{"b":1,"a":[1,{"c":null}]}\n{"a":"x"}\n'


async def test_several_kinds_have_a_file_each(tmp_path: Path):
    names = ["x.csv", "x.jsonl"]
    await written(tmp_path, names, item("book", title="A"))
    assert sorted(os.listdir(tmp_path)) == ["x.csv", "x.jsonl"]
    await written(tmp_path, names, item("book", title="A"), item("author", name="N"))
    assert sorted(os.listdir(tmp_path)) == ["x.author.csv", "x.author.jsonl", "x.book.csv", "x.book.jsonl"]
    assert (tmp_path / "x.author.csv").read_text() == "name\nN\n"


async def test_only_the_selected_kinds_are_written(tmp_path: Path):
    await written(tmp_path, ["x.csv"], item("book", title="A"), item("page", title="P"), kinds=["book"])
    assert (tmp_path / "x.csv").read_text() == "title\nA\n"


@pytest.mark.parametrize("name", ["x.csv", "x.jsonl", "x.parquet"])
async def test_a_run_without_items_has_an_empty_table(tmp_path: Path, name: str):
    (file,) = await written(tmp_path, [name])
    assert (file.rows, os.listdir(tmp_path)) == (0, [name])
    if name.endswith("parquet"):
        assert read_parquet(tmp_path / name).read_all().num_rows == 0


async def test_unfinished_tables_leave_the_earlier_ones(tmp_path: Path):
    await written(tmp_path, ["x.csv"], item(title="A"))
    with ItemTableFiles([table_file(str(tmp_path / "x.csv"))]) as tables:
        await tables.add([item(title="B")])
    assert (tmp_path / "x.csv").read_text() == "title\nA\n"
    assert os.listdir(tmp_path) == ["x.csv"]


def test_an_unwritable_place_is_reported_before_the_export(tmp_path: Path):
    (tmp_path / "file").write_text("")
    (tmp_path / "folder.csv").mkdir()
    for name in ("file/x.csv", "folder.csv"):
        with pytest.raises(Unavailable, match="cannot write"):
            check_places([table_file(str(tmp_path / name))])
