"""Two concurrent transactions on the same rows, on PostgreSQL, in rare interleavings.

SQLite has one writer at a time and needs none of these tests.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from functools import partial
from typing import Any

import asyncpg
import pytest

from longline.drivers.records import open_database, postgres
from longline.drivers.records.bots.tasks import BotTaskRecords
from longline.drivers.records.database import Database, TryAgain
from longline.drivers.records.frontier.claims import FrontierRecords
from longline.drivers.records.frontier.lifecycle_moves import MoveRecords
from longline.drivers.records.runs.runs import RunRecords
from longline.drivers.records.search.items import ItemRecords
from longline.model.bots.bot_task import NewBotTask
from longline.model.frontier.host import HostLease
from longline.model.ids import new_id
from longline.model.runs.run import NewRun, RunKind, RunRow
from longline.model.search.item import ItemsPut, Origin, new_items
from longline.model.sources.source import NewSource
from longline.model.states import TaskState
from longline.ports.records import Records
from longline.ports.records.frontier.frontier import (
    Admitted,
    Change,
    HostSetting,
    ReportBatch,
    Reported,
    WrittenSegment,
)
from longline.testing.clock import FakeClock
from tests.drivers.records.audit import faults
from tests.drivers.records.gates import PATIENCE, Gate, GatedDatabase, interleave, locked, settled, together
from tests.drivers.records.peek import Peek
from tests.drivers.records.world import (
    DELAY,
    ME,
    TTL,
    YOU,
    admit,
    claim,
    claim_one,
    ended,
    get_run,
    host_report,
    page,
    report,
    running_run,
    url,
    urls,
    visit,
)

pytestmark = pytest.mark.parametrize("records_url", ["postgres"], indirect=True)


@pytest.fixture(autouse=True)
def no_second_try(monkeypatch: pytest.MonkeyPatch) -> None:
    """A database that repeats no transaction: a deadlock would be repeated and cost a second; none may happen."""
    monkeypatch.setattr(postgres, "RETRYABLE_ERRORS", (TryAgain,))


@pytest.fixture
async def database(records_url: str, clock: FakeClock) -> AsyncIterator[Database]:
    opened = await open_database(records_url, clock)
    yield opened
    await opened.close()


async def tasks_in(records: Records, state: str, run_id: int, amount: int = 2) -> list[int]:
    """Admit tasks of a run and bring them to a state; return their ids."""
    await admit(records, *urls(run_id, "a.example", amount))
    lease = await claim_one(records)
    outcomes = []
    if state == "downloaded":
        outcomes = [ended(t, TaskState.DOWNLOADED) for t in lease.tasks]
    await report(records, host_report(lease, outcomes, unstarted=() if outcomes else lease.tasks))
    if state == "paused":
        for task in lease.tasks:
            await records.moves.apply(Change("task", task.id, "pause", "pending", "paused", "person"))
    return [task.id for task in lease.tasks]


def cancel_run(port: MoveRecords, run_id: int) -> Callable[[], Awaitable[Any]]:
    return partial(port.apply, Change("run", run_id, "cancel", "running", "cancelled", "person"))


async def reports(records: Records, became: TaskState) -> Callable[[], Awaitable[Any]]:
    """Claim tasks; return a function that sends their report."""
    lease = await claim_one(records)
    return partial(report, records, host_report(lease, [ended(t, became, "why", due=9) for t in lease.tasks]))


async def gives(records: Records, became: TaskState) -> Callable[[], Awaitable[Any]]:
    """Take tasks; return a function that gives them back."""
    taken = await records.hands.take("parse", ME, 10, TTL)
    return partial(records.hands.give, [(x.token, ended(x.task, became, "why", due=9)) for x in taken], ReportBatch())


async def resumes(records: Records, task_id: int) -> Callable[[], Awaitable[Any]]:
    return partial(records.moves.apply, Change("task", task_id, "resume", "paused", "pending", "person"))


@pytest.mark.parametrize(
    ("state", "became"),
    [
        ("pending", TaskState.COMPLETED),
        ("pending", TaskState.PENDING),
        ("pending", TaskState.DOWNLOADED),
        ("downloaded", TaskState.COMPLETED),
        ("downloaded", TaskState.DOWNLOADED),
        ("downloaded", TaskState.PENDING),
        ("paused", TaskState.PENDING),
    ],
)
@pytest.mark.parametrize("before", ["lock_lines", "lock_runs", "empty_queue_of_tasks", "cancel_tasks", "count_runs"])
async def test_a_run_can_be_cancelled_while_its_tasks_move(
    records: Records, database: Database, clock: FakeClock, peek: Peek, state: str, became: TaskState, before: str
):
    run = await running_run(records)
    ids = await tasks_in(records, state, run.id)
    if state == "pending":
        other = await reports(records, became)
    else:
        other = await gives(records, became) if state == "downloaded" else await resumes(records, ids[0])
    gate = Gate(before)
    port = MoveRecords(GatedDatabase(database, gate))
    cancelled, moved = await interleave(cancel_run(port, run.id), gate, other, peek)
    assert not isinstance(moved, BaseException), moved
    if became == TaskState.COMPLETED and not isinstance(cancelled, BaseException) and cancelled is None:
        assert (await get_run(records, run.id)).state == "completed", "the report was first and ended the run"
    else:
        assert cancelled is not None
        assert cancelled.state == "cancelled"
    assert await faults(peek, clock.now()) == []


@pytest.mark.parametrize("before", ["put_items", "list_items"])
async def test_a_reparse_while_its_page_is_reported_drops_the_former_items_once(
    records: Records, database: Database, clock: FakeClock, peek: Peek, before: str
):
    run, books = await running_run(records), [("book", {"title": f"Book {n}"}) for n in range(3)]
    await visit(records, run, {"/1": books})
    [stored] = await records.pages.of_run(run.id)
    await records.moves.apply(Change("task", stored.task_id, "restart", "completed", "pending", "person"))
    clock.advance(DELAY / 1000)
    gate = Gate(before)
    origin = Origin(run.id, stored.task_id, stored.url)
    port = ItemRecords(GatedDatabase(database, gate))
    reparse = partial(port.put, new_items(books[:2], origin), [stored])
    done = await interleave(reparse, gate, partial(visit, records, run, {"/1": books[:1]}), peek)
    assert not [each for each in done if isinstance(each, BaseException)], done
    assert ((await get_run(records, run.id)).items, len(await records.items.of_run(run.id))) == (1, 1)
    assert await faults(peek, clock.now()) == []


@pytest.mark.parametrize("before", ["lock_lines", "rest_tasks", "add_pages", "pace_hosts"])
async def test_a_reparse_while_its_page_is_stored_anew_leaves_the_newer_items(
    records: Records, database: Database, clock: FakeClock, peek: Peek, before: str
):
    run = await running_run(records)
    await visit(records, run, {"/1": [("book", {"title": "Rod", "price": 1})]})
    [stored] = await records.pages.of_run(run.id)
    await records.moves.apply(Change("task", stored.task_id, "restart", "completed", "pending", "person"))
    clock.advance(DELAY / 1000)
    gate = Gate(before)
    gated = replace(records, frontier=FrontierRecords(GatedDatabase(database, gate)))
    made = new_items([("book", {"title": "Rod", "price": 1})], Origin(run.id, stored.task_id, stored.url))
    newer = partial(visit, gated, run, {"/1": [("book", {"title": "Rod", "price": 9})]})
    _, put = await interleave(newer, gate, partial(records.items.put, made, [stored]), peek)
    assert put == ItemsPut(0, frozenset({stored.task_id} if before != "lock_lines" else ()))
    assert [item.price for item in await records.items.of_run(run.id)] == [9]
    assert await faults(peek, clock.now()) == []


MOVES_WHILE_REPARSED = [
    ("reparse", 1, "list_items"),
    ("reparse", 1, "count_runs"),
    ("reparse", 2, "lock_runs"),
    ("move", 1, "empty_queue_of_tasks"),
    ("move", 1, "count_runs"),
]
"""The transaction that is held, the number of runs with pages that are parsed again, and the statement."""


@pytest.mark.parametrize(("held", "amount", "before"), MOVES_WHILE_REPARSED)
@pytest.mark.parametrize("move", ["restart", "cancel", "cancel run"])
async def test_pages_can_be_parsed_again_while_a_person_moves_them(
    records: Records, database: Database, clock: FakeClock, peek: Peek, held: str, amount: int, before: str, move: str
):
    runs = [await running_run(records) for _ in range(amount)]
    books = [("book", {"title": f"Book {n}"}) for n in range(3)]
    for run in runs:
        await visit(records, run, {"/1": books, "/2": books[:1]})
        clock.advance(DELAY / 1000)
    pages = [stored for run in runs for stored in await records.pages.of_run(run.id)]
    for stored in pages[1::2]:  # an open task keeps its run running
        await records.moves.apply(Change("task", stored.task_id, "restart", "completed", "pending", "person"))
    changes = {
        "restart": Change("task", pages[0].task_id, "restart", "completed", "pending", "person"),
        "cancel": Change("task", pages[1].task_id, "cancel", "pending", "cancelled", "person"),
        "cancel run": Change("run", runs[0].id, "cancel", "running", "cancelled", "person"),
    }
    gate = Gate(before)
    gated = {held: GatedDatabase(database, gate)}
    made = [new for each in pages for new in new_items(books[1:2], Origin(each.run_id, each.task_id, each.url))]
    reparse = partial(ItemRecords(gated.get("reparse", database)).put, made, pages)
    moves = partial(MoveRecords(gated.get("move", database)).apply, changes[move])
    first, second = (reparse, moves) if held == "reparse" else (moves, reparse)
    done = await interleave(first, gate, second, peek)
    assert not [each for each in done if isinstance(each, BaseException)], done
    assert None not in done
    assert await faults(peek, clock.now()) == []


async def brings(records: Records, leases: dict[str, HostLease], host: str, price: int | None) -> Reported:
    """Report the page of a host with an item, or without one; the item is the same on all hosts."""
    lease, shared = leases[f"{host}.example"], "https://a.example/x"
    [task] = lease.tasks
    made = [] if price is None else [("book", {"price": price, "url": shared}, "x")]
    segment = WrittenSegment(await records.segments.begin(new_id(), ME), 1, 100)
    items = new_items(made, Origin(task.run_id, task.id, task.url))
    return await report(records, host_report(lease, [ended(task, page=page())]), segment=segment, items=items)


async def shared_item(records: Records, clock: FakeClock, other: str) -> tuple[RunRow, dict[str, HostLease]]:
    """Start a run with an item on pages of two hosts, first on `a`; return it and leases of `a` and another host."""
    run = await running_run(records)
    await admit(records, *(url(run, f"{host}.example") for host in "abcd"))
    leases = await claim(records)
    for host, price in (("c", None), ("a", 1), ("b", 1)):
        await brings(records, leases, host, price)
    for host in ("a", other):
        task = leases[f"{host}.example"].tasks[0].id
        await records.moves.apply(Change("task", task, "restart", "completed", "pending", "person"))
    clock.advance(DELAY / 1000)
    return run, await claim(records)


@pytest.mark.parametrize(("other", "price", "left"), [("b", None, 0), ("c", None, 1), ("c", 1, 1), ("c", 2, 1)])
@pytest.mark.parametrize("before", ["page_lists", "pages_with_items", "relist_items", "lead_items", "count_runs"])
async def test_a_page_drops_an_item_while_a_page_of_another_host_is_reported(
    records: Records,
    database: Database,
    clock: FakeClock,
    peek: Peek,
    before: str,
    other: str,
    price: int | None,
    left: int,
):
    run, leases = await shared_item(records, clock, other)
    gate = Gate(before)
    gated = replace(records, frontier=FrontierRecords(GatedDatabase(database, gate)))
    held, late = partial(brings, gated, leases, "a", None), partial(brings, records, leases, other, price)
    done = await interleave(held, gate, late, peek)
    assert not [each for each in done if isinstance(each, BaseException)], done
    assert await faults(peek, clock.now()) == []
    assert (await get_run(records, run.id)).items == len(await records.items.of_run(run.id)) == left


@pytest.mark.parametrize("price", [1, 2])
async def test_a_page_drops_an_item_while_the_other_page_with_the_item_brings_it_again(
    records: Records,
    database: Database,
    clock: FakeClock,
    peek: Peek,
    price: int,
    monkeypatch: pytest.MonkeyPatch,
):
    # Each of the two waits for the page of the other, and one is repeated.
    monkeypatch.setattr(postgres, "RETRYABLE_ERRORS", (TryAgain, asyncpg.DeadlockDetectedError))
    run, leases = await shared_item(records, clock, "b")
    gate = Gate("relist_items")
    gated = replace(records, frontier=FrontierRecords(GatedDatabase(database, gate)))
    held, late = partial(brings, gated, leases, "a", None), partial(brings, records, leases, "b", price)
    done = await interleave(held, gate, late, peek)
    assert not [each for each in done if isinstance(each, BaseException)], done
    assert await faults(peek, clock.now()) == []
    assert [item.price for item in await records.items.of_run(run.id)] == [price]


@pytest.mark.parametrize("before", ["lock_lines", "admit_tasks", "count_runs"])
async def test_a_run_can_be_cancelled_while_urls_are_admitted(
    records: Records, database: Database, clock: FakeClock, peek: Peek, before: str
):
    run = await running_run(records)
    await admit(records, url(run), url(run, "b.example"))
    gate = Gate(before)
    port = FrontierRecords(GatedDatabase(database, gate))
    held = partial(port.admit, [url(run, "b.example", "/late")], {})
    admitted, cancelled = await interleave(held, gate, cancel_run(MoveRecords(database), run.id), peek)
    assert cancelled.state == "cancelled"
    assert admitted in (Admitted(1, 0, 0), Admitted(0, 0, 1))
    assert await faults(peek, clock.now()) == []


async def test_cancelling_a_run_that_was_given_another_host_makes_no_deadlock(
    records: Records, database: Database, clock: FakeClock, peek: Peek
):
    run = await running_run(records)
    await admit(records, url(run, "a.example"))
    await records.frontier.ensure_hosts([HostSetting("b.example", 0, 1)])
    looked, holds = Gate("lock_runs"), Gate("open_tasks_of_run")
    port = MoveRecords(GatedDatabase(GatedDatabase(database, looked), holds))
    async with together() as started, asyncio.timeout(PATIENCE):
        cancelling = started(cancel_run(port, run.id)())
        await looked.reached.wait()
        await admit(records, url(run, "b.example"))
        looked.open.set()
        await holds.reached.wait()
        late = started(records.frontier.admit([url(run, "b.example", "/late")], {}))
        await settled(late, peek)
        assert not late.done(), "the admission has the host, and waits for the run"
        holds.open.set()
        cancelled, admitted = await cancelling, await late
    assert cancelled.state == "cancelled"
    assert admitted in (Admitted(1, 0, 0), Admitted(0, 0, 1))
    assert await faults(peek, clock.now()) == []


@pytest.mark.parametrize("before", ["admit_tasks", "count_runs"])
async def test_a_run_can_complete_while_urls_are_admitted(
    records: Records, database: Database, clock: FakeClock, peek: Peek, before: str
):
    run = await running_run(records)
    await admit(records, url(run), url(run, "b.example"))
    leases = await claim(records)
    await report(records, host_report(leases["b.example"]))
    gate = Gate(before)
    port = FrontierRecords(GatedDatabase(database, gate))
    held = partial(port.admit, [url(run, "b.example", "/late")], {})
    last = partial(report, records, host_report(leases["a.example"]))
    admitted, reported = await interleave(held, gate, last, peek)
    row = await get_run(records, run.id)
    if reported.ended_runs:
        assert (admitted, row.state) == (Admitted(0, 0, 1), "completed"), "a worker does not reopen a run"
    else:
        assert (admitted, row.state) == (Admitted(1, 0, 0), "running")
    assert await faults(peek, clock.now()) == []


async def test_two_reports_of_a_run_with_a_budget_make_no_deadlock(
    records: Records, database: Database, clock: FakeClock, peek: Peek
):
    run = await running_run(records, budget=100)
    await admit(records, *urls(run, "a.example", 2), *urls(run, "b.example", 2))
    leases = await claim(records)
    gate = Gate("admit_tasks")
    port = FrontierRecords(GatedDatabase(database, gate))
    batch = ReportBatch(reports=[host_report(leases["a.example"])], admit=[url(run, "a.example", "/found")])
    first, second = await interleave(
        partial(port.report, batch), gate, partial(report, records, host_report(leases["b.example"])), peek
    )
    assert not first.refused
    assert not second.refused
    assert await faults(peek, clock.now()) == []


async def test_reports_over_several_runs_make_no_deadlock(
    records: Records, database: Database, clock: FakeClock, peek: Peek
):
    small, large = await running_run(records), await running_run(records, budget=100)
    tasks = [url(run, host, f"/{run.id}") for host in ("a.example", "b.example") for run in (small, large)]
    await admit(records, *tasks)
    leases = await claim(records)
    gate = Gate("admit_tasks")
    port = FrontierRecords(GatedDatabase(database, gate))
    batch = ReportBatch(reports=[host_report(leases["a.example"])], admit=[url(large, "a.example", "/found")])
    first, second = await interleave(
        partial(port.report, batch), gate, partial(report, records, host_report(leases["b.example"])), peek
    )
    assert not first.refused
    assert not second.refused
    assert await faults(peek, clock.now()) == []


@pytest.mark.parametrize("before", ["lock_runs", "lock_sources", "spend_sources", "count_runs"])
async def test_reports_of_a_source_with_a_budget_make_no_deadlock(
    records: Records, database: Database, clock: FakeClock, peek: Peek, before: str
):
    source = await records.sources.add(NewSource("shop", "https://a.example", budget=5))
    runs = [await running_run(records, source_id=source.id, budget=budget) for budget in (None, 100)]
    await admit(records, *(url(run, host, f"/{run.id}") for host in ("a.example", "b.example") for run in runs))
    leases = await claim(records)
    gate = Gate(before)
    port = FrontierRecords(GatedDatabase(database, gate))
    batches = [
        ReportBatch(reports=[host_report(leases[f"{host}.example"])], admit=[url(run, f"{host}.example", "/found")])
        for host, run in zip("ab", reversed(runs), strict=True)
    ]
    other = partial(records.frontier.report, batches[1])
    first, second = await interleave(partial(port.report, batches[0]), gate, other, peek)
    assert not first.refused
    assert not second.refused
    assert sorted([first.admitted, second.admitted]) == [Admitted(0, 0, 1), Admitted(1, 0, 0)]
    assert await peek.rows("SELECT admitted FROM sources") == [(5,)]
    assert await faults(peek, clock.now()) == []


@pytest.mark.parametrize("before", ["admit_tasks", "spend_sources", "count_runs"])
async def test_the_rest_of_a_sources_budget_is_not_spent_twice(
    records: Records, database: Database, clock: FakeClock, peek: Peek, before: str
):
    source = await records.sources.add(NewSource("shop", "https://a.example", budget=3))
    one, two = [await running_run(records, source_id=source.id) for _ in range(2)]
    await admit(records, url(one, "a.example"), url(two, "b.example"))
    gate = Gate(before)
    port = FrontierRecords(GatedDatabase(database, gate))
    held = partial(port.admit, [url(one, "a.example", "/found")], {})
    other = partial(records.frontier.admit, [url(two, "b.example", "/found")], {})
    assert await interleave(held, gate, other, peek) == [Admitted(1, 0, 0), Admitted(0, 0, 1)]
    assert await faults(peek, clock.now()) == []


async def test_a_fenced_move_and_the_reaper_exclude_each_other(
    records: Records, database: Database, clock: FakeClock, peek: Peek
):
    run = await running_run(records)
    (task_id,) = await tasks_in(records, "downloaded", run.id, 1)
    (taken,) = await records.hands.take("parse", ME, 1, TTL)
    clock.advance(TTL / 1000 + 1)
    gate = Gate("empty_offers_of_tasks")
    port = MoveRecords(GatedDatabase(database, gate))
    late = Change("task", task_id, "complete", "parsing", "completed", "worker", token=taken.token)

    async def reap_and_take() -> list[Any]:
        await records.hands.reap(10)
        return await records.hands.take("parse", YOU, 1, TTL)

    moved, others = await interleave(partial(port.apply, late), gate, reap_and_take, peek)
    # Either the late move was in time, and no task could be taken; or it was not, and it changed nothing.
    assert (moved is None) == bool(others)
    assert await faults(peek, clock.now()) == []


@pytest.mark.parametrize("what", ["renew", "disown", "report"])
async def test_hosts_are_always_locked_in_one_order(
    records: Records, clock: FakeClock, peek: Peek, what: str, records_url: str
):
    run, other = await running_run(records), await running_run(records)
    await records.frontier.ensure_hosts([HostSetting(f"{h}.example", 0, 1) for h in "ab"])
    leases: dict[str, HostLease] = {}
    for host in ("b.example", "a.example"):
        # The later one's lease ends first: an index by that time has them the other way round.
        await admit(records, url(run, host))
        leases |= await claim(records)
        clock.advance(1)
    a, b = leases["a.example"], leases["b.example"]
    does: dict[str, Callable[[], Awaitable[Any]]] = {
        "renew": partial(records.frontier.renew, ME, [(b.host_id, b.token), (a.host_id, a.token)], TTL),
        "disown": partial(records.frontier.release_all, ME),
        "report": partial(report, records, host_report(b), host_report(a)),
    }
    found = [url(other, f"{h}.example", "/found") for h in "ab"]
    first = f"SELECT 1 FROM line WHERE host_id = {min(a.host_id, b.host_id)} FOR UPDATE"
    async with together() as started, locked(records_url, first) as let_go:
        admitting = started(records.frontier.admit(found, {}))
        await asyncio.wait_for(settled(admitting, peek), PATIENCE)
        doing = started(does[what]())
        await asyncio.wait_for(settled(doing, peek, others=1), PATIENCE)
        await let_go()
        admitted, _ = await asyncio.wait_for(asyncio.gather(admitting, doing), PATIENCE)
    assert admitted.new == 2
    assert await faults(peek, clock.now()) == []


async def test_concurrent_requests_for_a_standing_run_get_one(records: Records, database: Database, peek: Peek):
    gate = Gate("ensure_run")
    ports = RunRecords(GatedDatabase(database, gate)), records.runs
    held, other = (partial(port.ensure, NewRun(new_id(), RunKind.STANDING_FEED, "{}", "s")) for port in ports)
    first, second = await interleave(held, gate, other, peek)
    assert first == second
    assert await peek.value("SELECT COUNT(*) FROM runs") == 1


async def test_concurrent_tasks_for_bots_have_one_run(records: Records, database: Database, peek: Peek):
    gate = Gate("ensure_run")
    ports = {"a.example": BotTaskRecords(GatedDatabase(database, gate)), "b.example": records.bot_tasks}
    held, other = (
        partial(port.add, [NewBotTask(f"https://{host}/", host, 500, 3, 60_000)], [HostSetting(host, 0, 1)])
        for host, port in ports.items()
    )
    await interleave(held, gate, other, peek)
    assert await peek.rows("SELECT kind, seed FROM runs") == [("bots", "")]
    assert await peek.rows("SELECT COUNT(*), COUNT(DISTINCT run_id) FROM tasks") == [(2, 1)]


async def test_a_task_that_is_being_paused_is_not_claimed(
    records: Records, database: Database, clock: FakeClock, peek: Peek
):
    run = await running_run(records)
    first, _ = await tasks_in(records, "pending", run.id)
    gate = Gate("move_tasks")
    port = MoveRecords(GatedDatabase(database, gate))
    pause = Change("task", first, "pause", "pending", "paused", "person")
    paused, leases = await interleave(partial(port.apply, pause), gate, partial(claim, records), peek)
    assert paused is not None
    assert leases == {}, "a task that is being moved is not claimed"
    assert len((await claim_one(records)).tasks) == 1
    assert await faults(peek, clock.now()) == []
