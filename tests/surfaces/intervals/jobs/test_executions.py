"""Runs of jobs over HTTP: their times, their ends, and their history."""

import asyncio
import hashlib
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from longline.drivers.schedules.redis_page_changes import RedisPageChanges
from longline.engine.lifecycle.moves import Lifecycle
from longline.model.frontier.host import HostLease, HostReport
from longline.model.frontier.task import NewTask, Outcome, RequestMade
from longline.model.search.item import NewItem
from longline.model.states import TaskState
from longline.ports.records import Records
from longline.ports.records.frontier.frontier import ReportBatch
from longline.testing.clock import FakeClock
from tests.drivers.records.world import admit, claim, host_report, report, url
from tests.surfaces.intervals.stage import DAY, HOUR, MINUTE, Json, Stage, opened, seconds


async def started(stage: Stage, job: Json) -> list[float]:
    return [seconds(run["started_at"]) for run in await stage.runs(job)]


async def test_a_run_is_told_whole(stage: Stage):
    made = await stage.job()
    assert await stage.poll() == 1
    [run] = await stage.runs(made)
    assert {k: run[k] for k in ("job_id", "execution_number", "status", "retry_attempt")} == {
        "job_id": made["id"],
        "execution_number": 1,
        "status": "running",
        "retry_attempt": 0,
    }
    held = await stage.get(made)
    assert held["status"] == "running"
    assert seconds(held["lock_acquired_at"]) == stage.now
    assert len(held["lock_token"]) == 36
    stage.advance(5)
    await stage.work()
    done = await stage.get(made)
    assert (done["status"], "lock_token" in done, "next_run_at" in done) == ("completed", False, False)
    [run] = await stage.runs(made)
    assert (run["status"], run["duration_ms"], run["items_crawled"]) == ("completed", 5000, 1)
    assert run["memory_peak_mb"] > 0
    assert run["cpu_time_ms"] >= 0
    figures = run["metadata"]["crawl_metrics"]
    assert (figures["requests_total"], figures["requests_failed"], figures["bytes_downloaded"]) == (1, 0, 6)
    assert figures["status_codes"] == {"200": 1}
    assert figures["response_time"] == {"avg_ms": 5, "min_ms": 5, "max_ms": 5}
    assert await stage.ask("GET", f"/api/v1/executions/{run['id']}") == run
    stats = await stage.ask("GET", f"/api/v1/jobs/{made['id']}/stats")
    assert stats == {
        "total_executions": 1,
        "successful_runs": 1,
        "failed_runs": 0,
        "average_duration_ms": 5000,
        "last_execution_at": run["started_at"],
        "next_scheduled_at": None,
        "success_rate": 1,
    }
    today = await stage.ask("GET", "/api/v1/stats")
    assert (today["crawled_today"], today["indexed_today"]) == (1, 0)


async def test_two_schedulers_run_each_due_job_once(stage: Stage):
    jobs = [await stage.job(f"{n}", max_retries=0) for n in range(100)]
    counts = await asyncio.gather(*(stage.poll(number) for number in (1, 2, 1, 2)))
    assert sum(counts) == 100
    assert [len(await stage.runs(job)) for job in jobs] == [1] * 100


async def test_a_very_long_url_is_run_like_any_other_and_delays_no_other_job(stage: Stage):
    # A compressible URL could be shortened by an engine whose index it is too long for; this one cannot.
    tail = "".join(hashlib.sha256(bytes([n])).hexdigest() for n in range(100))
    jobs = [await stage.job(url=f"https://s0.example/{tail}"), await stage.job()]
    assert await stage.run() == 2
    assert [(await stage.get(job))["status"] for job in jobs] == ["completed"] * 2


async def test_a_run_that_cannot_begin_keeps_no_other_from_beginning(stage: Stage, monkeypatch: pytest.MonkeyPatch):
    admit = Lifecycle.admit

    async def choosy(lifecycle: Lifecycle, tasks: Sequence[NewTask], *more: Any) -> Any:
        if any(task.host == "s0.example" for task in tasks):
            raise ValueError("no engine takes that")
        return await admit(lifecycle, tasks, *more)

    monkeypatch.setattr(Lifecycle, "admit", choosy)
    jobs = [await stage.job(max_retries=0), await stage.job()]
    assert await stage.run() == 2
    assert [(await stage.get(job))["status"] for job in jobs] == ["failed", "completed"]
    [run] = await stage.runs(jobs[0])
    assert (run["status"], run["error_message"]) == ("failed", "ValueError('no engine takes that')")
    assert "choosy" in run["stack_trace"]


