"""Automatic schedules of enabled sources."""

import json

import pytest

from longline.engine.lifecycle.schedules import ScheduleLifecycle
from longline.engine.sources.source_lookup import LocalSources
from longline.model.callers.audit import AuditContext, AuditFilter, audited_as
from longline.model.callers.caller import Caller
from longline.model.callers.roles import Role
from longline.model.errors import BadInput
from longline.model.schedules.schedule import ScheduleSpec, paused
from longline.model.sources.source import CrawlSource, NewSource
from longline.model.sources.source_schedule import automatic_schedule, fnv1a
from longline.ports.records import Records
from longline.services.sources import source_schedules
from longline.services.sources.source_schedules import SourceSchedules
from longline.testing.clock import FakeClock
from tests.drivers.records.fixtures import *  # noqa: F403 - fixtures are found by their names


@pytest.fixture
def sync(records: Records, clock: FakeClock) -> SourceSchedules:
    return SourceSchedules(
        LocalSources(records.sources), records.schedules, records.runs, ScheduleLifecycle(records), clock
    )


async def test_every_enabled_source_gets_its_schedule_once(records: Records, sync: SourceSchedules, clock: FakeClock):
    made = [await records.sources.add(NewSource(f"s{n}", f"https://s{n}.example/")) for n in range(5)]
    off = await records.sources.add(NewSource("off", "https://off.example/", enabled=False))
    done = await sync.run()
    refs = [row.public_id for row in made]
    assert (done.seen, done.enabled, done.created, done.disabled) == (6, 5, refs, [off.public_id])
    for ref in refs:
        row = (await records.schedules.recurring(ref)).get(ref)
        assert row is not None
        assert (row.automatic, row.every, row.unit, row.state) == (True, 60, "minutes", "scheduled")
        assert row.next_due == clock.now() + fnv1a(ref) % 5 * 300_000
    again = await sync.run()
    assert (again.created, again.kept, again.errors) == ([], refs, [])


async def test_each_transaction_of_a_sync_writes_its_audit_row(
    records: Records, sync: SourceSchedules, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(source_schedules, "BATCH_SIZE", 2)
    made = [await records.sources.add(NewSource(f"s{n}", f"https://s{n}.example/")) for n in range(5)]
    order = AuditContext(Caller("7", "ann", Role.ADMIN, "user"), "intervals", "source.sync")
    with audited_as(order):
        await sync.run()
    rows = await records.audit.find(AuditFilter())
    listed = [json.loads(row.after or "")["schedules"] for row in reversed(rows)]
    assert [len(one) for one in listed] == [2, 2, 1]
    assert [one["source"] for piece in listed for one in piece] == [row.public_id for row in made]
    assert {one["move"] for piece in listed for one in piece} == {"create"}
    with audited_as(AuditContext(order.caller, "intervals", "source.sync")):
        assert len((await sync.run()).kept) == 5
    assert len(await records.audit.find(AuditFilter())) == 3, "a sync without changes leaves no row"


async def test_an_error_at_one_source_does_not_stop_the_others(
    records: Records, sync: SourceSchedules, monkeypatch: pytest.MonkeyPatch
):
    made = [await records.sources.add(NewSource(f"s{n}", f"https://s{n}.example/")) for n in range(3)]
    known = automatic_schedule

    def failing(source: CrawlSource) -> ScheduleSpec:
        if source.name == "s1":
            raise BadInput("no interval")
        return known(source)

    monkeypatch.setattr(source_schedules, "automatic_schedule", failing)
    done = await sync.run()
    assert done.created == [made[0].public_id, made[2].public_id]
    assert done.errors == [f"{made[1].public_id}: no interval"]


async def test_a_schedule_that_a_person_paused_is_not_resumed(
    records: Records, sync: SourceSchedules, clock: FakeClock
):
    made = [await records.sources.add(NewSource(f"s{n}", f"https://s{n}.example/")) for n in range(2)]
    await sync.run()
    for row, by in zip(made, ("person", "source"), strict=True):
        found = (await records.schedules.recurring(row.public_id)).get(row.public_id)
        assert found is not None
        await ScheduleLifecycle(records).move_all([(found, paused(found, clock.now(), by))], "scheduler")
    done = await sync.run()
    assert (done.kept, done.resumed) == ([made[0].public_id], [made[1].public_id])
    back = (await records.schedules.recurring(made[1].public_id)).get(made[1].public_id)
    assert back is not None
    assert (back.state, back.next_due, back.paused_by) == ("scheduled", clock.now(), None)
