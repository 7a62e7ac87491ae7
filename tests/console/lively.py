"""A platform with a past and present on SQLite that fills every page of the console."""

import math
import random
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from longline.model.logs.run_log import NewLogEntry
from longline.model.runs.run import RunKind, RunRow
from longline.model.states import TaskState
from longline.ports.records import Records
from longline.wiring.platform import Platform
from tests.console.scene import add_urls, end_urls, start_run
from tests.console.showcase import make_showcase

MESSAGES = (
    ("info", "admitted 212 URLs of /catalogue/nautical (known 640, offsite 6)"),
    ("warn", "answered 429 with Retry-After 60: the host waits"),
    ("info", "1,250 of 2,480 ended; 11.4 pages/s"),
    ("error", "/old/index.php?id=771 failed for good: connect_timeout, attempt 5 of 5"),
    ("info", "robots.txt read: 14 rules, Crawl-delay 1 s"),
)
MINUTE_MS, HOUR_MS, DAY_MS = 60_000, 3_600_000, 86_400_000
BOTS = ("price-watcher", "stock-scout", "fjord-bot", "night-owl")
TITLES = (
    "The Deep Keeper",
    "Harbour Lights",
    "Salt and Signal",
    "Nine Fathoms",
    "The Lantern Crew",
    "A Map of Winds",
    "Low Water",
    "The Ropewalk",
)
CHANGES = (
    ("source.disable", "source", "answers 429 to everything", '{"enabled": true}', '{"enabled": false}'),
    (
        "schedule.pause",
        "schedule",
        "the site moves its shop this week",
        '{"state": "scheduled"}',
        '{"state": "paused"}',
    ),
    ("proxy.disable", "proxy", "fails at two sources", '{"active": true}', '{"active": false}'),
    ("task.restart", "task", "", None, '{"restarted": 231}'),
    ("key.create", "key", "", None, '{"name": "Nightly import", "door": "intervals"}'),
    ("dead_letter.replay", "dead_letter", "the mirror is back", None, '{"replayed": 41}'),
    ("run.cancel", "run", "started twice", '{"state": "running"}', '{"state": "cancelled"}'),
)

HISTORY = """
UPDATE sources SET succeeded_at = {now} - id % 9 * 400000, created_at = {now} - 40 * {day};
UPDATE sources SET failures = 6, failed_at = {now} - 900000, succeeded_at = NULL WHERE name = 'Norrland press';
UPDATE sources SET failures = 2, failed_at = {now} - 240000, succeeded_at = {now} - 2 * {hour}
    WHERE name = 'Kelp market';
UPDATE sources SET enabled = FALSE, disabled_at = {now} - {hour}, disable_reason = 'answers 429 to everything'
    WHERE name = 'Gannet gazette';
UPDATE runs SET created_at = {now} - (38 - id) * 340000, started_at = {now} - (38 - id) * 340000;
UPDATE runs SET ended_at = MIN({now}, started_at + 80000 + id * 5000) WHERE state NOT IN ('running', 'queued');
INSERT INTO run_totals (kind, scheduled, state, runs, completed, failed, cancelled, skipped, timed, duration_ms)
    SELECT kind, FALSE, state, COUNT(*), 0, 0, 0, 0, 0, 0 FROM runs WHERE state IN ('completed', 'failed') GROUP BY 1, 3
    ON CONFLICT DO UPDATE SET runs = excluded.runs;
UPDATE item_versions SET updated_at = {now} - (5 - version) * 6 * {day};
UPDATE items SET updated_at = {now} - 2 * {hour}, created_at = {now} - 30 * {day};
UPDATE schedules SET runs_made = 12 + id * 7, completed_at = {now} - id * 270000, failures = id % 9 / 8 WHERE id < 7;
UPDATE schedules SET state = 'paused', paused_at = {now} - {day} WHERE id = 4;
UPDATE proxies SET success_count = 4000 - id * 310, total_failures = id * id * 37, avg_ms = 210 + id * 61,
    last_used_at = {now} - 30000, city = 'Malmö', provider = 'Fjordnet';
UPDATE source_proxies SET success_count = 900 - proxy_id * 80, last_used_at = {now} - 40000, avg_ms = 240,
    total_failures = proxy_id * proxy_id * (source_id % 5) * 7 + 4;
UPDATE workers SET started_at = {now} - id * 3000000;
INSERT INTO requests (run_id, reason, status, error, count, bytes, ms, least_ms, most_ms, last_at, last_url)
    SELECT run_id, 'ok', 200, '', completed, completed * 84000, completed * 240, 41, 2900, {now}, '' FROM run_counts
    WHERE completed > 0 ON CONFLICT DO NOTHING;
INSERT INTO requests (run_id, reason, status, error, count, bytes, ms, least_ms, most_ms, last_at, last_url)
    SELECT run_id, 'http_5xx', 503, '', failed, failed * 900, failed * 310, 52, 4100, {now}, '' FROM run_counts
    WHERE failed > 0 ON CONFLICT DO NOTHING;
INSERT INTO alerts (scope, kind, subject, state, text, since, seen_at, cleared_at) VALUES
    ('shots', 'late_queue', '', 'raised', 'the longest ready host has waited 4 min', {now} - 1260000, {now} + 600000,
     NULL),
    ('shots', 'engine_down', 'search', 'cleared', 'search did not answer', {now} - 9000000, {now}, {now} - 8100000);
"""


