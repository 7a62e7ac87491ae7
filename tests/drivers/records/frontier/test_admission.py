"""Admission of URLs on both engines: each once, within the budget, never into a run that ended."""

import asyncio
from collections import Counter

import pytest

from longline.drivers.records import open_records
from longline.model.errors import NotFound
from longline.model.frontier.task import BOT, PARSE
from longline.model.sources.source import NewSource
from longline.ports.records import Records
from longline.ports.records.frontier.frontier import Admitted, Change
from longline.testing.clock import FakeClock
from tests.drivers.records.peek import Peek
from tests.drivers.records.world import (
    ME,
    admit,
    claim,
    claim_one,
    ended,
    get_run,
    host_report,
    queued_run,
    release,
    report,
    running_run,
    url,
    urls,
)


async def refusals(records: Records, run_id: int) -> dict[str, int]:
    return {f.reason: f.count for f in await records.runs.fates(run_id) if f.fate == "refused"}


async def test_new_urls_are_waiting_tasks(records: Records, clock: FakeClock):
    run = await running_run(records)
    assert await admit(records, *urls(run, "a.example", 3, depth=2, priority=7)) == Admitted(3, 0, 0)
    tasks = await records.tasks.find(run_id=run.id)
    assert [t.url for t in tasks] == [f"https://a.example/{i}" for i in range(3)]
    assert {(t.host, t.state, t.depth, t.priority, t.attempt, t.created_at) for t in tasks} == {
        ("a.example", "pending", 2, 7, 0, clock.now())
    }
    row = await get_run(records, run.id)
    assert (row.admitted, row.open) == (3, 3)


async def test_a_url_twice_in_a_batch_is_admitted_once(records: Records):
    run = await running_run(records)
    first, again = url(run, path="/x", depth=1), url(run, path="/x", depth=2)
    assert await admit(records, first, again, url(run, path="/y")) == Admitted(2, 1, 0)
    (found,) = [t for t in await records.tasks.find() if t.url.endswith("/x")]
    assert found.depth == 1
    assert await refusals(records, run.id) == {"known": 1}


async def test_a_url_in_a_later_batch_is_known(records: Records):
    run = await running_run(records)
    await admit(records, *urls(run, "a.example", 3))
    assert await admit(records, *urls(run, "a.example", 5)) == Admitted(2, 3, 0)
    assert (await get_run(records, run.id)).admitted == 5
    assert await refusals(records, run.id) == {"known": 3}


async def test_a_url_is_known_even_after_it_ended(records: Records):
    run = await running_run(records)
    await admit(records, *urls(run, "a.example", 2))
    lease = await claim_one(records)
    await report(records, host_report(lease, [ended(lease.tasks[0])], unstarted=lease.tasks[1:]))
    assert await admit(records, *urls(run, "a.example", 2)) == Admitted(0, 2, 0)


async def test_a_url_is_new_in_every_scope(records: Records):
    one, two = await running_run(records), await running_run(records)
    await admit(records, url(one))
    assert await admit(records, url(two)) == Admitted(1, 0, 0)
    assert await admit(records, url(one, scope=two.id)) == Admitted(0, 1, 0)


async def test_a_url_is_new_on_every_host(records: Records):
    run = await running_run(records)
    assert await admit(records, url(run, "a.example"), url(run, "b.example")) == Admitted(2, 0, 0)


async def test_urls_refused_before_are_counted(records: Records):
    run = await running_run(records)
    await records.frontier.admit([], {(run.id, "offsite"): 4, (run.id, "depth"): 1})
    await records.frontier.admit([], {(run.id, "offsite"): 2})
    assert await refusals(records, run.id) == {"offsite": 6, "depth": 1}
    assert (await get_run(records, run.id)).admitted == 0


async def test_a_host_must_exist(records: Records):
    run = await running_run(records)
    with pytest.raises(NotFound, match=r"no such host: nowhere\.example"):
        await records.frontier.admit([url(run, "nowhere.example")], {})


async def test_a_run_must_exist(records: Records):
    run = await running_run(records)
    await admit(records, url(run))
    with pytest.raises(NotFound, match=f"no such run: {run.id + 999}"):
        await records.frontier.admit([url(run.id + 999)], {})


async def test_the_budget_is_never_exceeded(records: Records):
    run = await running_run(records, budget=3)
    assert await admit(records, *urls(run, "a.example", 2)) == Admitted(2, 0, 0)
    assert await admit(records, *urls(run, "a.example", 6)) == Admitted(1, 2, 3)
    assert (await get_run(records, run.id)).admitted == 3
    assert await refusals(records, run.id) == {"known": 2, "budget": 3}


