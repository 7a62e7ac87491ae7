from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in an empty folder: a settings file beside the tests must not be read."""
    monkeypatch.chdir(tmp_path)