async def make_lively(platform: Platform, file: Path) -> Mapping[str, str]:
    """Fill the platform behind a database file; return the addresses of objects by the paths of their pages."""
    records, now = platform.records, platform.clock.now()
    things = dict(await make_showcase(platform))
    run = await _crawls(records, now)
    with closing(sqlite3.connect(file, timeout=30)) as connection, connection:
        add_throughput(connection, now)
        _add_bots(connection, now)
        manifest = _add_manifests(connection, now)
        _add_catalogue(connection, now)
        _add_history(connection, now)
        _add_pace(connection, run.id, now)
        _add_changes(connection, now)
    return {
        "/console/runs/{run_id}": f"/console/runs/{run.id}",
        "/console/search": "/console/search?q=tide",
        "/console/tasks/{task_id}": things["task"],
        "/console/hosts/{host}": things["host"],
        "/console/workers/{worker_id}": "/console/workers/1",
        "/console/sources/{source_id}": things["source"],
        "/console/sources/{source_id}/edit": things["source-form"],
        "/console/sources/{source_id}/proxies": f"{things['source']}/proxies",
        "/console/schedules/{uid}": things["schedule"],
        "/console/schedules/new": f"/console/schedules/new?source={things['source'].rpartition('/')[2]}",
        "/console/proxies/{proxy_id}": things["proxy"],
        "/console/manifests/{uid}": f"/console/manifests/{manifest}",
        "/console/items/{item_id}": things["item"],
        "/console/catalogue/{series_id}": "/console/catalogue/series-1",
        "/console/audit/{uid}": "/console/audit/audit-0",
    }


def ends(seed: int, count: int) -> tuple[tuple[TaskState, str], ...]:
    """Return ends of URLs in the shares of a site of this quality."""
    dice = random.Random(seed)
    failed = [(TaskState.FAILED, reason) for reason in ("http_4xx", "http_429", "connect_timeout", "http_5xx")]
    skipped = [(TaskState.SKIPPED, reason) for reason in ("content_type", "robots")]
    kinds = [(TaskState.COMPLETED, "ok")] * 40 + skipped * 2 + failed[: 1 + seed % 4]
    return tuple(dice.choice(kinds) for _ in range(count))


async def _crawls(records: Records, now: int) -> RunRow:
    """Make runs that have ended and runs in progress, of every source; return one with a log."""
    running: list[RunRow] = []
    sources = await records.sources.find(limit=10)
    for number, source in enumerate(sources):
        host = source.base_url.split("/")[2]
        for kind, count in ((RunKind.CRAWL, 90 + 40 * number), (RunKind.SITEMAP, 60 + 25 * number)):
            run = await start_run(records, source.base_url, kind, source.id)
            await add_urls(records, run, f"www.{host}", count)
            await end_urls(records, ends(number, count), now)
        running.append(await start_run(records, source.base_url, RunKind.CRAWL, source.id))
    for number, (source, run) in enumerate(zip(sources, running, strict=True)):
        host = source.base_url.split("/")[2]
        await add_urls(records, run, host, 240 + 170 * number)
        await add_urls(records, run, f"img.{host}", 60 + 20 * number)
    await end_urls(records, ends(3, 190), now)
    entries = [NewLogEntry(running[2].id, now - 84_000 + 700 * n, *_message(n)) for n in range(120)]
    await records.logs.append(entries, {})
    return running[2]


