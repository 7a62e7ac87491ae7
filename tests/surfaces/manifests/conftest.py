"""The manifest door with its workers, once for all tests: on SQLite and a folder, on PostgreSQL and S3."""

from collections.abc import Iterator

import pytest

from tests.servers import PostgresServer
from tests.servers.s3 import S3Server
from tests.surfaces.manifests.origin import Origin, running_origin
from tests.surfaces.manifests.running import Box, running_box


@pytest.fixture(scope="package")
def origin() -> Iterator[Origin]:
    with running_origin() as found:
        yield found


@pytest.fixture(scope="package", params=["embedded", "large"])
def box(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, origin: Origin) -> Iterator[Box]:
    """A running service, for all tests of this folder."""
    folder = tmp_path_factory.mktemp("manifests")
    if request.param == "embedded":
        with running_box(folder, origin) as found:
            yield found
        return
    postgres: PostgresServer = request.getfixturevalue("postgres_server")
    s3: S3Server = request.getfixturevalue("s3_server")
    bucket = s3.create_bucket()
    with postgres.fresh_database() as url, running_box(folder, origin, bucket, LONGLINE_DATABASE=url) as found:
        yield found
    s3.delete_bucket(bucket)
