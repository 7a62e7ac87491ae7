"""A short storm of clients and kills."""

from pathlib import Path

import pytest

from tests.chaos.outsider import storm


@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
async def test_rows_are_whole_after_kills_among_changes(engine: str, tmp_path: Path, request: pytest.FixtureRequest):
    file = f"sqlite:///{tmp_path}/longline.db"
    verdict = await storm(file if engine == "sqlite" else request.getfixturevalue("wiped_home"), tmp_path, 3)
    assert not verdict.faults, verdict
    assert verdict.kills.total() > 0, verdict
