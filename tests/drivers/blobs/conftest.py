"""One object store of each engine."""

from pathlib import Path

import pytest

from longline.drivers.blobs import open_blobs
from longline.ports.blobs import Blobs
from tests.drivers.blobs.address import s3_url


@pytest.fixture(params=["folder", "memory", "s3"])
def blobs(request: pytest.FixtureRequest, tmp_path: Path) -> Blobs:
    """An empty store, once on each engine."""
    if request.param == "folder":
        return open_blobs(str(tmp_path / "not" / "yet" / "there"))
    if request.param == "memory":
        return open_blobs("memory://")
    return open_blobs(s3_url(request.getfixturevalue("s3_bucket")))
