"""Pages without contents, pages that actions lead to, and pages of errors can be read and reached like all others."""

from collections.abc import Callable, Mapping
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, expect

from longline.surfaces.operation import PATH_PARAMETER
from tests.console.browser.stage import Stage
from tests.console.browser.test_every_page import faults, faults_now
from tests.console.browser.watched import Visit, watched
from tests.console.every_page import WITHOUT_SESSION, templates
from tests.console.scene import add_urls, start_run

pytestmark = pytest.mark.slow  # a browser takes seconds of a processor

Scheme = Literal["light", "dark"]
LOOKS: list[tuple[int, Scheme]] = [(1280, "light"), (1280, "dark"), (390, "light"), (390, "dark")]


@pytest.mark.parametrize(("width", "scheme"), LOOKS)
@pytest.mark.parametrize("role", ["admin", "member"])
def test_pages_without_contents(stage: Stage, browser: Browser, role: str, width: int, scheme: Scheme):
    paths = [path for path in templates() if not PATH_PARAMETER.search(path) and path not in WITHOUT_SESSION]
    found: dict[str, dict[str, Any]] = {}
    with watched(browser, stage, role=role, size=(width, 844), scheme=scheme) as visit:
        for path in paths:
            answer = visit.page.request.get(f"{visit.address}{path}")
            if role == "admin" or answer.status != 403:
                found[path] = faults(visit, path)
    assert {path: told for path, told in found.items() if told} == {}
    assert len(found) >= 15


def move_tasks(visit: Visit) -> None:
    choose_tasks(visit)
    visit.page.get_by_role("button", name="Pause 2").click()
    expect(visit.page.locator("h1")).to_have_text("2 of 2 tasks moved")


def prioritize_tasks(visit: Visit) -> None:
    choose_tasks(visit)
    visit.page.get_by_role("button", name="Set priority 2").click()
    expect(visit.page.locator("h1")).to_have_text("2 tasks have another priority")


def choose_tasks(visit: Visit) -> None:
    run = visit.stage.run(start_run(visit.stage.records, "https://moved.example/"))
    visit.stage.run(add_urls(visit.stage.records, run, f"moved-{run.id}.example", 2))
    visit.open(f"/console/tasks?run={run.id}")
    visit.page.get_by_label("Choose all tasks of this page").check()


def make_bot(visit: Visit) -> None:
    visit.open("/console/bots")
    visit.page.get_by_label("Name").fill(f"bot-{visit.stage.door.platform.clock.now()}")
    visit.page.get_by_role("button", name="Register").click()
    expect(visit.page.locator("[data-secret]")).to_be_visible()


def make_key(visit: Visit) -> None:
    visit.open("/console/keys")
    visit.page.get_by_label("Name").fill("CI")
    visit.page.get_by_role("button", name="Make it").click()
    expect(visit.page.locator("[data-secret]")).to_be_visible()


def send_wrong_form(visit: Visit) -> None:
    visit.expected = {"400"}
    visit.open("/console/sources/new")
    visit.page.get_by_label("Start URL").fill("nonsense")
    visit.page.get_by_label("Seconds between two requests").fill("soon")
    visit.page.get_by_role("button", name="Register").click()
    expect(visit.page.get_by_role("alert")).to_contain_text("Nothing was saved.")
    expect(visit.page.get_by_label("Name", exact=True)).to_have_attribute("aria-invalid", "true")


def choose_nothing(visit: Visit) -> None:
    """Submit no selection: the refused action leaves the visitor on the page, with a toast that stays until closed."""
    visit.open("/console/tasks")
    visit.page.evaluate("""() => {
      const form = document.querySelector('.menu form').cloneNode(true);
      form.action = '/console/tasks/move';
      form.insertAdjacentHTML('beforeend', '<input type=hidden name=move value=pause>');
      document.querySelector('main').append(form);
      form.submit();
    }""")
    expect(visit.page.locator(".toast.fail")).to_contain_text("Choose from 1 to 500 tasks.")
    expect(visit.page.locator("h1")).to_have_text("Tasks")


def miss(visit: Visit) -> None:
    visit.expected = {"404"}
    visit.open("/console/runs/123456")
    expect(visit.page.locator("h1")).to_have_text("There is nothing here")


WAYS: Mapping[str, Callable[[Visit], None]] = {
    one.__name__: one
    for one in (move_tasks, prioritize_tasks, make_bot, make_key, send_wrong_form, choose_nothing, miss)
}


@pytest.mark.parametrize(("width", "scheme"), LOOKS)
def test_pages_that_actions_lead_to(stage: Stage, browser: Browser, width: int, scheme: Scheme):
    found: dict[str, dict[str, Any]] = {}
    for name, way in WAYS.items():
        with watched(browser, stage, role="admin", size=(width, 844), scheme=scheme) as visit:
            way(visit)
            found[name] = faults_now(visit, name)
    assert {name: told for name, told in found.items() if told} == {}


def test_a_failure_stays_until_it_is_closed(visit: Visit):
    choose_nothing(visit)
    visit.page.wait_for_timeout(9000)
    toast = visit.page.locator(".toast.fail")
    expect(toast).to_be_visible()
    toast.get_by_role("button", name="Close").click()
    expect(toast).to_have_count(0)


@pytest.mark.parametrize("width", [1280, 390])
def test_a_reason_of_one_long_word_stays_on_its_page(stage: Stage, browser: Browser, width: int):
    run = stage.run(start_run(stage.records, "https://long.example/"))
    with watched(browser, stage, role="admin", size=(width, 844)) as visit:
        page = visit.open(f"/console/runs/{run.id}")
        page.get_by_role("button", name="Cancel run").click()
        page.get_by_label("Reason, for the audit").fill("x" * 480)
        page.locator("dialog[open]").get_by_role("button", name="Cancel the run").click()
        expect(page.locator(".toast")).to_contain_text("is cancelled")
        assert faults(visit, "/console/audit?noun=run") == {}
        expect(page.locator("main")).to_contain_text("x" * 100)
