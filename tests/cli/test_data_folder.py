from pathlib import Path

import pytest

from longline.cli.data_folder import archive_settings
from longline.settings import load


def test_a_crawls_folder_has_its_archive_beside_the_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    loaded = load({"data": str(tmp_path)}, environ={})
    assert archive_settings(loaded).objects == f"file://{tmp_path}/objects"
    (tmp_path / "warc").mkdir()
    assert archive_settings(loaded).objects == f"file://{tmp_path}"
    named = load({"data": str(tmp_path), "objects": "memory://"}, environ={})
    assert archive_settings(named).objects == "memory://"
