"""Settings of a platform that needs nothing but a folder."""

from pathlib import Path

import pytest

from longline.settings import Settings


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    # The websites of tests lie inside.
    return Settings(data=tmp_path / "data", egress_allow=("127.0.0.0/8",))
