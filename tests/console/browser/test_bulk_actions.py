"""Orders for many tasks, the replay of dead letters, and a rebalance, each by hand in the browser."""

import re
from typing import Any

import pytest
from playwright.sync_api import Route, expect

from longline.engine.lifecycle.creation import create_schedule
from longline.model.bots.bot_task import NewBotTask, Pull
from longline.model.callers.audit import AuditFilter, AuditRow
from longline.model.frontier.task import TaskRow
from longline.model.ids import new_id
from longline.model.runs.run import RunRow
from longline.model.schedules.schedule import NewSchedule, ScheduleSpec
from longline.model.states import TaskState, legal
from longline.ports.records import Records
from longline.ports.records.frontier.frontier import HostSetting
from longline.services.frontier.task_actions import ORDERS, orders_of
from tests.console.browser.stage import Stage
from tests.console.browser.watched import Visit
from tests.console.scene import add_urls, end_urls, start_run
from tests.drivers.records.downloads.test_dead_letters import failed_run
from tests.drivers.records.world import claim, get_run

pytestmark = pytest.mark.slow("a browser takes seconds of a processor")


def audited(stage: Stage, action: str) -> list[AuditRow]:
    return stage.run(stage.records.audit.find(AuditFilter(action=action), limit=10))


def task_now(stage: Stage, task_id: int) -> TaskRow:
    found = stage.run(stage.records.tasks.get(task_id))
    assert found is not None
    return found


async def every_state(records: Records) -> RunRow:
    """Make a run with waiting, failed, paused and claimed tasks, and with tasks of bots."""
    run = await start_run(records, "https://states.example/")
    await add_urls(records, run, "states.example", 6)
    await end_urls(records, ((TaskState.COMPLETED, "ok"), (TaskState.FAILED, "http_5xx"), (TaskState.FAILED, "tls")))
    await add_urls(records, run, "held.example", 1)
    return run


def test_buttons_count_the_chosen_tasks_that_they_can_take(visit: Visit):
    stage = visit.stage
    run = stage.run(every_state(stage.records))
    page = visit.open(f"/console/tasks?run={run.id}")
    for name in ORDERS:
        expect(page.locator(f"[data-order={name}]")).to_be_disabled()
    for row in page.locator("tbody tr").all():
        state = (row.locator(".badge").inner_text()).strip().replace(" ", "_")
        assert row.locator("input").get_attribute("data-orders") == " ".join(
            [*orders_of(state, has_page=False), "priority"]
        )
        moves = {ORDERS[name].move_from(state) for name in orders_of(state, has_page=False)}
        assert moves <= set(legal("task", state, "person"))
    page.get_by_label("Choose all tasks of this page").check()
    expect(page.locator("[data-chosen]")).to_have_text("7 chosen")
    expect(page.get_by_role("button", name="Restart 7")).to_be_enabled()
    expect(page.get_by_role("button", name="Pause 4")).to_be_enabled()
    expect(page.get_by_role("button", name="Resume")).to_be_disabled()
    page.get_by_role("button", name="Pause 4").click()
    expect(page.locator("h1")).to_have_text("4 of 7 tasks moved")
    assert [(one.door, one.name) for one in audited(stage, "task.pause")] == [("console", "a-admin")]


@pytest.mark.parametrize(
    ("order", "button", "before", "after"),
    [
        ("pending", "Mark pending", "failed", "pending"),
        ("restart", "Restart", "failed", "pending"),
        ("release", "Reset lock", "queued", "pending"),
        ("expire", "Mark expired", "crawling", "expired"),
    ],
)
def test_an_order_moves_tasks_and_is_audited(visit: Visit, order: str, button: str, before: str, after: str):
    stage, records = visit.stage, visit.stage.records
    host = f"{order}.example"
    if before == "crawling":
        [task_id] = stage.run(pulled_by_bot(records, host))
    else:
        task_id = stage.run(one_task(records, host, before))
    page = visit.open(f"/console/tasks?run={task_now(stage, task_id).run_id}")
    page.get_by_label(f"Choose task {task_id}", exact=True).check()
    page.get_by_role("button", name=f"{button} 1").click()
    expect(page.locator("h1")).to_have_text("1 of 1 tasks moved")
    expect(page.locator("tbody .badge").nth(0)).to_have_text(before)
    expect(page.locator("tbody .badge").nth(1)).to_have_text(after)
    assert task_now(stage, task_id).state == after
    assert [(row.door, row.name) for row in audited(stage, f"task.{order}")] == [("console", "a-admin")]


async def one_task(records: Records, host: str, state: str) -> int:
    """Make a task that has failed or is claimed by a worker, and return its number."""
    run = await start_run(records, f"https://{host}/")
    await add_urls(records, run, host, 2)
    if state == "failed":
        await end_urls(records, ((TaskState.FAILED, "http_5xx"),))
    else:
        await claim(records)
    found = await records.tasks.find(run_id=run.id)
    return next(task.id for task in found if task.state == state)


