"""Numbers with their nouns over HTTP: one thing has the singular, none and several have the plural."""

import httpx

from longline.model.metrics.throughput import WorkerThroughput
from tests.console.scene import add_urls, start_run
from tests.console.schedules.test_schedule_page import add
from tests.console.visiting import csrf, text_of
from tests.surfaces.intervals.platform import Door


async def test_keys_have_a_plural(door: Door, visitor: httpx.AsyncClient):
    assert "0 keys, newest first." in text_of((await visitor.get("/console/keys")).text)
    assert "0 policies, newest first." in text_of((await visitor.get("/console/policies")).text)


async def test_one_thing_has_the_singular(door: Door, visitor: httpx.AsyncClient):
    records = door.platform.records
    run = await start_run(records, "https://a.example/")
    await add_urls(records, run, "a.example", 1)
    await records.counters.add({}, WorkerThroughput("a:1", {("requests", ""): 1, ("failures", "http_429"): 1}))
    await add(door, "a")
    overview = text_of((await visitor.get("/console")).text)
    assert "Failures by reason 1 request " in overview
    assert "Queue 1 open task, each figure" in overview
    assert "Tasks by host 1 task " in text_of((await visitor.get(f"/console/runs/{run.id}")).text)
    for path in ("/console/schedules", "/console/schedules/rebalance"):
        assert "1 schedule starts next within 24 hours" in text_of((await visitor.get(path)).text), path
    [task] = await records.tasks.find(run_id=run.id)
    token = csrf((await visitor.get(f"/console/tasks?run={run.id}")).text)
    form = {"csrf": token, "tasks": str(task.id), "chosen": str(task.id), "priority": "3", "move": "priority"}
    moved = await visitor.post("/console/tasks/priority", data=form)
    assert "1 task has another priority" in text_of(moved.text)