async def test_a_scheduler_takes_no_more_than_it_may(stage: Stage):
    source = await stage.source()
    for _ in range(5):
        await stage.job(source)
    one = stage.scheduler()
    one._settings = type(one._settings)(max_running=2)
    assert [await stage.poll(), await stage.poll()] == [2, 0]
    assert await stage.poll(2) == 3, "the rest is left to others"


async def test_killed_in_mid_run_it_goes_on_as_the_same_execution(stage: Stage):
    again, once = await stage.recurring(20), await stage.job()
    stage.until(seconds(again["next_run_at"]) + 1)
    phase = seconds(again["next_run_at"])
    assert await stage.poll() == 2
    before = {job["id"]: (await stage.get(job))["lock_token"] for job in (again, once)}
    stage.advance(299)
    await stage.scheduler(2).follow()
    assert (await stage.get(once))["lock_token"] == before[once["id"]], "it may live yet"
    stage.advance(2)
    assert await stage.scheduler(2).follow() == 2
    for job in (again, once):
        [run] = await stage.runs(job)
        assert (run["status"], "error_message" in run) == ("running", False)
        found = await stage.get(job)
        assert (found["status"], found["current_retry_count"], "error_message" in found) == ("running", 0, False)
        assert found["lock_token"] != before[job["id"]]
    assert (await stage.ask("GET", "/api/v1/scheduler/metrics"))["stale_locks_cleared"] == 2
    assert await stage.run(2) == 0, "no new run is started"
    for job in (again, once):
        [run] = await stage.runs(job)
        assert (run["status"], run["items_crawled"], run["retry_attempt"]) == ("completed", 1, 0)
    assert (await stage.get(once))["status"] == "completed"
    waits = await stage.get(again)
    assert (waits["status"], seconds(waits["next_run_at"])) == ("scheduled", phase + 20 * MINUTE)


async def test_a_run_fails_after_three_adoptions_without_a_finished_url(stage: Stage):
    made = await stage.job(max_retries=1)
    await stage.poll()
    for number in (2, 3, 4):
        stage.advance(301)
        assert await stage.scheduler(number).follow() == 1
        assert (await stage.get(made))["status"] == "running"
    stage.advance(301)
    assert await stage.scheduler(5).follow() == 1
    [run] = await stage.runs(made)
    assert (run["status"], run["error_message"]) == ("failed", "recovered: stale lock")
    found = await stage.get(made)
    assert (found["status"], found["current_retry_count"]) == ("scheduled", 1), "it is retried like any failed run"
    assert seconds(found["next_run_at"]) == stage.now + 60
    assert (await stage.ask("GET", "/api/v1/scheduler/metrics"))["stale_locks_cleared"] == 4


async def test_a_finished_url_lets_a_run_be_adopted_anew(stage: Stage):
    made = await stage.job()
    await stage.poll()
    [run] = await stage.runs(made)
    row = await stage.platform.records.history.get_by_uid(run["id"])
    assert row is not None
    for number in range(2, 8):
        host = f"h{number}.example"
        await admit(stage.platform.records, url(row, host))
        stage.advance(301)
        assert await stage.scheduler(number).follow() == 1
        lease = (await claim(stage.platform.records))[host]
        assert not (await report(stage.platform.records, host_report(lease))).refused
        assert (await stage.get(made))["status"] == "running", f"adoption {number - 1}"


async def test_the_time_without_a_process_is_not_part_of_the_time_a_run_may_take(stage: Stage):
    made = await stage.job(max_retries=0)
    await stage.poll()
    stage.advance(DAY)
    assert await stage.scheduler(2).follow() == 1
    assert (await stage.get(made))["status"] == "running"
    for _ in range(54):
        stage.advance(MINUTE)
        await stage.scheduler(2).renew()
        await stage.scheduler(2).follow()
    assert (await stage.get(made))["status"] == "running"
    for _ in range(2):
        stage.advance(MINUTE)
        await stage.scheduler(2).renew()
        await stage.scheduler(2).follow()
    [run] = await stage.runs(made)
    assert (run["status"], run["error_message"]) == ("failed", "the run took longer than 3600 seconds")