async def pulled_by_bot(records: Records, host: str) -> list[int]:
    task = NewBotTask(f"https://{host}/", host, 500, 3, 600_000)
    made = await records.bot_tasks.add([task], [HostSetting(host, 0, 1)])
    await records.bot_tasks.pull([Pull("a-bot", None, 10)])
    return made


def test_priorities_are_set_and_cancelling_asks_first(visit: Visit):
    stage, records = visit.stage, visit.stage.records
    run = stage.run(start_run(records, "https://priority.example/"))
    stage.run(add_urls(records, run, "priority.example", 3))
    page = visit.open(f"/console/tasks?run={run.id}")
    page.get_by_label("Choose all tasks of this page").check()
    page.get_by_label("Priority, 0 to 1000").fill("7")
    page.get_by_role("button", name="Set priority 3").click()
    expect(page.locator("h1")).to_contain_text("3")
    assert {task.priority for task in stage.run(records.tasks.find(run_id=run.id))} == {7}
    visit.open(f"/console/tasks?run={run.id}")
    page.get_by_label("Choose all tasks of this page").check()
    page.get_by_role("button", name="Cancel 3…").click()
    expect(page.get_by_role("button", name="Keep them")).to_be_focused()
    page.get_by_label("Reason, for the audit").fill("not wanted")
    page.get_by_role("button", name="Cancel them").click()
    expect(page.locator("h1")).to_have_text("3 of 3 tasks moved")
    assert {task.state for task in stage.run(records.tasks.find(run_id=run.id))} == {"cancelled"}
    assert [row.reason for row in audited(stage, "task.cancel")] == ["not wanted"]
    assert len(audited(stage, "task.prioritize")) == 1


def test_a_rebalance_is_drawn_before_it_is_applied(visit: Visit):
    stage, clock = visit.stage, visit.stage.door.platform.clock
    stage.run(crowd(stage.records, clock.now()))
    page = visit.open("/console/schedules")
    page.get_by_role("link", name="Preview a rebalancing").click()
    panel = page.locator("#rebalance")
    expect(panel.locator("figure")).to_have_count(2)
    before, after = (figure.inner_text() for figure in panel.locator("figcaption").all())
    full = [int(re.search(r"fullest slot (\d+)", text)[1]) for text in (before, after)]  # type: ignore[index]
    assert full[0] > full[1] >= 1
    dues = stage.run(next_dues(stage.records))
    page.get_by_role("button", name=re.compile(r"Apply \d+ moves…")).click()
    expect(page.get_by_role("button", name="Keep it")).to_be_focused()
    page.keyboard.press("Escape")
    assert stage.run(next_dues(stage.records)) == dues, "a preview moves no schedule"
    page.get_by_role("button", name=re.compile(r"Apply \d+ moves…")).click()
    page.get_by_role("button", name="Move them").click()
    expect(panel).to_contain_text("No schedule would move")
    expect(panel.locator("figcaption").first).to_contain_text(f"fullest slot {full[1]}")
    assert stage.run(next_dues(stage.records)) != dues
    assert len(audited(stage, "schedule.rebalance")) == 1


def test_single_moves_of_a_rebalance_are_chosen_and_applied(visit: Visit):
    stage, clock = visit.stage, visit.stage.door.platform.clock
    stage.run(crowd(stage.records, clock.now()))
    page = visit.open("/console/schedules/rebalance")
    moves = page.get_by_role("region", name="Moves")
    shown = moves.locator("tbody tr").count()
    assert shown > 4
    button = moves.locator("[data-order=move]")
    expect(button).to_be_disabled()
    for place in (0, 3):
        moves.locator("input[name=chosen]").nth(place).check()
    expect(moves.locator("[data-chosen]")).to_have_text("2 chosen")
    chosen = [box.get_attribute("value") or "" for box in moves.locator("input[name=chosen]:checked").all()]
    before = dict(stage.run(next_dues(stage.records)))
    button.click()
    expect(page.get_by_role("button", name="Keep them")).to_be_focused()
    page.get_by_label("Reason, for the audit").last.fill("one at a time")
    page.get_by_role("button", name="Move the chosen").click()
    expect(page.locator(".toast")).to_contain_text("2 schedules moved.")
    after = dict(stage.run(next_dues(stage.records)))
    changed = {due for uid, due in after.items() if before[uid] != due}
    assert changed == {int(value.rpartition(":")[2]) for value in chosen}
    expect(moves.locator("tbody tr")).to_have_count(shown - 2)
    assert "one at a time" in [one.reason for one in audited(stage, "schedule.rebalance")]


