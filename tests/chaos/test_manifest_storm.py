"""The small form of `python -m tests.chaos.manifest_storm`."""

from pathlib import Path

import pytest

from tests.chaos.manifest_storm import run


@pytest.mark.slow(reason="an S3 server, an API and two workers, killed and started again")
async def test_every_resource_is_stored_or_dead_after_a_storm(tmp_path: Path):
    verdict = await run(tmp_path, 2, 40, 0.5)
    assert verdict.faults == []
    assert verdict.stored + sum(verdict.dead.values()) == 80
    assert verdict.looks > 0
