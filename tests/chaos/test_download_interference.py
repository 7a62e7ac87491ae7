"""The small form of `python -m tests.chaos.download_interference`: pages go on beside downloads."""

from pathlib import Path

from tests.chaos.download_interference import p95_ms


def test_a_crawl_of_pages_goes_on_beside_downloads(tmp_path: Path):
    assert p95_ms(tmp_path, 20, 3, 10_000_000) > 0
