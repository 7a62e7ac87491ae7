from longline.drivers.records import open_records
from longline.model.metrics.metric import LATE_MS, QueueFigures
from longline.ports.records import Records
from longline.testing.clock import FakeClock
from tests.drivers.records.world import admit, claim, running_run, url


async def test_an_empty_queue_has_figures(records: Records):
    assert await records.figures.queue_figures() == QueueFigures(0, 0, 0, 0, 0, 0, 0, 0)


async def test_hosts_are_ready_then_late_and_held_by_workers(records: Records, clock: FakeClock):
    run = await running_run(records)
    await admit(records, *(url(run, f"{name}.example") for name in "abc"))
    found = await records.figures.queue_figures()
    assert (found.hosts_ready, found.hosts_late, found.hosts_held) == (3, 0, 0)
    assert found.oldest_ms < LATE_MS
    clock.advance(LATE_MS / 1000 + 1)
    found = await records.figures.queue_figures()
    assert (found.hosts_ready, found.hosts_late) == (3, 3)
    assert found.oldest_ms >= LATE_MS
    await claim(records, hosts=2)
    found = await records.figures.queue_figures()
    assert (found.hosts_ready, found.hosts_late, found.hosts_held) == (1, 1, 2)


async def test_hosts_with_later_work_wait(records: Records, clock: FakeClock):
    run = await running_run(records)
    await admit(records, url(run, "a.example", due=clock.now() + 5000))
    found = await records.figures.queue_figures()
    assert (found.hosts_ready, found.hosts_waiting, found.oldest_ms) == (0, 1, 0)


async def test_counts_stop_at_their_limit(records: Records):
    run = await running_run(records)
    await admit(records, *(url(run, f"h{number}.example") for number in range(5)))
    found = await records.figures._database.read(  # type: ignore[attr-defined]  # the limit is no parameter of the port
        lambda tx: tx.one("queue_figures", most=3, late_ms=LATE_MS)
    )
    assert found["hosts_ready"] == 3


async def test_transactions_are_observed_also_when_they_fail(records_url: str, clock: FakeClock):
    seen: list[str] = []
    records = await open_records(records_url, clock, observe=lambda access, _: seen.append(access))
    await records.counters.add({"a": 1})
    await records.counters.all()
    assert seen == ["write", "read"]
    assert sum(records.figures.connections().values()) >= 1
    await records.schema.close()
