"""Small forms: a repeated batch changes no row, and a domain that is switched off gets no more requests."""

from pathlib import Path

import pytest

from tests.chaos import product_batches
from tests.journeys.place import Place
from tests.servers import PostgresServer


@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
async def test_a_repeated_batch_changes_no_row(engine: str, tmp_path: Path, request: pytest.FixtureRequest):
    if engine == "sqlite":
        await product_batches.submit_twice(tmp_path, "", 300)
        return
    server: PostgresServer = request.getfixturevalue("postgres_server")
    with server.fresh_database() as url:
        await product_batches.submit_twice(tmp_path, url, 300)


def test_a_domain_that_is_switched_off_gets_no_requests_after_a_second(tmp_path: Path):
    figures = product_batches.switch(Place(tmp_path / "switch" / "data"), 2000)
    assert figures["last request after seconds"] < product_batches.FELT_SECONDS
