"""Runs that are judged by their plans, in the transaction of the last task, on both engines."""

import pytest

from longline.model.runs.crawl_plan import CrawlPlan
from longline.model.runs.end_judgement import EndRules, Judgement
from longline.model.states import TaskState
from longline.ports.records import Records
from longline.ports.records.frontier.frontier import Change
from tests.drivers.records.world import admit, claim_one, ended, get_run, host_report, report, running_run, urls

DONE, FAILED, SKIPPED = TaskState.COMPLETED, TaskState.FAILED, TaskState.SKIPPED


def plan(judged: Judgement) -> str:
    return CrawlPlan(("https://a.example/",), end=EndRules(judged)).text()


async def end_with(records: Records, judged: Judgement, *states: TaskState) -> int:
    """End a run with tasks in these states, in the order of their admission; the last is reported separately."""
    run = await running_run(records, plan=plan(judged))
    await admit(records, *urls(run, "a.example", len(states)))
    lease = await claim_one(records)
    tasks = sorted(lease.tasks, key=lambda task: task.id)
    outcomes = [
        ended(t, s, "ok" if s == DONE else "robots" if s == SKIPPED else "dns", error=None if s == DONE else f"e{n}")
        for n, (t, s) in enumerate(zip(tasks, states, strict=True))
    ]
    if outcomes[:-1]:
        await report(records, host_report(lease, outcomes[:-1], release=False))
        assert (await get_run(records, run.id)).state == "running"
    reported = await report(records, host_report(lease, outcomes[-1:]))
    assert reported.ended_runs == (run.id,)
    return run.id


@pytest.mark.parametrize(
    ("judged", "states", "state", "error"),
    [
        ("never", (FAILED, FAILED), "completed", None),
        ("all", (FAILED, FAILED), "failed", "e0"),
        ("all", (SKIPPED, FAILED), "failed", "e1"),
        ("all", (FAILED, DONE), "completed", None),
        ("all", (SKIPPED, SKIPPED), "failed", "e0"),
        ("any", (DONE, FAILED, FAILED), "failed", "e1"),
        ("any", (DONE, SKIPPED), "failed", "e1"),
        ("any", (DONE, DONE), "completed", None),
    ],
)
async def test_a_run_ends_by_the_rule_of_its_plan(
    records: Records, judged: Judgement, states: tuple[TaskState, ...], state: str, error: str | None
):
    run = await get_run(records, await end_with(records, judged, *states))
    assert (run.state, run.error) == (state, error)
    event = [e for e in await records.events.find() if e.noun == "run"][-1]
    assert (event.move, event.actor) == ("finish" if error is None else "fail_judged", "worker")


async def test_a_cancelled_last_task_is_judged_too(records: Records):
    run = await running_run(records, plan=plan("any"))
    await admit(records, *urls(run, "a.example", 1))
    [task] = await records.tasks.find(run_id=run.id)
    await records.moves.apply(Change("task", task.id, "cancel", "pending", "cancelled", "person", reason="by hand"))
    after = await get_run(records, run.id)
    assert (after.state, after.error) == ("failed", "by hand")
    events = [(e.move, e.actor) for e in await records.events.find() if e.noun == "run"]
    assert events[-1] == ("fail_judged", "upkeep")


async def test_a_run_that_is_opened_again_is_judged_anew_and_loses_its_error(records: Records):
    run_id = await end_with(records, "any", FAILED)
    [task] = await records.tasks.find(run_id=run_id)
    await records.moves.apply(Change("task", task.id, "restart", "failed", "pending", "person"))
    opened = await get_run(records, run_id)
    assert (opened.state, opened.error) == ("running", None)
    await report(records, host_report(await claim_one(records)))
    closed = await get_run(records, run_id)
    assert (closed.state, closed.error) == ("completed", None)
