from pathlib import Path

from bench.frontier import drain, drain_apart


async def test_admission_and_claims_of_a_frontier_are_measured(tmp_path: Path):
    measured = await drain(f"sqlite:///{tmp_path / 'b.db'}", 200, 1)
    assert measured.admitted > 0
    assert measured.drained > 0
    assert measured.claim[0] <= measured.claim[1]


async def test_processes_share_the_tasks_of_a_frontier(tmp_path: Path):
    measured = await drain_apart(f"sqlite:///{tmp_path / 'b.db'}", 200, 2)
    assert measured.drained > 0
