"""URLs that bounds and budgets refused, on both engines: stored once, admitted later, by a run that may have ended."""

import asyncio

import pytest

from longline.drivers.records.runs import run_counters
from longline.model.errors import IllegalMove, NotFound
from longline.model.frontier.task import NewTask, RefusedUrl
from longline.model.runs.run import RunRow
from longline.ports.records import Records
from longline.ports.records.frontier.frontier import Admitted, Change, HostSetting
from tests.drivers.records.world import admit, claim, claim_one, get_run, host_report, report, running_run, url


async def refuse(records: Records, run: RunRow, *refused: RefusedUrl, page: str = "/page") -> None:
    """Report a page of the run with refused links."""
    await admit(records, url(run, path=page))
    await report(records, host_report(await claim_one(records)), refused_urls=refused)


async def keep_open(records: Records, run: RunRow) -> None:
    """Admit a URL to the run that is not due for long."""
    await admit(records, url(run, "later.example", due=10**15))


async def kept(records: Records, run: RunRow) -> list[tuple[str, str, int]]:
    depths = await records.refused_urls.depths(run.id)
    found = [one for depth in depths for one in await records.refused_urls.find(run.id, depth, b"", 100)]
    return [(one.task.url.removeprefix("https://a.example"), one.reason, one.task.depth) for one in found]


async def extend(records: Records, run: RunRow, *tasks: NewTask) -> Admitted:
    await records.frontier.ensure_hosts([HostSetting(task.host, 0, 1) for task in tasks])
    return await records.frontier.extend(run.id, tasks)


async def test_a_refused_url_is_kept_once_with_its_smallest_depth(records: Records):
    run = await running_run(records)
    await keep_open(records, run)
    await refuse(
        records,
        run,
        RefusedUrl("depth", url(run, path="/x", depth=4)),
        RefusedUrl("excluded", url(run, path="/y", depth=2, hops=1, parent_id=7, priority=9)),
        RefusedUrl("depth", url(run, path="/x", depth=3)),
    )
    await refuse(records, run, RefusedUrl("depth", url(run, path="/x", depth=5)), page="/other")
    assert await kept(records, run) == [("/y", "excluded", 2), ("/x", "depth", 3)]
    [found] = await records.refused_urls.find(run.id, 2, b"", 10)
    task = found.task
    assert (task.hops, task.parent_id, task.priority, task.scope, task.keep_refused) == (1, 7, 9, run.id, True)
    assert await records.refused_urls.find(run.id, 2, task.key, 10) == []
    await records.refused_urls.change_reasons(run.id, {task.key: "offsite"})
    assert await records.refused_urls.counts(run.id) == {"depth": 1, "offsite": 1}


