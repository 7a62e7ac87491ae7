"""Numbers lead to the lists behind them: tasks by host and reason, runs of a schedule, items and letters of a run."""

import re

import httpx

from longline.engine.lifecycle.creation import create_schedule
from longline.model.ids import new_id
from longline.model.runs.run import NewRun, RunKind
from longline.model.schedules.schedule import NewSchedule, ScheduleSpec
from longline.model.search.item import Origin, new_items
from longline.ports.records import Records
from tests.console.hostile import make_things
from tests.console.scene import make_scene, start_run
from tests.console.visiting import csrf, text_of
from tests.drivers.records.downloads.test_dead_letters import REASONS, failed_run
from tests.surfaces.intervals.platform import Door


def shown(page: str, kind: str) -> set[int]:
    """Return the numbers of the objects of a kind that a page links to."""
    return {int(found) for found in re.findall(rf'href="/console/{kind}/(\d+)"', page)}


async def test_the_failures_of_a_run_lead_to_their_tasks(door: Door, visitor: httpx.AsyncClient):
    run = await make_scene(door.platform.records)
    page = (await visitor.get(f"/console/runs/{run.id}")).text
    host = "tidewater-books.example"
    for link, count in (
        (f"/console/tasks?run={run.id}&amp;state=failed&amp;reason=http_4xx", 2),
        (f"/console/tasks?run={run.id}&amp;host={host}&amp;state=failed", 3),
        (f"/console/tasks?run={run.id}&amp;host={host}&amp;state=failed&amp;reason=connect_timeout", 1),
    ):
        assert link in page, link
        found = (await visitor.get(link.replace("&amp;", "&"))).text
        assert len(shown(found, "tasks")) == count, link
    nothing = await visitor.get(f"/console/tasks?run={run.id}&host=elsewhere.example")
    assert "None of the tasks that were read fits the filter" in text_of(nothing.text)


async def schedule_with_runs(records: Records, now: int) -> tuple[int, str, set[int]]:
    """Make a schedule with two runs, and return its number, its public id and the runs."""
    url = "https://tide.example/"
    terms = ScheduleSpec(url=url, source_ref="", source_name="Tide", every=1, unit="days", enabled=True)
    new = NewSchedule(new_id(), url, interval_ms=terms.interval_ms, next_due=now + 3_600_000, terms=terms)
    made = await create_schedule(records.schedules, new, "person")
    runs = [await records.runs.add(NewRun(new_id(), RunKind.CRAWL, "{}", url, schedule_id=made.id)) for _ in range(2)]
    return made.id, made.uid, {run.id for run in runs}


async def test_the_runs_of_a_schedule_are_a_list(door: Door, visitor: httpx.AsyncClient):
    other = await start_run(door.platform.records, "https://other.example/")
    number, uid, runs = await schedule_with_runs(door.platform.records, door.platform.clock.now())
    assert f"/console/runs?schedule={number}" in (await visitor.get(f"/console/schedules/{uid}")).text
    page = (await visitor.get(f"/console/runs?schedule={number}")).text
    assert shown(page, "runs") == runs
    assert 'data-part="count-all"' not in page, "totals of all runs are not those of the schedule"
    assert shown((await visitor.get("/console/runs")).text, "runs") == {*runs, other.id}
    assert f"/console/schedules/{uid}" in (await visitor.get(f"/console/runs/{max(runs)}")).text


async def test_the_items_of_a_run_are_a_list_in_the_order_in_which_they_came(door: Door, visitor: httpx.AsyncClient):
    records = door.platform.records
    things = await make_things(door.platform)
    other = await start_run(records, "https://other.example/")
    facts = [("product", {"title": "Elsewhere"}, "elsewhere")]
    await records.items.put(new_items(facts, Origin(other.id, 999, "https://i.example/")))
    page = (await visitor.get(f"/console/items?run={things.run}")).text
    assert shown(page, "items") == {things.item}
    assert f"/console/items?run={things.run}" in (await visitor.get(f"/console/runs/{things.run}")).text
    behind = (await visitor.get(f"/console/items?run={things.run}&after=1000000")).text
    assert "This run has brought no item" in text_of(behind)


async def test_the_letters_of_a_run_are_a_list_and_are_replayed_alone(door: Door, visitor: httpx.AsyncClient):
    records = door.platform.records
    first, second = await failed_run(records), await failed_run(records, "b.example")
    page = (await visitor.get(f"/console/dead-letters?run={first.id}")).text
    assert len(re.findall(r"/console/dead-letters/\d+/replay", page)) == len(REASONS)
    form = {"csrf": csrf(page), "run": f"{second.id}"}
    assert (await visitor.post("/console/dead-letters/replay", data=form)).status_code == 303
    left = (await visitor.get("/console/dead-letters?waiting=true")).text
    assert len(re.findall(r"/console/dead-letters/\d+/replay", left)) == len(REASONS), "those of the other run wait"
    wrong = await visitor.post("/console/dead-letters/replay", data=form | {"run": "all"})
    assert wrong.status_code == 400, "a broken filter selects no task"


async def test_every_page_tells_the_number_of_alerts(visitor: httpx.AsyncClient, door: Door):
    assert "alert-count" not in (await visitor.get("/console/sources")).text.replace('data-part="alert-count"', "")
    await make_things(door.platform)
    page = (await visitor.get("/console/sources")).text
    assert page.count('<span class="alert-count">1') == 3, "in the rail, in the sheet, and at the button that opens it"
