"""Queued runs with a due time, on both engines."""

import msgspec
import pytest

from longline.model.errors import BadInput
from longline.model.runs.run import RunKind
from longline.model.sources.source import NewSource
from longline.ports.records import Records
from longline.ports.records.frontier.frontier import HostSetting
from longline.testing.clock import FakeClock
from tests.drivers.records.world import claim_one, get_run, queued_run, url


async def start(records: Records, run_id: int) -> bool:
    task = url(run_id)
    await records.frontier.ensure_hosts([HostSetting(task.host, 0, 1)])
    return await records.frontier.start_due(run_id, [task], "due")


async def due(records: Records) -> list[int]:
    return [run.id for run in await records.due_runs.find(10)]


async def test_a_run_starts_once_with_its_urls_when_it_is_due(records: Records, clock: FakeClock):
    run = await queued_run(records, due=clock.now() + 5_000)
    undated = await queued_run(records)
    assert await due(records) == []
    assert not await start(records, run.id)
    clock.advance(5)
    assert await due(records) == [run.id]
    assert await start(records, run.id)
    assert not await start(records, run.id)
    assert not await start(records, undated.id), "a run without a due time is started by its creator"
    row = await get_run(records, run.id)
    assert (row.state, row.admitted, row.open, row.started_at) == ("running", 1, 1, clock.now())
    assert len((await claim_one(records)).tasks) == 1
    assert [e.move for e in await records.events.find() if e.subject == run.id] == ["create", "start"]
    assert await due(records) == []


async def test_the_run_of_a_disabled_source_waits(records: Records, clock: FakeClock):
    source = await records.sources.add(NewSource("a", "https://a.example/", enabled=False))
    run = await queued_run(records, due=clock.now(), source_id=source.id)
    assert await due(records) == []
    assert not await start(records, run.id)
    await records.sources.change(msgspec.structs.replace(source, enabled=True))
    assert await due(records) == [run.id]
    assert await start(records, run.id)


async def test_a_run_of_a_paused_kind_waits(records: Records, clock: FakeClock):
    run = await queued_run(records, due=clock.now())
    assert await records.due_runs.pause_kind(RunKind.CRAWL)
    assert not await records.due_runs.pause_kind(RunKind.CRAWL)
    assert await records.due_runs.paused_kinds() == [RunKind.CRAWL]
    assert await due(records) == []
    assert not await start(records, run.id)
    assert await records.due_runs.resume_kind(RunKind.CRAWL)
    assert not await records.due_runs.resume_kind(RunKind.CRAWL)
    assert await start(records, run.id)


async def test_a_run_without_an_admitted_url_does_not_start(records: Records, clock: FakeClock):
    source = await records.sources.add(NewSource("a", "https://a.example/", budget=1))
    first, second = [await queued_run(records, due=clock.now(), source_id=source.id) for _ in range(2)]
    assert await start(records, first.id)
    with pytest.raises(BadInput, match="budget of its source is used up"):
        await start(records, second.id)
    assert (await get_run(records, second.id)).state == "queued"


async def test_the_run_that_is_due_longest_is_started_first(records: Records, clock: FakeClock):
    late = await queued_run(records, due=clock.now())
    early = await queued_run(records, due=clock.now() - 1)
    assert await due(records) == [early.id, late.id]
    assert [run.id for run in await records.due_runs.find(1)] == [early.id]