def _message(number: int) -> tuple[str, str, str]:
    level, text = MESSAGES[number % len(MESSAGES)]
    return level, "fetch", text


def stay_lively(file: Path, now: int) -> None:
    """Write the throughput and the heartbeats of workers up to this time."""
    with closing(sqlite3.connect(file, timeout=30)) as connection, connection:
        connection.execute("DELETE FROM throughput")
        add_throughput(connection, now)
        connection.execute("UPDATE workers SET seen_at = ? - 1500 * id", (now,))


def add_throughput(connection: sqlite3.Connection, now: int) -> None:
    """Write an hour of throughput, with a dip."""
    dice, minute = random.Random(7), now - now % MINUTE_MS
    rows: list[tuple[Any, ...]] = []
    for ago in range(60):
        at = minute - ago * MINUTE_MS
        dip = 1 - 0.6 * math.exp(-(((ago - 25) / 4) ** 2))
        share = 1.0 if ago else (now - minute) / MINUTE_MS
        pages = round(share * 60 * (42 + 4 * math.sin(ago / 6) + dice.uniform(-1, 1)) * dip)
        waits = round(60 * share * (3.2 * (1 - dip) + 0.2))
        failures = {"http_429": waits, "connect_timeout": 14, "http_5xx": 9, "tls": 1}
        rows += [(at, "w:1", "pages", "", pages), (at, "w:1", "bytes", "", pages * 94_000)]
        rows += [(at, "w:1", "requests", "", pages + sum(failures.values()))]
        rows += [(at, "w:1", "failures", reason, count) for reason, count in failures.items()]
    connection.executemany("INSERT INTO throughput VALUES (?, ?, ?, ?, ?)", rows)


def _add_pace(connection: sqlite3.Connection, run_id: int, now: int) -> None:
    """Let a run be under way for a quarter of an hour, with tides."""
    dice, life = random.Random(5), 15 * MINUTE_MS
    tasks = connection.execute(
        "SELECT id FROM tasks WHERE run_id = ? AND finished_at IS NOT NULL ORDER BY id", (run_id,)
    )
    found = [task_id for (task_id,) in tasks]
    for number, task_id in enumerate(found):
        share = number / len(found)
        tide = share + 0.05 * math.sin(4 * math.pi * share) + dice.uniform(-0.01, 0.01)
        at = now - life + round(life * min(1.0, max(0.0, tide)))
        connection.execute("UPDATE tasks SET finished_at = ? WHERE id = ?", (at, task_id))
    connection.execute("UPDATE runs SET started_at = ? WHERE id = ?", (now - life, run_id))


def _add_history(connection: sqlite3.Connection, now: int) -> None:
    """Give sources, runs, items, schedules, proxies and workers a past."""
    _add_schedules(connection, now)
    connection.executescript(HISTORY.format(now=now, hour=HOUR_MS, day=DAY_MS))


def _add_schedules(connection: sqlite3.Connection, now: int) -> None:
    """Make schedules with starts that crowd at full hours, as people choose them."""
    dice, hour = random.Random(3), now - now % HOUR_MS
    for number in range(160):
        at = hour + dice.choice((1, 2, 3, 5, 6, 6, 8, 8, 9, 12, 12, 12, 13, 15, 18, 20, 23)) * HOUR_MS
        at += dice.choice((0, 0, 0, 15, 30, 45)) * MINUTE_MS + number
        name = f"{dice.choice(('North', 'South', 'Outer', 'Inner'))} {dice.choice(('quay', 'pier'))} {number}"
        url = f"https://{name.lower().replace(' ', '-')}.example/"
        connection.execute(
            "INSERT INTO schedules (uid, source_ref, source_name, url, state, interval_ms, every, unit, enabled, kind,"
            " next_due, created_at, updated_at, runs_made, completed_at)"
            " VALUES (?1, ?1, ?2, ?3, 'scheduled', 21600000, 6, 'hours', TRUE, 'crawl', ?4, 0, 0, ?5, ?6)",
            (f"s-{number}", name, url, at, 40 + number, now - number * 90_000),
        )


