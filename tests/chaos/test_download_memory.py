"""The small form of `python -m tests.chaos.download_memory`: the sum of the files is larger than the bound."""

from pathlib import Path

from tests.chaos.download_memory import MAX_MB, measure

FILES, SIZE = 20, 20 * 1024**2


def test_files_that_are_larger_than_the_memory_are_downloaded_at_once(tmp_path: Path):
    measured = measure(str(tmp_path / "objects"), FILES, SIZE, tmp_path)
    assert FILES * SIZE > MAX_MB * 1024**2
    assert 0 < measured.peak_mb < MAX_MB
