"""The enabling and the maintenance of a source."""

from longline.engine.frontier.recrawl_runs import RecrawlRuns
from longline.model.sources.recrawl_settings import DailyWindow
from longline.plugins.registry import Registry
from longline.ports.records import Records
from longline.services.recrawls.holds import Holds
from longline.testing.clock import FakeClock
from tests.drivers.records.fixtures import *  # noqa: F403 - fixtures are found by their names
from tests.drivers.records.recrawls.world import recrawl, shop, submit_one
from tests.drivers.records.world import claim


async def test_a_source_is_disabled_and_enabled(records: Records, clock: FakeClock):
    run = await shop(records)
    holds = Holds(records.holds, RecrawlRuns(records.runs, records.sources, clock, Registry()))
    await submit_one(records, recrawl(run))
    assert run.source_id is not None
    await holds.disable(run.source_id)
    await holds.disable(run.source_id)
    assert await records.holds.held_runs() == {run.id}
    await holds.enable(run.source_id)
    await holds.enable(run.source_id)
    assert await records.holds.held_runs() == frozenset()
    assert [len(lease.tasks) for lease in (await claim(records)).values()] == [1]
    await holds.set_window(run.source_id, DailyWindow(0, 86_399))
    assert await records.holds.held_runs() == {run.id}
    await holds.set_window(run.source_id, None)
    assert await records.holds.held_runs() == frozenset()
    holds.forget(run.source_id)
