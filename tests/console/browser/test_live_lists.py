"""Live lists in the browser: rows change in place, newer runs are announced, and countdowns use the server's clock."""

import re

import pytest
from playwright.sync_api import Browser, expect

from longline.engine.lifecycle.creation import create_schedule
from longline.model.ids import new_id
from longline.model.runs.run import RunRow
from longline.model.schedules.schedule import NewSchedule, ScheduleSpec
from longline.ports.records.frontier.frontier import Change
from tests.console.browser.stage import Stage
from tests.console.browser.watched import Visit, watched
from tests.console.scene import add_urls, end_urls, make_scene, start_run
from tests.drivers.records.world import claim

WAIT_MS = 30_000
HOUR_MS = 3_600_000


@pytest.fixture(scope="module")
def scene(stage: Stage) -> RunRow:
    """A run with every fate."""
    return stage.run(make_scene(stage.records))


@pytest.mark.parametrize("width", [1280, 390])
def test_rows_change_in_place_and_newer_runs_wait_to_be_shown(stage: Stage, browser: Browser, width: int):
    run = stage.run(start_run(stage.records, f"https://place-{width}.example/"))
    stage.run(add_urls(stage.records, run, f"place-{width}.example", 4))
    with watched(browser, stage, role="admin", size=(width, 844)) as visit:
        page = visit.open("/console/runs")
        expect(page.locator("[data-live-state]")).to_have_text("Live")
        row = page.locator(f'[data-part="run-{run.id}"]')
        place, order = row.bounding_box(), page.locator("tbody tr").all_inner_texts()
        stage.run(start_run(stage.records, f"https://newer-{width}.example/"))
        news = page.get_by_role("link", name="1 newer run has started. Show it")
        expect(news).to_be_visible(timeout=WAIT_MS)
        stage.run(end_urls(stage.records))
        expect(row).to_contain_text("completed", timeout=WAIT_MS)
        now = row.bounding_box()
        assert place is not None
        assert now is not None
        assert (place["x"], place["y"]) == (now["x"], now["y"]), "the row is where it was"
        assert len(page.locator("tbody tr").all()) == len(order)
        news.click()
        expect(page.locator("tbody tr").first).to_contain_text(f"newer-{width}.example")


def test_a_row_flashes_when_it_changes_and_not_when_the_page_is_shown(visit: Visit):
    stage = visit.stage
    run = stage.run(start_run(stage.records, "https://flash.example/"))
    stage.run(add_urls(stage.records, run, "flash.example", 2))
    visit.page.add_init_script(
        """window.flashed = new Set();
        new MutationObserver((seen) => seen.forEach((one) => one.target.matches?.("tr.changed")
          && flashed.add(one.target.dataset.part))).observe(document, {subtree: true, attributeFilter: ["class"]});"""
    )
    page = visit.open("/console/runs")
    expect(page.locator("[data-live-state]")).to_have_text("Live")
    page.wait_for_timeout(3000)
    assert page.evaluate("[...flashed]") == []
    stage.run(end_urls(stage.records))
    expect(page.locator(f'[data-part="run-{run.id}"]')).to_contain_text("completed", timeout=WAIT_MS)
    assert f"run-{run.id}" in page.evaluate("[...flashed]")


def test_a_list_resumes_its_stream_after_a_cut(visit: Visit, scene: RunRow):
    stage = visit.stage
    page = visit.open("/console/runs")
    expect(page.locator("[data-live-state]")).to_have_text("Live")
    visit.expected = {"ERR_", "Failed to load"}
    made = stage.run(start_run(stage.records, "https://cut.example/"))
    assert stage.cut() > 0
    expect(page.get_by_role("link", name=re.compile("newer run"))).to_be_visible(timeout=WAIT_MS)
    page.get_by_role("link", name=re.compile("newer run")).click()
    expect(page.locator("[data-live-state]")).to_have_text("Live")
    stage.run(stage.records.moves.apply(Change("run", made.id, "cancel", "running", "cancelled", "person")))
    expect(page.locator(f'[data-part="run-{made.id}"]')).to_contain_text("cancelled", timeout=WAIT_MS)
    pages = [url for url in visit.requested if url.endswith("/console/runs")]
    streams = [url for url in visit.requested if "/console/runs/stream" in url]
    assert len(pages) == len(set(streams)), "one stream for each page, and the same one after a cut"


def test_countdowns_go_by_the_time_of_the_server(visit: Visit):
    stage = visit.stage
    now = stage.door.platform.clock.now()
    url = "https://soon.example/"
    terms = ScheduleSpec(url=url, source_ref="", source_name=url, every=1, unit="days", enabled=True)
    new = NewSchedule(new_id(), url, interval_ms=terms.interval_ms, next_due=now + HOUR_MS, terms=terms)
    stage.run(create_schedule(stage.records.schedules, new, "person"))
    # A browser with a clock two hours late shows the same countdown.
    visit.page.add_init_script("const real = Date.now; Date.now = () => real() - 7200000;")
    page = visit.open("/console/schedules")
    left = page.locator("tr", has_text="soon.example").locator("[data-until]")
    expect(left).to_have_text(re.compile(r"^in 5\d min \d\d s$"))
    before = left.text_content() or ""
    expect(left).not_to_have_text(before)
    page.evaluate("e => { e.dataset.until = 1; }", left.element_handle())
    expect(left).to_have_text("now")


def test_the_lease_of_a_task_counts_down_and_lapses(visit: Visit):
    stage = visit.stage
    run = stage.run(start_run(stage.records, "https://lease.example/"))
    stage.run(add_urls(stage.records, run, "lease.example", 1))
    [task] = [one for lease in stage.run(claim(stage.records)).values() for one in lease.tasks if one.run_id == run.id]
    page = visit.open(f"/console/tasks/{task.id}")
    left = page.locator("[data-until][data-past=lapsed]")
    expect(left).to_have_text(re.compile(r"^in \d+ (s|min)"))
    page.evaluate("e => { e.dataset.until = 1; }", left.element_handle())
    expect(left).to_have_text("lapsed")
