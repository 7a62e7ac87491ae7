"""Settings of a house that needs nothing but a folder."""

from pathlib import Path

import pytest

from longline.settings import Settings


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data=tmp_path / "data")