def test_a_form_is_sent_once_by_a_double_click(visit: Visit):
    page = visit.open("/console/bots")
    posts: list[str] = []
    page.on("request", lambda request: posts.append(request.url) if request.method == "POST" else None)

    def answer_late(route: Route) -> None:
        page.wait_for_timeout(600)
        route.continue_()

    page.route("**/console/bots", answer_late)
    page.get_by_label("Name").fill("twice")
    button = page.get_by_role("button", name="Register")
    button.evaluate("(button) => { button.click(); setTimeout(() => button.click(), 200); }")
    expect(page.locator("body")).to_contain_text("bot_twice_")
    assert len(posts) == 1, "the second would hide the token"
    page.unroute("**/console/bots")
    page.go_back()
    page.get_by_label("Name").fill("thrice")
    page.get_by_role("button", name="Register").click()
    expect(page.locator("body")).to_contain_text("bot_thrice_")


LATE_ANSWER = """(button) => {
  const field = document.querySelector("[name=name]");
  const busy = () => console.log(`busy: ${button.getAttribute("aria-busy")}`);
  const edit = () => { field.value = "corrected"; field.dispatchEvent(new Event("input", { bubbles: true })); };
  const escape = () => field.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true }));
  const press = () => button.click();
  const steps = [[0, press], [6000, press], [6500, edit], [7000, press], [7500, escape], [8000, press]];
  for (const [at, step] of steps) setTimeout(() => { step(); busy(); }, at);
}"""
"""Clicks and edits while the answer to the first click is awaited: the driver of the browser would wait for it."""


def test_a_form_with_a_late_answer_is_sent_again_only_after_an_edit(visit: Visit):
    page = visit.open("/console/bots")
    held: list[Route] = []
    told: list[tuple[str, int]] = []
    page.on("console", lambda message: told.append((message.text, len(held))) if "busy" in message.text else None)
    page.route("**/console/bots", lambda route: held.append(route))  # the library marks its handlers
    page.get_by_label("Name").fill("late")
    page.get_by_role("button", name="Register").evaluate(LATE_ANSWER)
    page.wait_for_timeout(9_000)
    assert [text for text, _ in told] == [f"busy: {busy}" for busy in ("true", "true", "null", "true", "null", "true")]
    assert [sent for _, sent in told[1:5]] == [1, 1, 1, 2], "a second would hide the token"
    assert len(held) == 3
    visit.expected = {"ERR_ABORTED"}
    held[-1].continue_()
    expect(page.locator("body")).to_contain_text("bot_corrected_")
    page.unroute("**/console/bots")


async def crowd(records: Records, now: int) -> None:
    """Make schedules of one day that all start in the same slot."""
    for number in range(12):
        url = f"https://crowd-{number}.example/"
        terms = ScheduleSpec(url=url, source_ref="", source_name=url, every=1, unit="days", enabled=True)
        due = now + 6 * 3_600_000
        new = NewSchedule(new_id(), url, interval_ms=terms.interval_ms, next_due=due, terms=terms)
        await create_schedule(records.schedules, new, "person")


async def next_dues(records: Records) -> list[Any]:
    """Return the next starts of all schedules."""
    return sorted((row.uid, row.next_due) for row in await records.schedules.find(limit=50))


def test_dead_letters_are_replayed_one_by_one_and_by_their_reason(visit: Visit):
    stage, records = visit.stage, visit.stage.records
    run = stage.run(failed_run(records, "letters.example"))
    page = visit.open("/console/dead-letters?waiting=true&host=letters.example")
    expect(page.locator("tbody tr")).to_have_count(4)
    page.locator("tbody tr", has_text="dns").get_by_role("button", name="Replay").click()
    expect(page.locator("h1 + .badge")).to_have_text("pending")
    visit.open("/console/dead-letters?waiting=true&host=letters.example&reason=http_4xx")
    expect(page.locator("tbody tr")).to_have_count(2)
    page.get_by_role("button", name="Replay these…").click()
    expect(page.get_by_role("button", name="Leave them")).to_be_focused()
    page.get_by_label("Reason, for the audit").fill("the server is back")
    page.get_by_role("button", name="Replay them").click()
    visit.open("/console/dead-letters?waiting=true&host=letters.example")
    expect(page.locator("tbody tr")).to_have_count(1)
    expect(page.locator("tbody tr")).to_contain_text("upload")
    now = stage.run(get_run(records, run.id))
    assert (now.state, now.open, now.failed) == ("running", 3, 1)
    rows = audited(stage, "dead_letter.replay")
    assert [(row.door, row.name, row.reason) for row in rows] == [
        ("console", "a-admin", "the server is back"),
        ("console", "a-admin", rows[1].reason),
    ]
