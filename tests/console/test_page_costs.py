"""Pages cost the same number of statements for any contents, and none counts tasks; see `measure_pages` for times."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from longline.settings import Settings
from tests.console.many_rows import fill, page_paths
from tests.console.measure_pages import recorded_statements
from tests.console.visiting import log_in
from tests.servers import PostgresServer
from tests.surfaces.intervals.platform import open_door

TASKS, RUNS, LISTS = 4000, 400, 200
MAX_STATEMENTS = 25

UNBOUNDED = {
    *("count_bot_tasks", "count_retries", "find_results", "mapped_proxies"),
    *("count_sources", "count_schedules", "count_series", "count_series_runs"),
}
"""Statements that read every row of a large table, or that a page would send once for each of its rows."""


@pytest.fixture
def settings(postgres_server: PostgresServer, tmp_path: Path) -> Iterator[Settings]:
    """A platform with a database of its own, since the rows are not deleted again."""
    with postgres_server.fresh_database() as url:
        yield Settings(data=tmp_path / "data", database=url, port=0)


@pytest.mark.slow(reason="every page with thousands of rows")
async def test_pages_send_few_statements_and_none_that_counts_tasks(settings: Settings):
    async with open_door(settings) as door:
        await fill(settings.database, door.platform.clock.now(), TASKS, RUNS, LISTS)
        with recorded_statements() as sent:
            async with log_in(door) as client:
                for path in page_paths(RUNS):
                    sent.clear()
                    assert (await client.get(path)).status_code == 200, path
                    names = [name for name, _ in sent]
                    assert len(names) <= MAX_STATEMENTS, (path, names)
                    assert path.startswith("/console/sources/") or not UNBOUNDED & set(names), (path, names)


@pytest.mark.slow(reason="thousands of rows")
async def test_newest_tasks_and_results_are_paged_by_key(settings: Settings):
    async with open_door(settings) as door:
        await fill(settings.database, door.platform.clock.now(), TASKS, RUNS, LISTS)
        async with log_in(door) as client:
            tasks = (await client.get("/console/tasks")).text
            assert f'/console/tasks?before={TASKS - 49}"' in tasks
            older = (await client.get(f"/console/tasks?before={TASKS - 49}")).text
            assert f'href="/console/tasks/{TASKS - 50}"' in older
            results = (await client.get("/console/results")).text
            assert "/console/results?before=result" in results
