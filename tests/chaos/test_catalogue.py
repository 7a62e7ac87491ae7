"""A small storm over the jobs of a catalogue."""

from pathlib import Path

import pytest

from tests.chaos.catalogue import SMALL, Storm
from tests.servers import PostgresServer


@pytest.mark.slow(reason="five processes that are killed and started again")
async def test_kills_leave_each_job_one_end_and_each_source_its_failures(
    postgres_server: PostgresServer, tmp_path: Path
):
    with postgres_server.fresh_database() as url:
        verdict = await Storm(SMALL, seed=7).run(url, tmp_path)
    assert not verdict.faults, verdict
    assert verdict.triggered > 1, verdict
    assert verdict.kills.total() > 1, verdict
    assert verdict.steps >= verdict.ends["failed"] + verdict.ends["completed"], verdict
