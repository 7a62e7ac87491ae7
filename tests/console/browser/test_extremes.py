"""Pages with numbers and names that are far larger than usual: nothing leaves its place."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from longline.settings import Settings
from tests.console.browser.stage import Stage, running_stage
from tests.console.browser.watched import watched
from tests.console.every_page import WITHOUT_SESSION, ShownPage, every_page
from tests.console.lively import make_lively

pytestmark = pytest.mark.slow  # a browser takes seconds of a processor

LABEL = "h" * 60
WORDS = "A name that goes on and on " * 7
EXTREMES = (
    f"UPDATE proxies SET host = '{LABEL}.{LABEL}.{LABEL}.example', port = id WHERE id % 2 = 1",
    "UPDATE proxies SET success_count = 987654321, total_failures = 123456789, failure_count = 1234567",
    f"UPDATE proxies SET avg_ms = 123456, country = 'Kingdom of the far sea', city = '{LABEL}'",
    f"UPDATE bots SET pulled = 1234567890, completed = 1234567890, failed = 123456789, title = '{WORDS}'",
    "UPDATE bot_hours SET pulled = 1234567890, completed = 1234567890, failed = 123456789, retried = 99999999",
    f"UPDATE sources SET name = name || ' {WORDS}', failures = 1234567",
    "UPDATE sources SET budget = 1000000000000, admitted = 999999999999",
    f"UPDATE schedules SET source_name = '{WORDS}', runs_made = 123456789, failures = 1234567",
    "UPDATE throughput SET count = count * 1234567",
    "UPDATE run_counts SET admitted = admitted + 1234567890, completed = completed + 1234567890, items = 1234567890",
    "UPDATE items SET price = 123456789.99",
)

ESCAPED = """() => [...document.querySelectorAll(".stat .v, .bars .num, .facts dd")].filter((e) => {
  const text = document.createRange();
  text.selectNodeContents(e);
  return text.getBoundingClientRect().right > e.parentElement.getBoundingClientRect().right + 1;
}).map((e) => e.textContent)"""
"""Figures that reach beyond the box that they stand in."""


CROWDED = """() => [...document.querySelectorAll("dialog")].filter((dialog) => {
  dialog.showModal();
  const edge = dialog.getBoundingClientRect(), inner = [...dialog.querySelectorAll("*")];
  const found = edge.right > innerWidth || inner.some((e) => e.getBoundingClientRect().right > edge.right + 1)
    || getComputedStyle(dialog).textAlign !== "left";
  dialog.close();
  return found;
}).map((e) => e.id)"""
"""Dialogs with contents beyond their edges, or set as the cell around their buttons."""


@pytest.fixture(scope="module")
def extreme(tmp_path_factory: pytest.TempPathFactory, migrated_bytes: bytes) -> Iterator[tuple[Stage, list[ShownPage]]]:
    """A platform of which every page has something to show, with extreme values."""
    folder = tmp_path_factory.mktemp("extreme")
    file: Path = folder / "longline.db"
    file.write_bytes(migrated_bytes)
    with running_stage(Settings(data=folder / "data", database=f"sqlite:///{file}", port=0)) as stage:
        pages = every_page(stage.run(make_lively(stage.door.platform, file)))
        with closing(sqlite3.connect(file, timeout=30)) as database, database:
            for statement in EXTREMES:
                assert database.execute(statement).rowcount > 0, statement
        yield stage, pages


@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_leaves_its_place(extreme: tuple[Stage, list[ShownPage]], browser: Browser, width: int):
    stage, pages = extreme
    found = {}
    with watched(browser, stage, role="admin", size=(width, 844)) as visit:
        for page in pages:
            if page.path not in WITHOUT_SESSION:
                visit.open(page.path)
                told = visit.probe()
                escaped, crowded = visit.page.evaluate(ESCAPED), visit.page.evaluate(CROWDED)
                found[page.path] = (told["wide"], told["scroll"], escaped, crowded)
    assert {path: told for path, told in found.items() if told != ([], False, [], [])} == {}
