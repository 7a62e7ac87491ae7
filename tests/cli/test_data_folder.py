from pathlib import Path

import pytest

from longline.cli.data_folder import archive_settings
from longline.cli.main import build
from longline.model.errors import NotFound
from longline.settings import load


def test_a_crawls_folder_has_its_archive_beside_the_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    loaded = load({"data": str(tmp_path)}, environ={})
    assert archive_settings(loaded).objects == f"file://{tmp_path}/objects"
    (tmp_path / "warc").mkdir()
    assert archive_settings(loaded).objects == f"file://{tmp_path}"
    named = load({"data": str(tmp_path), "objects": "memory://"}, environ={})
    assert archive_settings(named).objects == "memory://"


@pytest.mark.parametrize(
    "words",
    [
        ["sources", "list"],
        ["bots", "list"],
        ["policies", "list"],
        ["proxies", "list"],
        ["proxies", "pools"],
        ["candidates", "list"],
        ["keys", "list"],
        ["manifests", "list"],
        ["manifests", "dlq", "list"],
        ["batches", "list"],
        ["series", "list"],
        ["series", "sources"],
        ["series", "runs"],
        ["audit"],
    ],
    ids=" ".join,
)
def test_a_list_makes_no_folder(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    build(words[0])(words, standalone_mode=False)
    assert list(tmp_path.iterdir()) == []
    said = capfd.readouterr()
    assert (said.out, said.err.split()[0]) == ("", "no")


@pytest.mark.parametrize(
    "words",
    [
        ["recrawls", "list"],
        ["recrawls", "show", "1"],
        ["recrawls", "stats"],
        ["batches", "show", "1"],
        ["series", "health", "--source", "1"],
        ["manifests", "show", "1"],
        ["manifests", "dlq", "show", "1"],
        ["maintenance", "list"],
    ],
    ids=" ".join,
)
def test_a_reading_command_makes_no_folder(words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(NotFound, match=r"there is no database in .*longline-data; name its folder with --data"):
        build(words[0])(words, standalone_mode=False)
    assert list(tmp_path.iterdir()) == []