async def test_a_scheduler_that_was_only_paused_gives_up_runs_that_another_adopted(stage: Stage):
    made = await stage.job()
    await stage.poll()
    stage.advance(301)
    assert await stage.scheduler(2).follow() == 1
    token = (await stage.get(made))["lock_token"]
    await stage.scheduler(1).renew()
    assert await stage.scheduler(1).follow() == 0
    await stage.scheduler(1).hand_over_runs()
    found = await stage.get(made)
    assert (found["status"], found["lock_token"]) == ("running", token)
    stage.advance(299)
    await stage.scheduler(2).renew()
    stage.advance(299)
    assert await stage.scheduler(1).follow() == 0, "the adopter renews"
    await stage.work(2)
    assert (await stage.get(made))["status"] == "completed"


@pytest.mark.parametrize("how", ["killed", "stopped"])
async def test_a_person_can_cancel_while_no_process_holds_the_run(stage: Stage, how: str):
    made = await stage.job()
    await stage.poll()
    if how == "stopped":
        await stage.scheduler().hand_over_runs()
    stage.advance(301)
    told = await stage.ask("POST", f"/api/v1/jobs/{made['id']}/cancel")
    assert told["status"] == "cancelled"
    assert await stage.scheduler(2).follow() == 0
    [run] = await stage.runs(made)
    assert run["status"] == "cancelled"
    assert not (await stage.platform.records.tasks.counts())["open"]


async def test_a_healthy_long_run_is_left_alone(stage: Stage):
    made = await stage.job()
    await stage.poll()
    for _ in range(20):
        stage.advance(MINUTE)
        await stage.scheduler().renew()
        await stage.scheduler(2).follow()
        assert await stage.poll(2) == 0
    await stage.work()
    assert (await stage.get(made))["status"] == "completed"
    assert len(await stage.runs(made)) == 1


async def test_a_run_that_takes_too_long_has_failed(stage: Stage):
    made = await stage.job(max_retries=0)
    await stage.poll()
    for _ in range(61):
        stage.advance(MINUTE)
        await stage.scheduler().renew()
    await stage.scheduler().follow()
    [run] = await stage.runs(made)
    assert (run["status"], run["error_message"]) == ("failed", "the run took longer than 3600 seconds")


async def test_cancelled_in_mid_run_it_stays_cancelled(stage: Stage):
    made = await stage.recurring(30)
    stage.until(seconds(made["next_run_at"]))
    await stage.poll()
    told = await stage.ask("POST", f"/api/v1/jobs/{made['id']}/cancel")
    assert (told["status"], "next_run_at" in told) == ("cancelled", False)
    assert not (await stage.platform.records.tasks.counts())["open"], "the run has stopped"
    for _ in range(3):
        stage.advance(HOUR)
        await stage.run()
    assert (await stage.get(made))["status"] == "cancelled"
    [run] = await stage.runs(made)
    assert run["status"] == "cancelled"


@pytest.mark.parametrize(("backoff", "gaps"), [(60, [60, 120, 240]), (1800, [1800, 3600, 3600])])
async def test_failures_are_tried_again_ever_later(stage: Stage, backoff: int, gaps: list[int]):
    made = await stage.job("gone", max_retries=3, retry_backoff_seconds=backoff)
    for gap in [*gaps, 0]:
        assert await stage.poll() == 1
        found = await stage.get(made)
        if gap:
            assert (found["status"], seconds(found["next_run_at"])) == ("scheduled", stage.now + gap)
            stage.advance(gap - 1)
            assert await stage.poll() == 0
            stage.advance(1)
    assert (found["status"], found["error_message"]) == ("failed", "source not found: gone")
    runs = await stage.runs(made)
    assert [(r["status"], r["retry_attempt"], r["execution_number"]) for r in runs] == [
        ("failed", n, n + 1) for n in range(4)
    ]
    again = await stage.ask("POST", f"/api/v1/jobs/{made['id']}/retry")
    assert (again["status"], again["current_retry_count"], "error_message" in again) == ("pending", 0, False)
    assert await stage.poll() == 1


