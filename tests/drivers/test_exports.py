"""Files of an export: they appear completely or not at all."""

import os
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest

from longline.drivers.exports import FolderExport
from longline.model.errors import Unavailable


class Row(msgspec.Struct):
    n: int
    text: str | None
    at: datetime
    more: msgspec.Raw = msgspec.Raw(b"{}")


def row(n: int, text: str | None = None) -> Row:
    return Row(n, text, datetime(2026, 1, 2, 3, 4, 5, 678_000, UTC), msgspec.Raw(b'{"a":[1]}'))


async def test_lines_hold_json_and_columns_text(tmp_path: Path):
    with FolderExport(tmp_path, ("jsonl", "csv")) as export:
        await export.rows("things", [row(1, 'say "hi", ok')])
        await export.rows("things", [row(2)])
        written = await export.finish()
    assert [Path(w.path).name for w in written] == ["things.csv", "things.jsonl"]
    assert (tmp_path / "things.jsonl").read_text() == (
        '{"n":1,"text":"say \\"hi\\", ok","at":"2026-01-02T03:04:05.678000Z","more":{"a":[1]}}\n'
        '{"n":2,"text":null,"at":"2026-01-02T03:04:05.678000Z","more":{"a":[1]}}\n'
    )
    assert (tmp_path / "things.csv").read_text() == (
        'n,text,at,more\n1,"say ""hi"", ok",2026-01-02T03:04:05.678Z,"{""a"":[1]}"\n'
        '2,,2026-01-02T03:04:05.678Z,"{""a"":[1]}"\n'
    )


async def test_an_unfinished_export_leaves_the_older_file(tmp_path: Path):
    (tmp_path / "things.jsonl").write_text("older")
    with FolderExport(tmp_path, ("jsonl",)) as export:
        await export.rows("things", [row(1)])
    assert os.listdir(tmp_path) == ["things.jsonl"]
    assert (tmp_path / "things.jsonl").read_text() == "older"


async def test_an_impossible_folder_is_reported_in_one_line(tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(Unavailable, match="cannot write into"):
        FolderExport(tmp_path / "file" / "below", ("jsonl",))