async def test_a_run_stores_a_bounded_number_of_urls_and_counts_the_others(
    records: Records, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(run_counters, "MAX_REFUSED_URLS", 4)
    run = await running_run(records)
    await keep_open(records, run)

    def links(*names: str) -> list[RefusedUrl]:
        return [RefusedUrl("depth", url(run, path=f"/{name}", depth=9)) for name in names]

    await refuse(records, run, *links("a", "b"), page="/1")
    for number in range(2, 5):
        await refuse(records, run, *links("a", "b"), page=f"/{number}")
    assert await records.refused_urls.dropped(run.id) == 0, "a URL that is found again takes no room"
    await refuse(records, run, *links("a", "c"), page="/5")
    await refuse(records, run, *links("d", "e", "f"), RefusedUrl("depth", url(run, path="/a", depth=3)), page="/6")
    assert sum((await records.refused_urls.counts(run.id)).values()) == 4
    assert await records.refused_urls.dropped(run.id) == 2
    assert ("/a", "depth", 3) in await kept(records, run), "the place of a stored URL is still kept"
    await refuse(records, run, *links("g"), page="/7")
    assert await records.refused_urls.dropped(run.id) == 3
    await extend(records, run, url(run, path="/a"), url(run, path="/b"))
    await refuse(records, run, *links("h"), page="/8")
    assert sum((await records.refused_urls.counts(run.id)).values()) == 3, "admitted URLs leave room"


async def test_a_url_that_was_admitted_later_does_not_count(records: Records):
    run = await running_run(records)
    await keep_open(records, run)
    await refuse(records, run, RefusedUrl("depth", url(run, path="/x")), RefusedUrl("depth", url(run, path="/y")))
    await admit(records, url(run, path="/x"))
    assert await records.refused_urls.counts(run.id) == {"depth": 1}


async def test_urls_beyond_the_budget_are_stored_if_refused_urls_are_kept(records: Records):
    run = await running_run(records, budget=2)
    wanted = [url(run, path=f"/{n}", depth=n, keep_refused=n % 2 == 1) for n in range(6)]
    assert await admit(records, *wanted) == Admitted(2, 0, 4)
    assert await kept(records, run) == [("/3", "budget", 3), ("/5", "budget", 5)]


async def test_an_ended_run_is_opened_again_for_a_new_url(records: Records):
    run = await running_run(records)
    refused = [RefusedUrl("depth", url(run, path=f"/{n}", depth=3)) for n in range(3)]
    await refuse(records, run, *refused)
    assert (await get_run(records, run.id)).state == "completed"
    assert await extend(records, run, refused[0].task, refused[1].task) == Admitted(2, 0, 0)
    row = await get_run(records, run.id)
    assert (row.state, row.open, row.admitted, row.ended_at, row.owner) == ("running", 2, 3, None, None)
    assert await kept(records, run) == [("/2", "depth", 3)]
    await report(records, host_report((await claim(records))["a.example"]))
    row = await get_run(records, run.id)
    assert (row.state, row.completed) == ("completed", 3)
    moves = [event.move for event in await records.events.find() if event.noun == "run" and event.move != "report"]
    assert moves[-3:] == ["finish", "reopen", "finish"]


async def test_a_run_without_a_new_url_stays_ended(records: Records):
    run = await running_run(records)
    await refuse(records, run, RefusedUrl("depth", url(run, path="/page")))
    ended = await get_run(records, run.id)
    assert await extend(records, run, url(run, path="/page")) == Admitted(0, 1, 0)
    assert await get_run(records, run.id) == ended
    assert await kept(records, run) == []


async def test_a_run_without_room_in_its_budget_ends_again_and_keeps_the_urls(records: Records):
    run = await running_run(records, budget=1)
    await refuse(records, run)
    assert await extend(records, run, url(run, path="/x", keep_refused=True)) == Admitted(0, 0, 1)
    row = await get_run(records, run.id)
    assert (row.state, row.open) == ("completed", 0)
    assert await kept(records, run) == [("/x", "budget", 0)]
    await records.runs.revise(run.id, "{}", 2)
    assert await extend(records, run, url(run, path="/x", keep_refused=True)) == Admitted(1, 0, 0)
    assert (await get_run(records, run.id)).state == "running"


async def test_a_cancelled_run_and_an_unknown_one_are_refused(records: Records):
    run = await running_run(records)
    assert await records.moves.apply(Change("run", run.id, "cancel", "running", "cancelled", "person"))
    with pytest.raises(IllegalMove):
        await extend(records, run, url(run))
    with pytest.raises(NotFound):
        await records.frontier.extend(999, [])


async def test_reports_of_one_run_that_refuse_the_same_urls_do_not_deadlock(records: Records):
    run = await running_run(records, budget=1000)
    hosts = [f"h{n}.example" for n in range(6)]
    await admit(records, *(url(run, host, "/") for host in hosts))
    leases = (await claim(records)).values()
    same = [RefusedUrl("depth", url(run, path=f"/{n}", depth=2)) for n in range(200)]
    orders = [same, same[::-1]]
    await asyncio.gather(
        *(report(records, host_report(lease), refused_urls=orders[n % 2]) for n, lease in enumerate(leases))
    )
    assert await records.refused_urls.counts(run.id) == {"depth": 200}