async def test_a_one_off_job_that_fails_once_is_completed_in_the_end(stage: Stage):
    made = await stage.job("100000000")
    await stage.poll()
    assert (await stage.get(made))["status"] == "scheduled"
    source = await stage.source()
    await stage.ask("PUT", f"/api/v1/jobs/{made['id']}", {"source_id": source})
    stage.advance(60)
    await stage.run()
    found = await stage.get(made)
    assert (found["status"], found["current_retry_count"], "error_message" in found) == ("completed", 0, False)


async def test_a_job_without_a_source_is_made_and_its_run_fails(stage: Stage):
    made = await stage.job(None, max_retries=0)
    await stage.poll()
    [run] = await stage.runs(made)
    assert (run["status"], run["error_message"]) == ("failed", "job missing required source_id")


async def test_a_start_page_that_robots_forbid_fails_the_run(stage: Stage):
    made = await stage.job(await stage.source(), max_retries=0)
    stage.bodies["https://news.example/"] = "robots"
    await stage.run()
    [run] = await stage.runs(made)
    assert (run["status"], run["error_message"]) == (
        "failed",
        "start URL refused by robots.txt: https://news.example/",
    )
    assert (await stage.get(made))["status"] == "failed"


@pytest.mark.parametrize(("count", "unit", "gap"), [(6, "hours", 6 * HOUR), (5, "minutes", 300), (2, "days", 2 * DAY)])
async def test_an_interval_counts_its_units(stage: Stage, count: int, unit: str, gap: float):
    made = await stage.recurring(count, unit, adaptive_scheduling=False)
    for _ in range(3):
        stage.until(seconds((await stage.get(made))["next_run_at"]))
        await stage.run()
    times = await started(stage, made)
    assert [b - a for a, b in pairwise(times)] == [gap, gap]


async def test_phase_is_kept_through_late_runs_and_an_outage(stage: Stage):
    made = await stage.recurring(20, adaptive_scheduling=False)
    first = seconds(made["next_run_at"])
    stage.until(first)
    await stage.run()
    stage.until(first + 20 * MINUTE + 37)
    await stage.poll()
    stage.advance(90)
    await stage.work()
    assert seconds((await stage.get(made))["next_run_at"]) == first + 40 * MINUTE
    stage.until(first + 90 * MINUTE)
    assert [await stage.run(), await stage.run()] == [1, 0], "one run after the outage, no burst"
    assert seconds((await stage.get(made))["next_run_at"]) == first + 100 * MINUTE


async def test_forced_it_runs_now_and_again_at_its_time(stage: Stage):
    made = await stage.recurring(1, "hours", adaptive_scheduling=False)
    regular = seconds(made["next_run_at"])
    stage.until(regular)
    await stage.run()
    stage.advance(10 * MINUTE)
    await stage.ask("POST", f"/api/v2/jobs/{made['id']}/force-run", expect=202)
    assert await stage.run() == 1
    found = await stage.get(made)
    assert (found["status"], seconds(found["next_run_at"])) == ("scheduled", regular + HOUR)


async def test_an_unchanging_start_page_is_looked_at_less_often(stage: Stage):
    made = await stage.recurring(30)
    gaps = []
    for _ in range(8):
        stage.until(seconds((await stage.get(made))["next_run_at"]))
        at = stage.now
        await stage.run()
        gaps.append((seconds((await stage.get(made))["next_run_at"]) - at) / MINUTE)
    assert gaps == [30, 60, 120, 240, 480, 960, 1440, 1440]
    stage.bodies["https://s0.example/"] = "news"
    stage.until(seconds((await stage.get(made))["next_run_at"]))
    at = stage.now
    await stage.run()
    assert seconds((await stage.get(made))["next_run_at"]) - at == 30 * MINUTE


@pytest.mark.parametrize(
    ("more", "count", "unit"), [({}, 48, "hours"), ({"adaptive_scheduling": False}, 30, "minutes")]
)
async def test_long_and_fixed_intervals_are_not_adapted(stage: Stage, more: Json, count: int, unit: str):
    made = await stage.recurring(count, unit, **more)
    for _ in range(3):
        due = seconds((await stage.get(made))["next_run_at"])
        stage.until(due)
        await stage.run()
        assert seconds((await stage.get(made))["next_run_at"]) - due == count * {"hours": HOUR, "minutes": MINUTE}[unit]