def _add_bots(connection: sqlite3.Connection, now: int) -> None:
    """Make bots with their figures, policies, tasks and results."""
    for number, name in enumerate(BOTS):
        values = (name, ("Prices of partners", "Stock", "", "After hours")[number], f"bot_{name}_"[:12], number != 3)
        connection.execute(
            "INSERT INTO bots (name, title, registered, preview, enabled, secret, created_at, updated_at)"
            " VALUES (?, ?, TRUE, ?, ?, 'x', 0, 0) ON CONFLICT DO NOTHING",
            values,
        )
        figures = (41_200 - 9_000 * number, 40_100 - 9_100 * number, 212 * number, now - 9_000 * (number + 1), name)
        connection.execute(
            "UPDATE bots SET pulled = ?, completed = ?, failed = ?, last_pull_at = ? WHERE name = ?", figures
        )
        hours = (now // HOUR_MS, 30 + number, 900 - 200 * number, 871 - 200 * number, 9, 4 * number, name)
        connection.execute("INSERT INTO bot_hours SELECT id, ?, ?, ?, ?, ?, ? FROM bots WHERE name = ?", hours)
    for number, book in enumerate(("knots", "tides", "lights", "ropes", "charts", "sails", "winds", "stars")):
        url = f"https://shop-{number % 3}.example/{book}"
        cursor = connection.execute(
            "INSERT INTO schedules (uid, url, state, kind, interval_ms, created_at, updated_at)"
            " VALUES (?, ?, ?, 'bot', ?, ?, ?)",
            (f"policy-{number}", url, "paused" if number == 5 else "scheduled", HOUR_MS * (1 + number), now, now),
        )
        connection.execute(
            "INSERT INTO bot_schedules (schedule_id, url, priority, max_retries, backoff_ms, lease_ms, next_due,"
            " last_success_at, failures) VALUES (?, ?, ?, 3, 60000, 300000, ?, ?, ?)",
            (cursor.lastrowid, url, 500 - 50 * number, now + 400_000 * number, now - 700_000 * number, number % 4 // 3),
        )
    _add_results(connection, now)


def _add_results(connection: sqlite3.Connection, now: int) -> None:
    tasks = connection.execute("SELECT id FROM tasks WHERE state = 'completed' ORDER BY id LIMIT 24").fetchall()
    for number, (task_id,) in enumerate(tasks):
        connection.execute(
            "INSERT INTO bot_tasks (task_id, max_retries, lease_ms, held_ms, updated_at) VALUES (?, 3, 1, 1, 0)",
            (task_id,),
        )
        title = ("Knots and Splices", "The Tide Tables", "Lighthouses of the North")[number % 3]
        values = (
            task_id,
            f"result-{number:02}",
            1990 + 50 * number,
            title,
            number % 5 != 0,
            now - 90_000 * (24 - number),
        )
        connection.execute(
            "INSERT INTO bot_results (task_id, uid, price, currency, title, in_stock, data, crawled_at, created_at)"
            " VALUES (?1, ?2, ?3, 'EUR', ?4, ?5, '{}', ?6, ?6)",
            values,
        )


def _add_manifests(connection: sqlite3.Connection, now: int) -> str:
    """Make manifests in several states, and letters of those with failures; return the id of one."""
    for number in range(6):
        state, uid = ("running", "completed", "failed")[number % 3], f"manifest-{number}"
        at = now - 2_400_000 * (number + 1)
        ended = None if state == "running" else at + 900_000
        cursor = connection.execute(
            "INSERT INTO runs (uid, kind, state, plan, seed, created_at, started_at, ended_at, updated_at)"
            " VALUES (?, 'manifest', ?, '{}', ?, ?, ?, ?, ?)",
            (uid, state, uid, at, at, ended, at),
        )
        run_id, files = cursor.lastrowid, 240 + 60 * number
        failed, left = (7 * number if state == "failed" else 0), (80 if state == "running" else 0)
        counts = (run_id, files, left, files - failed - left, failed)
        connection.execute(
            "INSERT INTO run_counts (run_id, admitted, open, completed, failed) VALUES (?, ?, ?, ?, ?)", counts
        )
        kind, tenant = ("images", "charts", "scans")[number % 3], ("atlas", "harbour office")[number % 2]
        key = f"{kind}/2026-11/{number:03}/metadata.json"
        connection.execute(
            "INSERT INTO manifests (run_id, kind, tenant, origin, metadata_key, resources, total, attributes, trace_id,"
            " bytes) VALUES (?, ?, ?, 'api', ?, ?, ?, '{}', '', 4000)",
            (run_id, kind, tenant, key, files, files),
        )
        for letter in range(failed):
            reason, status = (("http_5xx", 503), ("connect_timeout", None), ("http_4xx", 404))[letter % 3]
            connection.execute(
                "INSERT INTO dead_letters (run_id, run_uid, task_id, resource_id, url, kind, tenant, reason, status,"
                " attempts, host, failed_at, replayed_at) VALUES (?, ?, 1, ?, ?, ?, ?, ?, ?, 5, ?, ?, ?)",
                (
                    *(
                        run_id,
                        uid,
                        f"sheet-{letter:03}",
                        f"https://files.charts.example/sheets/{number}/{letter:03}.tif",
                    ),
                    *(kind, tenant, reason, status, "files.charts.example", at + 30_000 * letter),
                    at + 1_800_000 if letter % 4 == 3 else None,
                ),
            )
    return "manifest-5"


def _add_catalogue(connection: sqlite3.Connection, now: int) -> None:
    """Make series with their targets, and the runs that searched for new parts."""
    comics = connection.execute("SELECT id FROM sources WHERE name = 'Pelagic comics'").fetchone()[0]
    for number, title in enumerate(TITLES[1:], 1):
        slug = title.lower().replace(" ", "-")
        values = (f"series-{number}", title, slug, ("ongoing", "completed", "hiatus")[number % 3])
        times = (now - DAY_MS * number, now - HOUR_MS * number)
        connection.execute("INSERT INTO series VALUES (?, ?, ?, NULL, ?, '{}', ?, ?)", (*values, *times))
        connection.execute(
            "INSERT INTO targets (series_id, source_id, external_id, url, active, crawled_at, tried_at, created_at,"
            " updated_at) VALUES (?, ?, ?, ?, TRUE, ?, 0, 0, 0)",
            (f"series-{number}", comics, slug, f"https://pelagic-comics.example/{slug}", now - HOUR_MS * number),
        )
        state = ("running", "completed", "failed")[number % 3]
        cursor = connection.execute(
            "INSERT INTO runs (uid, kind, state, plan, seed, source_id, created_at, started_at, ended_at, updated_at)"
            " VALUES (?, 'series', ?, '{}', ?, ?, ?, ?, ?, ?)",
            (
                f"series-run-{number}",
                state,
                title,
                comics,
                times[1],
                times[1],
                None if state == "running" else now,
                now,
            ),
        )
        counts = (cursor.lastrowid, 90, 10 * (state == "running"), 90 - 10 * (state == "running") - 4, 4)
        connection.execute(
            "INSERT INTO run_counts (run_id, admitted, open, completed, failed) VALUES (?, ?, ?, ?, ?)", counts
        )
        connection.execute(
            "INSERT INTO series_runs VALUES (?, ?, ?, 'u1', 'editor')", (cursor.lastrowid, comics, f"series-{number}")
        )


def _add_changes(connection: sqlite3.Connection, now: int) -> None:
    """Write the audit of today's changes by people."""
    for number in range(28):
        action, noun, reason, before, after = CHANGES[number % len(CHANGES)]
        who = ("a-admin", "mira", "jonas")[number % 3]
        connection.execute(
            "INSERT INTO audit (uid, at, subject, name, role, kind, tenant, door, action, noun, thing, before, after,"
            " reason, address) VALUES (?, ?, ?, ?, 'admin', 'person', '', 'console', ?, ?, ?, ?, ?, ?, '127.0.0.1')",
            (
                f"audit-{number}",
                now - 540_000 * (28 - number),
                who,
                who,
                action,
                noun,
                str(number + 3),
                before,
                after,
                reason,
            ),
        )