async def test_the_rest_of_a_budget_is_spent_on_shallow_and_urgent_urls_first(records: Records):
    run = await running_run(records, budget=2)
    deep, late = url(run, path="/deep", depth=3), url(run, path="/late", priority=900)
    await admit(records, deep, late, url(run, path="/urgent", priority=1), url(run, path="/plain"))
    assert {t.url.rsplit("/", 1)[1] for t in await records.tasks.find()} == {"urgent", "plain"}


async def test_the_budget_is_exact_when_many_admit_at_once(records: Records, records_url: str):
    run = await running_run(records, budget=50)
    others = [await open_records(records_url, FakeClock()) for _ in range(3)]
    await admit(records, *(url(run, f"h{i}.example", "/seed") for i in range(4)))

    async def some(port: Records, who: int) -> int:
        new = 0
        for step in range(5):
            tasks = [url(run, f"h{i}.example", f"/{who}/{step}") for i in range(4)]
            new += (await port.frontier.admit(tasks, {})).new
        return new

    new = await asyncio.gather(*(some(port, who) for who, port in enumerate([records, *others])))
    for other in others:
        await other.schema.close()
    row = await get_run(records, run.id)
    assert (row.admitted, row.open, 4 + sum(new)) == (50, 50, 50)
    assert len(await records.tasks.find(limit=100)) == 50
    assert (await refusals(records, run.id)) == {"budget": 4 * 4 * 5 - 46}


async def source_of(records: Records, budget: int | None) -> int:
    return (await records.sources.add(NewSource("shop", "https://a.example", budget=budget))).id


async def charged(records: Records, source_id: int) -> int:
    source = await records.sources.get(source_id)
    assert source is not None
    return source.admitted


async def test_all_runs_of_a_source_share_its_budget(records: Records):
    source_id = await source_of(records, 5)
    one, two = [await running_run(records, source_id=source_id) for _ in range(2)]
    free = await running_run(records)
    assert await admit(records, *urls(one, "a.example", 3), *urls(free, "a.example", 9)) == Admitted(12, 0, 0)
    assert await admit(records, *urls(two, "a.example", 4), *urls(one, "a.example", 4)) == Admitted(2, 3, 3)
    assert await charged(records, source_id) == 5
    both = [await refusals(records, run.id) for run in (one, two)]
    assert sum(each.get("source_budget", 0) for each in both) == 3
    assert await refusals(records, free.id) == {}
    assert await admit(records, url(two, path="/more"), url(free, path="/more")) == Admitted(1, 0, 1)


async def test_the_narrower_of_two_budgets_holds(records: Records):
    source_id = await source_of(records, 4)
    run = await running_run(records, source_id=source_id, budget=2)
    other = await running_run(records, source_id=source_id, budget=50)
    await admit(records, *urls(run, "a.example", 5))
    await admit(records, *urls(other, "a.example", 5))
    assert await refusals(records, run.id) == {"budget": 3}
    assert await refusals(records, other.id) == {"source_budget": 3}
    assert ((await get_run(records, run.id)).admitted, (await get_run(records, other.id)).admitted) == (2, 2)


async def test_a_source_without_a_budget_is_neither_locked_nor_written(records: Records, peek: Peek):
    source_id = await source_of(records, None)
    before = await peek.rows("SELECT * FROM sources")
    run = await running_run(records, source_id=source_id)
    assert (await admit(records, *urls(run, "a.example", 5))).new == 5
    assert await peek.rows("SELECT * FROM sources") == before


async def test_a_budget_that_is_set_later_counts_earlier_admissions(records: Records):
    source_id = await source_of(records, None)
    run = await running_run(records, source_id=source_id)
    await admit(records, *urls(run, "a.example", 3))
    limited = await records.sources.limit(source_id, 4)
    assert limited is not None
    assert (limited.budget, limited.admitted) == (4, 3)
    assert await admit(records, *urls(run, "a.example", 6)) == Admitted(1, 3, 2)
    assert await records.sources.limit(source_id, None)
    assert (await admit(records, *urls(run, "a.example", 6))).new == 2
    assert await records.sources.limit(source_id + 1, 4) is None


async def test_urls_found_by_a_report_are_charged_to_the_source(records: Records):
    source_id = await source_of(records, 3)
    run = await running_run(records, source_id=source_id)
    await admit(records, url(run))
    lease = await claim_one(records)
    reported = await report(records, host_report(lease), admit=urls(run, "a.example", 5))
    assert reported.admitted == Admitted(2, 0, 3)
    assert await charged(records, source_id) == 3


