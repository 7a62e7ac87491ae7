import random
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from bench.filling import GIANT, Shape, rows
from bench.growth import Crawl, Errand, admission, busy, count, measured, prepared, settings, steady, verdict
from longline.drivers.clock import SystemClock
from longline.drivers.records import open_records
from longline.engine.lifecycle.moves import Lifecycle, MoveRequest
from longline.model.ids import new_id
from longline.model.runs.run import NewRun, RunKind
from tests.drivers.records.peek import Peek, Snapshot
from tests.servers import PostgresServer

SHAPE = Shape.of(1_000)
TABLES = {
    "hosts": "SELECT host, delay_ms, concurrency FROM hosts",
    "line": "SELECT host, wake_at > 0, owner, token, not_before, lapses FROM line JOIN hosts h ON h.id = host_id",
    "tasks": """SELECT url, scope, host, key, run_id, executor, state, reason, error, priority, due, attempt, depth,
        parent_id, status, created_at > 0, finished_at FROM tasks JOIN hosts h ON h.id = host_id""",
    "queue": """SELECT t.url, q.host_id = t.host_id, q.due, q.priority, q.attempt, q.token
        FROM queue q JOIN tasks t ON t.id = q.id""",
    "runs": "SELECT id, state, admitted, open, completed, failed, cancelled, skipped, token FROM runs_now",
    "fates": "SELECT * FROM fates",
    "offers": "SELECT * FROM offers",
    "events": "SELECT noun, subject, move, was, became, actor FROM events",
}
"""The contents of the tables, with ids and times left out."""


@pytest.fixture
async def filled(database_url: str) -> AsyncIterator[tuple[Lifecycle, Errand]]:
    """A frontier of a thousand tasks."""
    errand = Errand(database_url, SHAPE, await prepared(database_url, SHAPE), 0.5)
    records = await open_records(database_url, SystemClock())
    yield Lifecycle(records), errand
    await records.schema.close()


def test_a_shape_has_as_many_pages_as_it_says_and_each_once():
    pages = list(SHAPE.pages())
    assert len(pages) == len({page.url for page in pages}) == SHAPE.tasks == 1_000
    assert sum(page.host == GIANT for page in pages) == SHAPE.giant == 600
    assert len({page.host for page in pages}) == 21


def test_rows_come_in_parts_and_none_is_lost(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("bench.filling.AT_ONCE", 300)
    parts = list(rows(SHAPE, 1, 0))
    assert [len(part.tasks) for part in parts] == [300, 300, 300, 100]
    assert [row[0] for part in parts for row in part.tasks] == list(range(1, 1_001))


def test_known_pages_are_pages_of_the_shape():
    pages, dice = set(SHAPE.pages()), random.Random(5)
    assert {SHAPE.any(dice) for _ in range(500)} <= pages


async def test_the_tables_are_filled_as_admission_would(filled: tuple[Lifecycle, Errand], other_url: str):
    await _admitted(other_url)
    assert await _contents(filled[1].url) == await _contents(other_url)


@pytest.fixture
def other_url(database_url: str, tmp_path: Path, postgres_server: PostgresServer) -> Iterator[str]:
    """One more empty database of the same engine."""
    if database_url.startswith("sqlite"):
        yield f"sqlite:///{tmp_path}/other.db"
    else:
        with postgres_server.fresh_database() as url:
            yield url


async def test_the_loop_leaves_as_many_open_as_it_found(filled: tuple[Lifecycle, Errand]):
    lifecycle, errand = filled
    loop = await steady(Crawl(lifecycle, errand), 0.5)
    assert len(loop.claims) == len(loop.reports) > 0
    assert 0 < loop.tasks <= len(loop.claims) * 16 * 32
    admitted, still_open, completed = await _figures(errand.url, "admitted", "open", "completed")
    assert (admitted - completed, still_open) == (1_000, 1_000)
    assert completed >= loop.tasks


async def test_admission_is_measured_for_each_kind(filled: tuple[Lifecycle, Errand]):
    lifecycle, errand = filled
    found = await admission(Crawl(lifecycle, errand), batches=1)
    assert found.keys() == {"new small", "new giant", "known small", "known giant"}
    assert min(found.values()) > 0
    assert await _figures(errand.url, "admitted", "open") == (1_000 + 2 * 900, 1_000 + 2 * 900)


async def test_a_loop_with_unexpected_links_fails(filled: tuple[Lifecycle, Errand]):
    lifecycle, errand = filled
    crawl = Crawl(lifecycle, errand)
    leases = await crawl.claim()
    with pytest.raises(RuntimeError, match="not what was expected"):
        await crawl.report(leases, [page.task(errand.run_id) for page in crawl.small_batch()])


def test_a_size_is_measured_in_processes_of_their_own(tmp_path):
    said: list[str] = []
    (found,) = measured(lambda: f"sqlite:///{tmp_path}/{new_id()}.db", [1_000], 0.3, 1, said.append)
    assert found["claim p50"] <= found["claim p99"]
    assert found["memory"] > 10
    assert said == ["filling 1,000 tasks", "round 1 of 1, 1,000 tasks", "admission"]


@pytest.mark.parametrize(("text", "number"), [("10k", 10_000), ("1m", 1_000_000), ("2.5M", 2_500_000), ("70", 70)])
def test_sizes_are_written_as_people_do(text: str, number: int):
    assert count(text) == number


@pytest.mark.parametrize(
    ("name", "values", "said"),
    [
        ("claim p99", [2.0, 3.0], "met"),
        ("claim p99", [2.0, 3.1], "missed"),
        ("report p99", [2.0, 1.0, 3.1], "missed"),
        ("memory", [50, 60], "met"),
        ("memory", [50, 61], "missed"),
    ],
)
def test_bars(name: str, values: list[float], said: str):
    assert said in verdict(name, values)
    assert verdict("tasks/s", values) == ""


def test_a_busy_machine_is_told():
    assert "load 3.5 on 2 cores" in busy(3.5, 2)
    assert busy(1.9, 2) == ""


async def _admitted(url: str) -> None:
    """Fill the same frontier through the lifecycle."""
    records = await open_records(url, SystemClock())
    try:
        await records.schema.migrate()
        lifecycle = Lifecycle(records)
        run = await records.runs.add(NewRun(new_id(), RunKind.CRAWL, "{}"))
        await lifecycle.move(MoveRequest("run", run.id, "start", "worker", owner=1, lease_ms=1_000_000))
        tasks = [page.task(run.id) for page in SHAPE.pages()]
        for first in range(0, len(tasks), 100):
            await lifecycle.admit(tasks[first : first + 100], settings(tasks[first : first + 100]))
    finally:
        await records.schema.close()


async def _contents(url: str) -> Snapshot:
    peek = Peek(url)
    try:
        return {name: sorted(await peek.rows(query), key=repr) for name, query in TABLES.items()}
    finally:
        await peek.close()


async def _figures(url: str, *columns: str) -> tuple[int, ...]:
    """Return counters of the only run."""
    peek = Peek(url)
    try:
        (row,) = await peek.rows(f"SELECT {', '.join(columns)} FROM runs_now")
    finally:
        await peek.close()
    return row
