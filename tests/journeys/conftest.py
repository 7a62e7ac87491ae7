"""A house on each pair of engines."""

from pathlib import Path

import pytest

from tests.drivers.blobs.address import s3_url
from tests.journeys.place import Place


@pytest.fixture
def embedded(tmp_path: Path) -> Place:
    """Everything in one folder."""
    return Place(tmp_path / "data")


@pytest.fixture
def large(tmp_path: Path, request: pytest.FixtureRequest) -> Place:
    """PostgreSQL, S3 and Valkey, each a real server."""
    database = request.getfixturevalue("postgres_url")
    objects = s3_url(request.getfixturevalue("s3_bucket"))
    return Place(
        tmp_path / "data", {"database": database, "objects": objects, "redis": request.getfixturevalue("redis_url")}
    )


@pytest.fixture(params=["embedded", "large"])
def place(request: pytest.FixtureRequest) -> Place:
    """A house, once on each kind of engines."""
    found: Place = request.getfixturevalue(request.param)
    return found
