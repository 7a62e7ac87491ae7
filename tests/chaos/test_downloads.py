"""The small form of `python -m tests.chaos.downloads`."""

from pathlib import Path

from tests.chaos.downloads import storm


async def test_every_file_is_stored_or_dead_after_a_storm(migrated_file: str, tmp_path: Path):
    after, healed = await storm(migrated_file, str(tmp_path / "objects"), 2, 60, 0.7)
    assert (after.faults, healed.faults) == ([], [])
    assert after.stored + sum(after.dead.values()) == 120
    assert set(healed.dead) <= {"http_4xx"}