async def test_the_budget_of_a_source_is_exact_when_many_admit_at_once(records: Records, records_url: str):
    source_id = await source_of(records, 50)
    runs = [await running_run(records, source_id=source_id, budget=budget) for budget in (None, None, 30, None)]
    others = [await open_records(records_url, FakeClock()) for _ in range(3)]
    await admit(records, *(url(runs[0], f"h{i}.example", "/seed") for i in range(4)))

    async def some(port: Records, who: int) -> int:
        new = 0
        for step in range(5):
            # Each in another order of runs and hosts: locks in the order of the rows would form a cycle.
            order = [(who + i) % 4 for i in range(4)]
            tasks = [url(runs[(i + step) % 4], f"h{i}.example", f"/{who}/{step}") for i in order]
            new += (await port.frontier.admit(tasks, {})).new
        return new

    new = await asyncio.gather(*(some(port, who) for who, port in enumerate([records, *others])))
    for other in others:
        await other.schema.close()
    assert (await charged(records, source_id), 4 + sum(new)) == (50, 50)
    assert sum([(await get_run(records, run.id)).admitted for run in runs]) == 50
    refused = Counter[str]()
    for run in runs:
        refused.update(await refusals(records, run.id))
    assert refused == {"source_budget": 4 * 4 * 5 - 46}


@pytest.mark.parametrize("ending", ["cancel", "fail"])
async def test_a_run_that_ended_admits_no_url(records: Records, peek: Peek, ending: str):
    run = await running_run(records)
    await admit(records, url(run))
    became = {"cancel": "cancelled", "fail": "failed"}[ending]
    assert await records.moves.apply(Change("run", run.id, ending, "running", became, "person"))
    assert await admit(records, url(run, path="/late"), url(run)) == Admitted(0, 0, 2)
    assert await refusals(records, run.id) == {"run_ended": 2}
    row = await get_run(records, run.id)
    assert (row.state, row.admitted, row.open) == (became, 1, 0)
    assert await peek.rows("SELECT * FROM queue") == []


async def test_a_run_may_take_urls_before_it_starts(records: Records):
    run = await queued_run(records)
    assert (await admit(records, url(run))).new == 1
    row = await get_run(records, run.id)
    assert (row.state, row.open) == ("queued", 1)


async def test_work_for_parsers_and_bots_is_offered_not_queued(records: Records, peek: Peek):
    run = await running_run(records)
    await admit(records, url(run, path="/b", executor=BOT), url(run, path="/p", executor=PARSE))
    assert await peek.rows("SELECT * FROM queue") == []
    assert sorted(await peek.rows("SELECT executor, due, token FROM offers")) == [("bot", 0, 0), ("parse", 0, 0)]
    assert await claim(records) == {}


async def test_admission_wakes_a_sleeping_host(records: Records, clock: FakeClock):
    run = await running_run(records)
    await admit(records, url(run))
    lease = await claim_one(records)
    await admit(records, url(run, path="/again"))
    assert await claim(records) == {}, "a held host keeps its time"
    await report(records, host_report(lease, not_before=clock.now() + 5_000))
    await admit(records, url(run, path="/third"))
    assert await claim(records) == {}, "the host's not-before time holds for new work too"
    clock.advance(5)
    assert {t.url for t in (await claim_one(records)).tasks} == {"https://a.example/again", "https://a.example/third"}


async def test_known_urls_wake_no_host(records: Records, peek: Peek):
    run = await running_run(records)
    await admit(records, url(run), url(run, "b.example"))
    for lease in (await claim(records)).values():
        await report(records, host_report(lease))
    before = await peek.rows("SELECT * FROM line")
    await admit(records, url(run, scope=run.id, run_id=(await running_run(records)).id))
    assert await peek.rows("SELECT * FROM line") == before


async def test_an_earlier_due_time_wakes_earlier(records: Records, clock: FakeClock):
    run = await running_run(records)
    now = clock.now()
    await admit(records, url(run, path="/late", due=now + 60_000))
    await admit(records, url(run, path="/early", due=now + 10_000), url(run, path="/later", due=now + 90_000))
    clock.advance(9)
    assert await claim(records) == {}
    clock.advance(1)
    lease = await claim_one(records)
    assert [t.url for t in lease.tasks] == ["https://a.example/early"]
    await release(records, lease)
    assert [t.url for t in (await claim_one(records, owner=ME)).tasks] == ["https://a.example/early"]
