"""A workshop for downloads."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.engine.downloads.workshop import Workshop, open_workshop


@pytest.fixture
async def workshop(migrated_file: str, tmp_path: Path) -> AsyncIterator[Workshop]:
    """A workshop with an SQLite file and a folder."""
    async with open_workshop(migrated_file, tmp_path / "objects") as opened:
        yield opened
