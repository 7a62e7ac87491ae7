"""Small histories of runs; the large ones are a program."""

from pathlib import Path

import pytest

from tests.chaos import run_history
from tests.servers import PostgresServer


@pytest.mark.slow(reason="twenty thousand runs")
async def test_a_scrape_reads_as_many_rows_of_a_long_history_as_of_a_short_one(
    postgres_server: PostgresServer, tmp_path: Path
):
    with postgres_server.fresh_database() as url:
        short, long = await run_history.run(tmp_path, url, (10_000, 20_000))
    assert run_history.OPEN < short.rows_read <= 4 * run_history.OPEN
    assert long.rows_read == short.rows_read
    assert (long.runs_mb - short.runs_mb) / 10_000 * 100_000 < run_history.MAX_MB