async def test_14_intervals_stay_unchanged_while_redis_is_away(records: Records, clock: FakeClock, tmp_path: Path):
    away = RedisPageChanges("redis://127.0.0.1:1/0")
    async with opened(records, clock, tmp_path, page_changes=away) as stage:
        made = await stage.recurring(30)
        for _ in range(3):
            due = seconds((await stage.get(made))["next_run_at"])
            stage.until(due)
            assert await stage.run() == 1
            assert seconds((await stage.get(made))["next_run_at"]) - due == 30 * MINUTE
        assert {run["status"] for run in await stage.runs(made)} == {"completed"}
    await away.close()


async def test_a_failed_run_does_not_count_as_a_look(stage: Stage):
    made = await stage.recurring(30)
    for _ in range(2):
        stage.until(seconds((await stage.get(made))["next_run_at"]))
        await stage.run()
    known = await stage.platform.records.page_changes.get(made["source_id"])
    stage.until(seconds((await stage.get(made))["next_run_at"]))
    await stage.poll()
    stage.advance(301)
    await stage.scheduler(2).follow()
    assert await stage.platform.records.page_changes.get(made["source_id"]) == known


async def test_a_start_page_is_visited_again_at_the_next_run(stage: Stage):
    made = await stage.recurring(30, adaptive_scheduling=False)
    for _ in range(2):
        stage.until(seconds((await stage.get(made))["next_run_at"]))
        await stage.run()
    assert [run["items_crawled"] for run in await stage.runs(made)] == [1, 1]


@pytest.mark.parametrize(
    ("outcome", "status", "figures"),
    [
        ("content_type", 200, {"skipped": {"non_html": 1, "max_depth": 0, "robots_txt": 0}}),
        ("challenge", 403, {"cloudflare_blocks": 1}),
        (
            "http_4xx",
            404,
            {
                "error_categories": {"http_client": 1},
                "top_errors": [{"message": "HTTP 404", "count": 1, "last_url": "https://s0.example/"}],
            },
        ),
    ],
)
async def test_figures_count_the_outcome_of_a_page(stage: Stage, outcome: str, status: int, figures: Json):
    stage.bodies["https://s0.example/"], stage.statuses["https://s0.example/"] = outcome, status
    made = await stage.job()
    await stage.run()
    [run] = await stage.runs(made)
    told = run["metadata"]["crawl_metrics"]
    plain: Json = {"requests_total": 1, "requests_failed": int(outcome == "http_4xx"), "bytes_downloaded": 0}
    plain |= {"response_time": {"avg_ms": 5, "min_ms": 5, "max_ms": 5}}
    assert told == plain | {"status_codes": {str(status): 1}} | figures


async def test_figures_are_kept_however_a_run_ends(stage: Stage):
    nobodys, cancelled, broken, slow = [await stage.job(source_id) for source_id in ("nobody", "", "", "")]
    await stage.poll()
    await stage.ask("POST", f"/api/v1/jobs/{cancelled['id']}/cancel")
    await stage.scheduler().follow()
    for _ in range(61):
        stage.advance(MINUTE)
        await stage.scheduler().renew()
    await stage.scheduler().follow()
    await stage.scheduler().hand_over_runs()
    ways = {nobodys["id"]: "failed", cancelled["id"]: "cancelled", slow["id"]: "failed", broken["id"]: "failed"}
    for job in (nobodys, cancelled, broken, slow):
        run = (await stage.runs(job))[0]
        assert run["status"] == ways[job["id"]]
        assert run["metadata"]["crawl_metrics"]["requests_total"] == 0
        assert run["cpu_time_ms"] >= 0
        assert run["memory_peak_mb"] > 0


async def test_a_run_interrupted_by_a_shutdown_goes_on_at_once(stage: Stage):
    again, once = await stage.recurring(20, adaptive_scheduling=False), await stage.job()
    stage.until(seconds(again["next_run_at"]))
    phase = stage.now
    assert await stage.poll() == 2
    await stage.scheduler().hand_over_runs()
    for job in (again, once):
        [run] = await stage.runs(job)
        assert (run["status"], "error_message" in run) == ("running", False)
        found = await stage.get(job)
        assert ("lock_token" in found, found["current_retry_count"]) == (False, 0), "the lock is released"
    stage.advance(0.001)
    assert await stage.scheduler(2).follow() == 2
    assert ["lock_token" in found for found in [await stage.get(job) for job in (again, once)]] == [True, True]
    assert (await stage.ask("GET", "/api/v1/scheduler/metrics"))["stale_locks_cleared"] == 0
    assert await stage.run(2) == 0
    for job in (again, once):
        [run] = await stage.runs(job)
        assert (run["status"], run["items_crawled"]) == ("completed", 1)
    assert seconds((await stage.get(again))["next_run_at"]) == phase + 20 * MINUTE


