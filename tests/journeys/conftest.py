"""A platform on each pair of engines."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.drivers.blobs.address import s3_url
from tests.journeys.place import Place
from tests.servers import S3Bucket


@pytest.fixture
def embedded(tmp_path: Path) -> Place:
    """A platform in one folder."""
    return Place(tmp_path / "data")


@pytest.fixture
def large(tmp_path: Path, wiped_home: str, s3_bucket: S3Bucket, redis_url: str) -> Place:
    """A platform with PostgreSQL with its tables made, S3 and Valkey, each a real server."""
    return Place(tmp_path / "data", {"database": wiped_home, "objects": s3_url(s3_bucket), "redis": redis_url})


@pytest.fixture
def large_without_tables(large: Place, postgres_url: str) -> Place:
    """The same servers with an empty database."""
    return replace(large, engines=large.engines | {"database": postgres_url})


@pytest.fixture(params=["embedded", "large"])
def place(request: pytest.FixtureRequest) -> Place:
    """A platform on each kind of engines."""
    found: Place = request.getfixturevalue(request.param)
    return found
