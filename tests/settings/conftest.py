from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty working folder, so that no settings file beside the tests is read."""
    monkeypatch.chdir(tmp_path)
