from pathlib import Path

from bench.bots import echo, ours


def test_everybody_does_every_job(tmp_path: Path):
    for measured in (echo(30), ours("ours", f"sqlite:///{tmp_path / 'b.db'}", 30)):
        assert measured.rate > 0
        assert measured.cpu is not None