async def test_a_run_may_be_stopped_and_continued_as_often_as_there_are_shutdowns(stage: Stage):
    made = await stage.job()
    await stage.poll()
    for number in range(2, 8):
        await stage.scheduler(number - 1).hand_over_runs()
        stage.advance(1)
        assert await stage.scheduler(number).follow() == 1
    await stage.work(7)
    [run] = await stage.runs(made)
    assert run["status"] == "completed"


# -- figures and state together ---------------------------------------------------------------------------------------


async def bring(stage: Stage, lease: HostLease, documents: int) -> None:
    """Report the one task of a host with that many documents, one of them without a title; no scheduler is called."""
    [task] = lease.tasks
    items = [
        NewItem("h", "article", task.run_id, task.id, task.url, title="T" if n else "", body="b", key=bytes([n]))
        for n in range(documents)
    ]
    items.append(
        NewItem("h", "extraction", task.run_id, task.id, task.url, key=b"x")
    )  # an extraction record, which is no document
    outcome = Outcome(task, TaskState.COMPLETED, "ok", at=1, status=200, asked=(RequestMade(200, 5, 6),))
    batch = ReportBatch(reports=[host_report(lease, [outcome])], items=items, cpu_ms=40, memory_mb=70)
    assert not (await stage.platform.lifecycle.report(batch)).refused


async def test_an_execution_ends_with_its_job_and_its_figures(stage: Stage):
    made = await stage.job()
    await stage.poll()
    [lease] = (await claim(stage.platform.records)).values()
    await bring(stage, lease, 3)
    [run] = await stage.runs(made)
    assert (run["status"], (await stage.get(made))["status"]) == ("running", "running")
    assert (run["items_crawled"], run["items_indexed"]) == (1, 3)
    await stage.scheduler().follow()
    [run] = await stage.runs(made)
    assert (run["status"], (await stage.get(made))["status"]) == ("completed", "completed")
    assert (run["items_crawled"], run["items_indexed"]) == (1, 3)
    figures = run["metadata"]["crawl_metrics"]
    assert (figures["requests_total"], figures["status_codes"]) == (1, {"200": 1})
    assert figures["extraction_quality"] == {"items_indexed": 3, "empty_title_count": 1, "empty_body_count": 0}
    assert (run["cpu_time_ms"], run["memory_peak_mb"] >= 70) == (40, True)
    assert await stage.ask("GET", f"/api/v1/executions/{run['id']}") == run
    await stage.scheduler().follow()
    assert await stage.runs(made) == [run], "no later run starts"


async def test_a_job_cancelled_after_its_last_page_is_cancelled_with_its_execution(stage: Stage):
    made = await stage.job()
    await stage.poll()
    await stage.work(look=False)
    await stage.ask("POST", f"/api/v1/jobs/{made['id']}/cancel")
    await stage.scheduler().follow()
    [run] = await stage.runs(made)
    assert (run["status"], (await stage.get(made))["status"]) == ("cancelled", "cancelled")


async def test_a_run_without_open_urls_is_ended_by_the_next_scheduler_where_its_own_was_killed(stage: Stage):
    made = await stage.recurring()
    stage.until(seconds(made["next_run_at"]))
    await stage.poll()
    await stage.work(look=False)
    stage.advance(301)
    assert await stage.scheduler(2).follow() == 1
    [run] = await stage.runs(made)
    assert (run["status"], (await stage.get(made))["status"]) == ("completed", "scheduled")


async def test_a_scheduler_that_stops_ends_runs_without_open_urls(stage: Stage):
    made = await stage.job()
    await stage.poll()
    await stage.work(look=False)
    await stage.scheduler().hand_over_runs()
    [run] = await stage.runs(made)
    assert (run["status"], (await stage.get(made))["status"]) == ("completed", "completed")


