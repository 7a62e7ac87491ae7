from pathlib import Path

from bench.frontier import drain


async def test_what_goes_in_comes_out(tmp_path: Path):
    measured = await drain(f"sqlite:///{tmp_path / 'b.db'}", 200, 1)
    assert measured.admitted > 0
    assert measured.drained > 0
    assert measured.claim[0] <= measured.claim[1]
