"""Migrations of tables that have rows: what was open stays open, and nothing is lost."""

import pytest

from longline.drivers.records import open_records, schema
from longline.drivers.records.schema import migration_names
from longline.testing.clock import FakeClock
from tests.drivers.records.audit import faults
from tests.drivers.records.peek import Peek
from tests.drivers.records.world import claim_one, host_report, report
from tests.migrations.ages import begun

BEFORE_TURNS = """
INSERT INTO runs (id, uid, kind, state, plan, seed, created_at, admitted, open)
    VALUES (1, 'a', 'crawl', 'running', '{}', '', 0, 3, 3), (2, 'b', 'crawl', 'running', '{}', '', 0, 1, 1);
INSERT INTO hosts (id, host, delay_ms, concurrency) VALUES (1, 'a.example', 0, 1), (2, 'b.example', 0, 1);
INSERT INTO line (host_id, wake_at, owner, token) VALUES (1, 1, NULL, 4), (2, 99999999999999, 7, 5);
INSERT INTO tasks (id, scope, host_id, key, run_id, executor, state, priority, due, depth, created_at, url) VALUES
    (1, 1, 1, '1', 1, 'fetch', 'pending', 500, 0, 0, 0, 'https://a.example/1'),
    (2, 1, 1, '2', 1, 'fetch', 'pending', 500, 7, 0, 0, 'https://a.example/2'),
    (3, 1, 2, '3', 1, 'fetch', 'pending', 500, 0, 0, 0, 'https://b.example/3'),
    (4, 2, 1, '4', 2, 'fetch', 'pending', 3, 0, 0, 0, 'https://a.example/4');
INSERT INTO queue (host_id, due, priority, id, attempt, token, claims) VALUES
    (1, 0, 500, 1, 0, 0, 0), (1, 7, 500, 2, 2, 3, 4), (2, 0, 500, 3, 1, 5, 1), (1, 0, 3, 4, 0, 0, 0);
"""


async def test_open_work_learns_whose_it_is(database_url: str, monkeypatch: pytest.MonkeyPatch):
    clock, names = FakeClock(), migration_names()
    records = await open_records(database_url, clock)
    peek = Peek(database_url)
    now = "SELECT id, state, attempt, owner, token, lease_until FROM tasks_now ORDER BY id"
    older = names[: next(n for n, name in enumerate(names) if name.endswith("_turns"))]
    monkeypatch.setattr(schema, "migration_names", lambda: older)
    await begun(database_url)
    await records.schema.migrate()
    for statement in BEFORE_TURNS.split(";\n")[:-1]:
        await peek.rows(statement)
    before = await peek.rows(now)
    monkeypatch.undo()
    assert await records.schema.migrate() == names[len(older) :]
    assert await peek.rows(now) == before
    assert await peek.rows("SELECT id, run_id, due, attempt, token, claims FROM queue ORDER BY id") == [
        (1, 1, 0, 0, 0, 0),
        (2, 1, 7, 2, 3, 4),
        (3, 1, 0, 1, 5, 1),
        (4, 2, 0, 0, 0, 0),
    ]
    assert await faults(peek, clock.now()) == []
    lease = await claim_one(records)
    assert [task.id for task in lease.tasks] == [4, 1, 2]
    assert not (await report(records, host_report(lease))).refused
    await peek.close()
    await records.schema.close()