async def test_a_run_that_a_person_cancelled_has_its_figures_at_once(stage: Stage):
    made = await stage.job()
    await stage.poll()
    await stage.ask("POST", f"/api/v1/jobs/{made['id']}/cancel")
    [run] = await stage.runs(made)
    assert (run["status"], run["metadata"]["crawl_metrics"]["requests_total"]) == ("cancelled", 0)
    assert (run["cpu_time_ms"], run["memory_peak_mb"] > 0) == (0, True)


async def test_overlapping_runs_of_one_source_count_the_items_of_each(stage: Stage):
    source = await stage.source()
    jobs = [await stage.job(source, url=f"https://news.example/{n}") for n in range(3)]
    assert await stage.poll() == 3
    [lease] = (await claim(stage.platform.records)).values()
    for task in lease.tasks:
        items = [NewItem("h", "article", task.run_id, task.id, task.url, body="b", key=bytes([n])) for n in range(10)]
        outcomes = [Outcome(task, TaskState.COMPLETED, "ok", at=1, status=200)]
        batch = ReportBatch(reports=[HostReport(lease.host_id, lease.token, tuple(outcomes), ())], items=items)
        assert not (await stage.platform.lifecycle.report(batch)).refused
    await stage.scheduler().follow()
    assert [(await stage.runs(job))[0]["items_indexed"] for job in jobs] == [10, 10, 10]


# -- a start URL that brings no page ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("outcome", "status", "said"),
    [
        ("http_4xx", 404, "start URL https://s0.example/ brought no page: HTTP 404"),
        ("content_type", 200, "start URL https://s0.example/ brought no page: content_type"),
        ("challenge", 403, "start URL https://s0.example/ brought no page: challenge"),
        ("", 200, "start URL https://s0.example/ brought no page: its body is empty"),
        ("robots", None, "start URL refused by robots.txt: https://s0.example/"),
    ],
)
async def test_a_start_url_that_brings_no_page_fails_its_run(stage: Stage, outcome: str, status: int, said: str):
    stage.bodies["https://s0.example/"], stage.statuses["https://s0.example/"] = outcome, status
    made = await stage.job(max_retries=1)
    await stage.poll()
    await stage.work()
    [run] = await stage.runs(made)
    assert (run["status"], run["error_message"]) == ("failed", said)
    found = await stage.get(made)
    assert (found["status"], found["current_retry_count"], found["error_message"]) == ("scheduled", 1, said)
    assert seconds(found["next_run_at"]) == stage.now + 60


async def test_pages_that_fail_are_only_counted_when_another_was_fetched(stage: Stage):
    made = await stage.job()
    await stage.poll()
    row = await stage.platform.records.history.get_by_uid((await stage.runs(made))[0]["id"])
    assert row is not None
    await admit(stage.platform.records, url(row, "s0.example", "/other"))
    stage.bodies["https://s0.example/"] = "http_4xx"
    await stage.work()
    [run] = await stage.runs(made)
    assert (run["status"], run["items_crawled"]) == ("completed", 1)


async def test_an_empty_start_page_is_no_failure_when_another_page_was_fetched(stage: Stage):
    made = await stage.job()
    await stage.poll()
    row = await stage.platform.records.history.get_by_uid((await stage.runs(made))[0]["id"])
    assert row is not None
    await admit(stage.platform.records, url(row, "s0.example", "/other"))
    stage.bodies["https://s0.example/"] = ""
    await stage.work()
    [run] = await stage.runs(made)
    assert (run["status"], run["items_crawled"]) == ("completed", 2)


async def test_only_the_newest_hundred_runs_of_thirty_days_are_remembered(stage: Stage):
    made = await stage.recurring(1, source_id="gone", max_retries=1000)
    for _ in range(150):
        stage.advance(HOUR)
        assert await stage.poll() == 1
    retention = stage.retention()
    assert await retention.once() == 50
    runs = await stage.runs(made)
    assert [run["execution_number"] for run in runs] == list(range(51, 151))
    assert await retention.once() == 0
    stage.advance(HOUR)
    await stage.poll()
    assert (await stage.runs(made))[-1]["execution_number"] == 151, "numbers are never used again"
    await stage.ask("POST", f"/api/v1/jobs/{made['id']}/pause")
    stage.advance(31 * DAY)
    assert await retention.once() == 101
    assert await stage.runs(made) == []
