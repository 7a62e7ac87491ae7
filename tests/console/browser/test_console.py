"""The console in a real browser: login, live parts, the log without gaps, actions, both themes and a small screen."""

import re
from datetime import datetime
from typing import Literal
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, expect

from longline.model.logs.run_log import NewLogEntry
from longline.model.runs.run import RunRow
from longline.model.states import TaskState
from tests.console.browser.stage import Stage
from tests.console.browser.watched import Visit, watched
from tests.console.scene import add_urls, end_urls, make_scene, start_run, write_log

HOSTILE = "<img src=x onerror=\"document.title='run'\"><script>document.title='run'</script>\"'‮" + "long" * 25_000
LINES, CUTS = 2000, 5


@pytest.fixture(scope="module")
def scene(stage: Stage) -> RunRow:
    """A run with every fate."""
    return stage.run(make_scene(stage.records))


def test_a_stranger_logs_in_and_out_and_is_refused_with_nonsense(unknown: Visit):
    page = unknown.open("/console/runs")
    expect(page).to_have_title("Log in · Longline")
    page.get_by_label("Token or API key").fill("nonsense")
    unknown.expected = {"401"}
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("alert")).to_contain_text("no token or API key of this server")
    page.get_by_label("Token or API key").fill(unknown.stage.token())
    page.get_by_role("button", name="Log in").click()
    expect(page).to_have_title("Runs · Longline")
    page.locator("details.menu > summary").click()
    page.get_by_role("button", name="Log out").click()
    expect(page).to_have_title("Log in · Longline")


def test_the_overview_is_live(visit: Visit, scene: RunRow):
    page = visit.open("/console")
    expect(page.locator("[data-live-state]")).to_have_text("Live")
    expect(page.locator("[data-part=running]")).to_contain_text("Tidewater books")
    made = visit.stage.run(start_run(visit.stage.records, "https://just-started.example/"))
    expect(page.locator("[data-part=running]")).to_contain_text("just-started.example", timeout=30_000)
    page.locator("[data-plot]").focus()
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".pt.on")).to_have_count(1)
    page.keyboard.press("/")
    expect(page.locator("#q")).to_be_focused()
    page.locator("#q").fill(str(made.id))
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name="just-started.example")).to_be_visible()


def test_a_page_reconnects_after_its_stream_is_cut(visit: Visit, scene: RunRow):
    page = visit.open(f"/console/runs/{scene.id}")
    expect(page.locator("[data-live-state]")).to_have_text("Live")
    visit.expected = {"ERR_", "Failed to load"}
    assert visit.stage.cut() > 0
    expect(page.locator("[data-live-state]")).to_have_text("Live", timeout=30_000)


def test_a_page_of_an_ended_session_leads_to_the_login_and_back(visit: Visit, scene: RunRow):
    page = visit.open(f"/console/runs/{scene.id}?levels=error")
    expect(page.locator("[data-live-state]")).to_have_text("Live")
    visit.expected = {"text/html"}
    for session in visit.stage.run(visit.stage.records.console_sessions.find()):
        visit.stage.run(visit.stage.records.console_sessions.remove(session.uid))
    expect(page.locator("[data-live-state]")).to_have_text("Logged out", timeout=30_000)
    expect(page.locator("[data-fate=completed]")).to_be_visible()
    page.get_by_role("link", name="Log in again").click()
    page.get_by_label("Token or API key").fill(visit.stage.token())
    page.get_by_role("button", name="Log in").click()
    expect(page).to_have_url(f"{visit.address}/console/runs/{scene.id}?levels=error")


def test_a_page_with_a_refused_stream_is_not_fetched_again(visit: Visit, scene: RunRow):
    visit.expected = {"503"}
    visit.page.route(re.compile("/console/stream"), lambda route: route.fulfill(status=503, body="full"))
    with visit.page.expect_request(lambda request: request.resource_type == "fetch") as asked:
        page = visit.open("/console")
    assert urlsplit(asked.value.url).path == "/console/stream"
    expect(page.locator("[data-live-state]")).to_have_text("Cut", timeout=30_000)


@pytest.mark.slow("2,000 lines are rendered and counted while connections are cut")
def test_the_log_has_every_line_once_while_the_connection_is_cut(visit: Visit):
    stage = visit.stage
    run = stage.run(start_run(stage.records, "https://log.example/"))
    stage.run(write_log(stage.records, run, 10))
    page = visit.open(f"/console/runs/{run.id}?levels=debug,info,warn,error")
    visit.expected = {"ERR_", "Failed to load"}
    expect(page.locator("[data-live-state]")).to_have_text("Live")
    step = LINES // (CUTS * 4)
    for part in range(CUTS * 4):
        stage.run(write_log(stage.records, run, step, 10 + part * step))
        if part % 4 == 1:
            stage.cut()
    expect(page.locator("li[data-number]")).to_have_count(LINES + 10, timeout=60_000)
    numbers = page.eval_on_selector_all("li[data-number]", "all => all.map((each) => Number(each.dataset.number))")
    assert numbers == list(range(1, LINES + 11))


