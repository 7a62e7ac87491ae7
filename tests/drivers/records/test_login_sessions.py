"""Logins of runs on both engines."""

from longline.ports.login_sessions import SessionRow
from longline.ports.records import Records
from longline.ports.records.frontier.frontier import Change
from tests.drivers.records.world import running_run


async def test_the_newest_login_of_a_run_counts(records: Records):
    run, other = await running_run(records), await running_run(records)
    assert await records.sessions.get(run.id, "log_in") is None
    await records.sessions.put(run.id, "log_in", 2, "second")
    await records.sessions.put(run.id, "log_in", 1, "first")
    await records.sessions.put(other.id, "log_in", 1, "other")
    assert await records.sessions.get(run.id, "log_in") == SessionRow(2, "second")
    await records.sessions.put(run.id, "log_in", 3, "third")
    assert await records.sessions.get(run.id, "log_in") == SessionRow(3, "third")
    assert await records.sessions.get(run.id, "other") is None


async def test_the_logins_of_ended_runs_are_deleted(records: Records):
    run, other = await running_run(records), await running_run(records)
    for one in (run, other):
        await records.sessions.put(one.id, "log_in", 1, "locked")
    assert await records.sessions.drop_ended() == 0
    assert await records.moves.apply(Change("run", run.id, "cancel", "running", "cancelled", "person"))
    assert await records.sessions.drop_ended() == 1
    assert await records.sessions.get(run.id, "log_in") is None
    assert await records.sessions.get(other.id, "log_in") is not None
