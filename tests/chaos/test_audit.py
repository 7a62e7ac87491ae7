"""A few kills in the middle of changes."""

from pathlib import Path

import pytest

from tests.chaos.audit import Figures, rounds


@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
async def test_a_kill_leaves_a_change_and_its_audit_row_or_neither(
    engine: str, tmp_path: Path, request: pytest.FixtureRequest
):
    file = f"sqlite:///{tmp_path}/longline.db"
    figures: Figures = await rounds(file if engine == "sqlite" else request.getfixturevalue("wiped_home"), tmp_path, 4)
    assert not figures.faults, figures
    assert figures.acknowledged > 10, figures
    assert figures.stored == figures.rows >= figures.acknowledged, figures
