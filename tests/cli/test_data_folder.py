from pathlib import Path

import pytest

from longline.cli.data_folder import archive_settings
from longline.cli.main import build
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
