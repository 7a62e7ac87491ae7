"""Pictures of every page of the console: `python -m tests.console.browser.shots docs/pictures`, or `make shots`."""

import math
import random
import sqlite3
import sys
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any, Literal, NamedTuple

from playwright.sync_api import Browser, sync_playwright

from longline.model.ids import new_id
from longline.model.logs import NewLogEntry
from longline.model.runs.run import RunKind, RunRow
from longline.model.schedules.schedule import NewSchedule
from longline.model.sources.source import NewSource
from longline.model.states import TaskState
from longline.ports.records import Records
from longline.settings import Settings
from tests.console.browser.stage import Stage, running_stage
from tests.console.browser.watched import watched
from tests.console.scene import add_urls, end_urls, start_run
from tests.drivers.records.migrated import migrated_bytes
from tests.servers.chromium import chromium_path

NAMES = (
    "tidewater-books",
    "kelp-market",
    "harbour-times",
    "pelagic-comics",
    "fjordkiosk",
    "atlas-parts",
    "stormglass",
    "norrland-press",
)
MESSAGES = (
    ("info", "admitted 212 URLs of /catalogue/nautical (known 640, offsite 6)"),
    ("warn", "answered 429 with Retry-After 60: the host waits"),
    ("info", "1,250 of 2,480 ended; 11.4 pages/s"),
    ("error", "/old/index.php?id=771 failed for good: connect_timeout, attempt 5 of 5"),
    ("info", "robots.txt read: 14 rules, Crawl-delay 1 s"),
)


class Shot(NamedTuple):
    """A picture: its name, the path of the page, and the window."""

    name: str
    path: str
    size: tuple[int, int] = (1280, 800)
    scheme: Literal["light", "dark"] = "light"


def ends(seed: int, count: int) -> tuple[tuple[TaskState, str], ...]:
    """Ends of URLs as a site of some quality gives them."""
    dice = random.Random(seed)
    failed = [(TaskState.FAILED, reason) for reason in ("http_4xx", "http_429", "connect_timeout", "http_5xx")]
    skipped = [(TaskState.SKIPPED, reason) for reason in ("content_type", "robots")]
    kinds = [(TaskState.COMPLETED, "ok")] * 40 + skipped * 2 + failed[: 1 + seed % 4]
    return tuple(dice.choice(kinds) for _ in range(count))


async def fill(records: Records, now: int) -> RunRow:
    """Give the platform a past and a present; return the run to be shown."""
    running = []
    for number, name in enumerate(NAMES):
        url = f"https://{name}.example/"
        source = await records.sources.add(NewSource(name.replace("-", " ").capitalize(), url))
        hours = 3_600_000 * (1 + number)
        await records.schedules.add(NewSchedule(new_id(), url, source.id, hours, window_ms=hours))
        for kind, count in ((RunKind.CRAWL, 90 + 40 * number), (RunKind.SITEMAP, 60 + 25 * number)):
            run = await start_run(records, url, kind, source.id)
            await add_urls(records, run, f"{name}.example", count)
            await end_urls(records, ends(number, count), now)
        running.append(await start_run(records, url, RunKind.CRAWL, source.id))
    for number, (name, run) in enumerate(zip(NAMES, running, strict=True)):
        await add_urls(records, run, f"{name}.example", 240 + 170 * number)
        await add_urls(records, run, f"img.{name}.example", 60 + 20 * number)
    await end_urls(records, ends(3, 190), now)
    for number in range(3):
        await records.workers.join(f"w-0{number}", "fetch,parse,upkeep", "", "[]")
    entries = [NewLogEntry(running[2].id, now - 84_000 + 700 * n, *_message(n)) for n in range(120)]
    await records.logs.append(entries, {})
    return running[2]


def _message(number: int) -> tuple[str, str, str]:
    level, text = MESSAGES[number % len(MESSAGES)]
    return level, "fetch", text


def add_throughput(file: Path, now: int) -> None:
    """Write an hour of throughput, with a dip."""
    dice, minute = random.Random(7), now - now % 60_000
    rows: list[tuple[Any, ...]] = []
    for ago in range(60):
        at = minute - ago * 60_000
        dip = 1 - 0.6 * math.exp(-(((ago - 25) / 4) ** 2))
        share = 1.0 if ago else now % 60_000 / 60_000
        pages = round(share * 60 * (42 + 4 * math.sin(ago / 6) + dice.uniform(-1, 1)) * dip)
        failures = {
            "http_429": round(60 * share * (3.2 * (1 - dip) + 0.2)),
            "connect_timeout": 14,
            "http_5xx": 9,
            "tls": 1,
        }
        rows += [(at, "w:1", "pages", "", pages), (at, "w:1", "bytes", "", pages * 94_000)]
        rows += [(at, "w:1", "requests", "", pages + sum(failures.values()))]
        rows += [(at, "w:1", "failures", reason, count) for reason, count in failures.items()]
    with closing(sqlite3.connect(file, timeout=30)) as connection, connection:
        connection.executemany("INSERT INTO throughput VALUES (?, ?, ?, ?, ?)", rows)
        connection.execute("UPDATE sources SET failures = 6, failed_at = ? WHERE name = 'Stormglass'", (now - 900_000,))
        connection.execute(
            "UPDATE sources SET failures = 2, failed_at = ?, succeeded_at = ? WHERE name = 'Kelp market'",
            (now - 240_000, now - 7_200_000),
        )


def shots(run: RunRow) -> tuple[Shot, ...]:
    """All pictures."""
    return (
        Shot("console-login", "/console/login"),
        Shot("console-overview", "/console"),
        Shot("console-overview-dark", "/console", scheme="dark"),
        Shot("console-overview-phone", "/console", (390, 844)),
        Shot("console-runs", "/console/runs"),
        Shot("console-run", f"/console/runs/{run.id}"),
        Shot("console-run-phone", f"/console/runs/{run.id}", (390, 844), "dark"),
        Shot("console-search", "/console/search?q=tide"),
        Shot("console-sources", "/console/sources"),
        Shot("console-tasks", "/console/tasks"),
        Shot("console-task", "/console/tasks/1"),
        Shot("console-schedules", "/console/schedules"),
        Shot("console-hosts", "/console/hosts"),
        Shot("console-workers", "/console/workers"),
        Shot("console-sessions", "/console/sessions"),
    )


def take(browser: Browser, stage: Stage, shot: Shot, folder: Path) -> None:
    """Take one picture of a whole page."""
    with watched(browser, stage, role="admin", size=shot.size, scheme=shot.scheme) as visit:
        page = visit.open(shot.path)
        page.wait_for_timeout(700)
        page.screenshot(path=folder / f"{shot.name}.png", full_page=shot.size[0] > 500)


def main() -> None:
    """Write the pictures into the folder that is named."""
    folder = Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as work:
        file = Path(work) / "longline.db"
        file.write_bytes(migrated_bytes(Path(work)))
        settings = Settings(data=Path(work) / "data", database=f"sqlite:///{file}", port=0)
        with running_stage(settings) as stage, sync_playwright() as playwright:
            run = stage.run(fill(stage.records, stage.door.platform.clock.now()))
            add_throughput(file, stage.door.platform.clock.now())
            browser = playwright.chromium.launch(executable_path=str(chromium_path()), args=["--no-sandbox"])
            for shot in shots(run):
                take(browser, stage, shot, folder)
                print(f"{folder}/{shot.name}.png")
            browser.close()


if __name__ == "__main__":
    main()
