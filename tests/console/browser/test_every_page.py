"""Every page of the console in a real browser, in both themes and at both widths: contrast, names, order and width.

The pages come from the table of operations: a new page is checked too, or `every_page` fails for want of a sample.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, expect

from longline.console.navigation import NAVIGATION
from longline.settings import Settings
from tests.console.browser.stage import Stage, running_stage
from tests.console.browser.watched import Visit, watched
from tests.console.every_page import WITHOUT_SESSION, ShownPage, every_page, templates
from tests.console.lively import make_lively

pytestmark = pytest.mark.slow  # a browser takes seconds of a processor

FAULTS = ("faint", "nameless", "wide", "small", "scroll", "repeated", "inline", "structure", "order")
MIN_TEXTS = 5


@pytest.fixture(scope="module")
def lively(tmp_path_factory: pytest.TempPathFactory, migrated_bytes: bytes) -> Iterator[tuple[Stage, list[ShownPage]]]:
    """A platform that fills every page, and its pages."""
    folder = tmp_path_factory.mktemp("lively")
    file = folder / "longline.db"
    file.write_bytes(migrated_bytes)
    with running_stage(Settings(data=folder / "data", database=f"sqlite:///{file}", port=0)) as stage:
        yield stage, every_page(stage.run(make_lively(stage.door.platform, file)))


def faults(visit: Visit, path: str) -> dict[str, Any]:
    """Load a page and return its faults."""
    answer = visit.page.goto(f"{visit.stage.address}{path}", wait_until="load")
    assert answer is not None
    assert answer.status == 200, path
    return faults_now(visit, path)


def faults_now(visit: Visit, path: str) -> dict[str, Any]:
    """Return the faults of the page that is shown."""
    found = visit.probe()
    assert found["texts"] > MIN_TEXTS, path
    assert found["headings"] == 1, path
    return {name: found[name] for name in FAULTS if found[name]}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_every_page_can_be_read_and_reached(
    lively: tuple[Stage, list[ShownPage]], browser: Browser, scheme: Literal["light", "dark"], width: int
):
    stage, pages = lively
    found: dict[str, dict[str, Any]] = {}
    for role in ("", "admin"):
        with watched(browser, stage, role=role, size=(width, 844), scheme=scheme) as visit:
            for page in pages:
                if (page.path in WITHOUT_SESSION) == (not role):
                    found[page.path] = faults(visit, page.path)
    assert {path: told for path, told in found.items() if told} == {}
    assert len(found) == len(pages)


def test_the_navigation_leads_to_pages_of_the_table():
    entries = [entry.path for group in NAVIGATION for entry in group.entries]
    assert set(entries) <= set(templates())


def test_a_telephone_reaches_every_entry_of_the_navigation(lively: tuple[Stage, list[ShownPage]], browser: Browser):
    with watched(browser, lively[0], role="admin", size=(390, 844)) as visit:
        page = visit.open("/console")
        page.locator(".bottombar summary").click()
        shown = page.locator(".bottombar .sheet a")
        paths = [link.get_attribute("href") for link in shown.all()]
        assert paths == [entry.path for group in NAVIGATION for entry in group.entries]
        page.locator(".bottombar .sheet").get_by_role("link", name="Dead letters").click()
        expect(page).to_have_title("Dead letters · Longline")
        page.keyboard.press("Escape")
        expect(page.locator(".bottombar .sheet")).to_be_hidden()


def test_a_diagram_starts_at_the_lit_state(lively: tuple[Stage, list[ShownPage]], browser: Browser):
    stage, pages = lively
    [task] = [page.path for page in pages if page.name == "one-tasks"]
    with watched(browser, stage, role="admin", size=(390, 844)) as visit:
        lit = visit.open(task).locator(".machine .halo").bounding_box()
        assert lit is not None
        assert lit["x"] >= 0
        assert lit["x"] + lit["width"] <= 390


def test_a_page_without_a_thing_to_show_is_named():
    with pytest.raises(AssertionError, match=r"/console/runs/\{run_id\}"):
        every_page({})


def test_the_check_finds_faults(lively: tuple[Stage, list[ShownPage]], browser: Browser, tmp_path: Path):
    """The probe finds the faults of a page that has them all."""
    with watched(browser, lively[0], size=(390, 844)) as visit:
        file = tmp_path / "faulty.html"
        file.write_text(FAULTY, encoding="utf-8")
        visit.requested.clear()
        visit.page.goto(file.as_uri())
        found = visit.probe()
        visit.requested.clear()
    assert {name for name in FAULTS if found[name]} == set(FAULTS)
    told = " ".join(found["structure"])
    for word in ("level", "main", "lang", "title", "scope", "describedby", "landmark"):
        assert word in told, (word, told)


FAULTY = """<!doctype html><meta charset=utf-8><title></title>
<body style="margin:0"><nav><a href=#a>a</a></nav><nav><a href=#b>b</a></nav>
<h1>One</h1><h3>Deep</h3><p style="color:#aaa">faint text</p><button class=btn></button>
<input aria-describedby=none id=x><div id=x tabindex=5>twice</div>
<table><thead><tr><th>Head</th></tr></thead></table><div style="width:900px">wide wide</div></body>"""
