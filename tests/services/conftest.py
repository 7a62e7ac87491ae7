"""Records on each engine, and an archive in a folder and on S3."""

from pathlib import Path

import pytest

from longline.drivers.blobs import open_blobs
from longline.ports.blobs import Blobs
from tests.drivers.blobs.address import s3_url
from tests.drivers.records.fixtures import *  # noqa: F403 - fixtures are found by their names


@pytest.fixture(params=["folder", "s3"])
def archive_blobs(request: pytest.FixtureRequest, tmp_path: Path) -> Blobs:
    """An empty archive."""
    if request.param == "folder":
        return open_blobs(str(tmp_path / "objects"))
    return open_blobs(s3_url(request.getfixturevalue("s3_bucket")))
