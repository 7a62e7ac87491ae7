"""Holds: claims pass over the runs that are held, and their hosts sleep until the hold ends."""

from longline.model.recrawls.hold import Hold, HoldWindow
from longline.model.recrawls.recrawl_lists import RecrawlQuery
from longline.ports.records import Records
from longline.testing.clock import FakeClock
from tests.drivers.records.recrawls.world import HOST, recrawl, shop, submit, submit_one
from tests.drivers.records.world import admit, claim, claim_one, host_report, queued_run, release, report, url


async def test_claims_pass_over_a_held_run_and_take_the_others_of_its_host(records: Records, clock: FakeClock):
    run, other = await shop(records), await queued_run(records)
    await submit(records, *(recrawl(run, f"/{n}", priority=100 + n) for n in range(5)))
    await submit(records, recrawl(run, "/late", due_at=clock.now() + 1000))
    await records.holds.hold(Hold(run.id, "disabled", clock.now()))
    assert await records.holds.held_runs() == {run.id}
    clock.advance(2)
    lease = await claim_one(records, HOST)
    assert lease.tasks == (), "the host has held work only"
    await release(records, lease)
    assert await claim(records) == {}, "the host sleeps"
    await admit(records, url(other, HOST, "/else", priority=900))
    lease = await claim_one(records, HOST)
    assert [task.run_id for task in lease.tasks] == [other.id]
    await report(records, host_report(lease))
    assert await claim(records) == {}
    assert await records.holds.lift(run.id, "disabled")
    assert not await records.holds.lift(run.id, "disabled")
    assert len((await claim_one(records, HOST)).tasks) == 6


async def test_a_hold_has_a_beginning_and_an_end(records: Records, clock: FakeClock):
    run = await shop(records)
    await submit_one(records, recrawl(run))
    begin = clock.now()
    await records.holds.hold(Hold(run.id, "maintenance", begin + 1000, begin + 3000))
    assert await records.holds.held_runs() == frozenset()
    await release(records, await claim_one(records, HOST))
    clock.advance(1)
    lease = await claim_one(records, HOST)
    assert lease.tasks == ()
    await release(records, lease)
    [row] = (await records.recrawls.find(RecrawlQuery(), limit=9)).rows
    assert row.phase == "waiting"
    assert await records.holds.end_lapsed() == 0
    clock.advance(2)
    assert await records.holds.held_runs() == frozenset()
    assert await records.holds.end_lapsed() == 1
    assert await records.holds.find() == []
    assert len((await claim_one(records, HOST)).tasks) == 1


async def test_a_daily_window_becomes_a_hold(records: Records, clock: FakeClock):
    run = await shop(records)
    second = clock.now() // 1000 % 86_400
    window = HoldWindow(run.id, (second - 60) % 86_400, (second + 60) % 86_400)
    await records.holds.set_window(run.id, window)
    assert (await records.holds.windows(), await records.holds.held_runs()) == ([window], frozenset({run.id}))
    await records.holds.set_window(run.id, None)
    assert (await records.holds.windows(), await records.holds.held_runs()) == ([], frozenset())
