"""One platform and one browser for all tests of a module; every page is checked for errors."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from longline.settings import Settings
from tests.console.browser.stage import Stage, running_stage
from tests.console.browser.watched import Visit, watched


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory, migrated_bytes: bytes) -> Iterator[Stage]:
    """A platform on SQLite."""
    folder = tmp_path_factory.mktemp("console")
    file = folder / "longline.db"
    file.write_bytes(migrated_bytes)
    with running_stage(Settings(data=folder / "data", database=f"sqlite:///{file}", port=0)) as stage:
        yield stage


@pytest.fixture(scope="module")
def browser(chromium: Path) -> Iterator[Browser]:
    """A real headless Chromium."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(chromium), args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def visit(stage: Stage, browser: Browser) -> Iterator[Visit]:
    """A page of an administrator who has logged in; an error on it fails the test."""
    with watched(browser, stage, role="admin") as visit:
        yield visit


@pytest.fixture
def unknown(stage: Stage, browser: Browser) -> Iterator[Visit]:
    """A page of a visitor without a login."""
    with watched(browser, stage) as visit:
        yield visit
