"""The small form of `python -m tests.chaos.manifest_logs`."""

from pathlib import Path

import pytest

from tests.chaos.manifest_logs import run
from tests.surfaces.manifests.origin import running_origin


@pytest.mark.slow(reason="two servers, one after the other, and twenty clients of a log")
def test_every_line_comes_once_and_in_order(tmp_path: Path):
    with running_origin() as origin:
        lines, visits, faults = run(tmp_path, origin, 20, 60)
    assert faults == []
    assert lines >= 60
    assert visits > 40