def test_a_paused_log_counts_and_goes_on_without_a_gap(visit: Visit):
    stage = visit.stage
    run = stage.run(start_run(stage.records, "https://pause.example/"))
    stage.run(write_log(stage.records, run, 6))
    page = visit.open(f"/console/runs/{run.id}?levels=info")
    expect(page.locator("li[data-number]")).to_have_count(3)
    expect(page.locator("[data-live-state]")).to_have_text("Live")
    page.get_by_role("button", name="Pause").click()
    stage.run(write_log(stage.records, run, 6, 6))
    expect(page.locator("[data-log-count]")).to_have_text("Paused; 3 newer entries wait", timeout=30_000)
    expect(page.locator("li[data-number]")).to_have_count(3)
    page.get_by_role("button", name="Resume").click()
    expect(page.locator("li[data-number]")).to_have_count(6, timeout=30_000)
    stage.run(write_log(stage.records, run, 6, 12))
    expect(page.locator("li[data-number]")).to_have_count(9, timeout=30_000)
    page.get_by_role("button", name="error").click()
    expect(page.locator("li[data-number]")).to_have_count(12)
    page.get_by_label("Text in a message or a value").fill("line 16")
    page.keyboard.press("Enter")
    expect(page.locator("li[data-number]")).to_have_count(1)


def test_a_run_is_cancelled_after_a_question_and_retried(visit: Visit):
    stage = visit.stage
    run = stage.run(start_run(stage.records, "https://cancel.example/"))
    stage.run(add_urls(stage.records, run, "cancel.example", 3))
    stage.run(end_urls(stage.records, ((TaskState.FAILED, "http_4xx"),)))
    page = visit.open(f"/console/runs/{run.id}")
    page.get_by_role("button", name="Cancel run…").click()
    expect(page.get_by_role("button", name="Keep it")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    page.get_by_role("button", name="Cancel run…").click()
    page.get_by_label("Reason, for the audit").fill("seen enough")
    page.get_by_role("button", name="Cancel the run").click()
    expect(page.locator("[data-run-state]")).to_have_text("cancelled")
    expect(page.get_by_role("button", name=re.compile("Cancel|Retry"))).to_have_count(0)


def test_a_member_has_no_buttons(stage: Stage, browser: Browser, scene: RunRow):
    with watched(browser, stage, role="member") as visit:
        page = visit.open(f"/console/runs/{scene.id}")
        expect(page.get_by_role("button", name="Cancel run…")).to_have_count(0)
        expect(page.get_by_role("link", name="Sessions", exact=True)).to_have_count(0)


def test_the_theme_is_chosen_and_kept(visit: Visit):
    page = visit.open("/console")
    toggle = page.locator("[data-theme-toggle]")
    toggle.click()
    toggle.click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    visit.open("/console/runs")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_every_page_can_be_read(
    stage: Stage, browser: Browser, scene: RunRow, scheme: Literal["light", "dark"], width: int
):
    paths = ("/console", "/console/runs", f"/console/runs/{scene.id}", "/console/search?q=tide", "/console/sessions")
    with watched(browser, stage, role="admin", size=(width, 844), scheme=scheme) as visit:
        for path in ("/console/login", *paths):
            visit.open(path)
            found = visit.probe()
            faults = {
                name: found[name] for name in ("faint", "nameless", "wide", "small", "scroll", "repeated", "inline")
            }
            assert not any(faults.values()), (path, faults)
            assert found["texts"] > 5
            assert found["headings"] == 1


def test_hostile_content_neither_runs_nor_breaks_the_page(visit: Visit):
    stage = visit.stage
    run = stage.run(start_run(stage.records, f"https://h.example/{HOSTILE}"))
    stage.run(stage.records.logs.append([NewLogEntry(run.id, 1, "error", "fetch", HOSTILE)], {}))
    for path in ("/console", "/console/runs", f"/console/runs/{run.id}", "/console/search?q=%3Cscript%3E"):
        page = visit.open(path)
        expect(page).not_to_have_title("run")
        found = visit.probe()
        assert not found["wide"], (path, found["wide"])
        assert not found["scroll"]
    stage.run(stage.records.logs.append([NewLogEntry(run.id, 2, "error", "fetch", HOSTILE)], {}))


def test_the_pace_of_a_run_is_drawn_and_goes_on(visit: Visit):
    records, clock = visit.stage.records, visit.stage.door.platform.clock
    run = visit.stage.run(start_run(records, "https://pace.example/"))
    visit.stage.run(add_urls(records, run, "pace.example", 30))
    page = visit.open(f"/console/runs/{run.id}")
    pace = page.get_by_role("region", name="Pace")
    expect(pace).to_contain_text("The run has just begun.")
    visit.stage.run(end_urls(records, at=clock.now()))
    expect(pace.locator("[data-plot]")).to_be_visible(timeout=30_000)
    expect(pace.locator("[data-plot]")).to_have_attribute("aria-label", re.compile("at most [1-9]"))
    points = pace.locator(".pt").count()
    expect(pace.locator(".pt").nth(points + 1)).to_be_attached(timeout=30_000)
    tips = [point.get_attribute("data-tip") or "" for point in pace.locator(".pt").all()]
    per_minute = [float(re.search(r"([0-9.,]+) pages/min", tip)[1].replace(",", "")) for tip in tips]  # type: ignore[index]
    began = [datetime.strptime(tip[:8], "%H:%M:%S") for tip in tips[:2]]
    step_seconds = (began[1] - began[0]).seconds
    assert sum(per_minute[:-1]) * step_seconds / 60 == pytest.approx(12, abs=0.1), tips
    pace.locator("[data-plot]").focus()
    page.keyboard.press("ArrowLeft")
    expect(pace.locator(".pt.on")).to_have_count(1)
    expect(pace.locator("output")).to_contain_text("failures/min")
