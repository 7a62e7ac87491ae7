"""Pictures of every page of the console: `python -m tests.console.browser.shots docs/pictures`, or `make shots`.

Each page is taken wide in the light theme, wide in the dark theme, and at the width of a telephone.
"""

import base64
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from playwright.sync_api import Browser, sync_playwright

from longline.settings import Settings
from tests.console.browser.stage import Stage, running_stage
from tests.console.browser.watched import Visit, watched
from tests.console.every_page import WITHOUT_SESSION, ShownPage, every_page
from tests.console.lively import make_lively, stay_lively
from tests.drivers.records.migrated import migrated_bytes
from tests.servers.chromium import chromium_path

MAX_HEIGHT = 1000
"""Pixels of a page that are shown; a longer page repeats its rows."""

QUALITY = 27


HIDE_FOLDER = """(folder) => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node; (node = walker.nextNode());) node.textContent = node.textContent.replaceAll(folder, "/srv/longline");
}"""
"""The settings name the folder of the platform, which is another one for each set of pictures."""


class Look(NamedTuple):
    """A window: the ending of its pictures' names, its size and its theme."""

    ending: str
    size: tuple[int, int]
    scheme: Literal["light", "dark"]


LOOKS = (
    Look("", (1280, 800), "light"),
    Look("-dark", (1280, 800), "dark"),
    Look("-phone", (390, 844), "light"),
)


def take(visit: Visit, page: ShownPage, file: Path) -> None:
    """Take one picture of a page, from its top."""
    shown = visit.open(page.path)
    shown.wait_for_timeout(500)
    shown.evaluate(HIDE_FOLDER, visit.stage.door.platform.settings.data.parent.as_posix())
    height = min(MAX_HEIGHT, shown.evaluate("document.documentElement.scrollHeight"))
    width = shown.viewport_size["width"] if shown.viewport_size else 1280
    shown.set_viewport_size({"width": width, "height": height})
    asked = {"format": "webp", "quality": QUALITY}
    taken = shown.context.new_cdp_session(shown).send("Page.captureScreenshot", asked)
    file.write_bytes(base64.b64decode(taken["data"]))
    shown.set_viewport_size({"width": width, "height": 844})


def take_all(
    browser: Browser, stage: Stage, pages: Sequence[ShownPage], database: Path, folder: Path
) -> Iterator[Path]:
    """Take and yield the pictures of all pages in every look, of the platform behind a database file."""
    for look in LOOKS:
        for role in ("", "admin"):
            with watched(browser, stage, role=role, size=look.size, scheme=look.scheme) as visit:
                for page in pages:
                    if (page.path in WITHOUT_SESSION) == (not role):
                        stay_lively(database, stage.door.platform.clock.now())
                        file = folder / f"console-{page.name}{look.ending}.webp"
                        take(visit, page, file)
                        yield file


def main() -> None:
    """Write the pictures into the folder that is named; further words choose pages by name."""
    folder, names = Path(sys.argv[1]), frozenset(sys.argv[2:])
    with tempfile.TemporaryDirectory() as work:
        file = Path(work) / "longline.db"
        file.write_bytes(migrated_bytes(Path(work)))
        settings = Settings(data=Path(work) / "data", database=f"sqlite:///{file}", port=0)
        with running_stage(settings) as stage, sync_playwright() as playwright:
            pages = every_page(stage.run(make_lively(stage.door.platform, file)))
            chosen = [page for page in pages if not names or page.name in names]
            browser = playwright.chromium.launch(executable_path=str(chromium_path()), args=["--no-sandbox"])
            for made in take_all(browser, stage, chosen, file, folder):
                print(f"{made.stat().st_size:8,} {made}")
            browser.close()


if __name__ == "__main__":
    main()
