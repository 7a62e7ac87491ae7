"""The scheduler over HTTP: metrics, distribution, rebalancing, and being switched off."""

from pathlib import Path

import pytest

from longline.model.schedules.slots import Shift
from longline.ports.records import Records
from longline.testing.clock import FakeClock
from tests.surfaces.intervals.stage import DAY, HOUR, MINUTE, Json, Stage, opened, seconds

PATHS = {
    "GET": ("/api/v1/scheduler/metrics", "/api/v1/scheduler/distribution"),
    "POST": ("/api/v1/scheduler/rebalance", "/api/v1/scheduler/rebalance/preview"),
}


async def test_a_disabled_scheduler_answers_503(records: Records, clock: FakeClock, tmp_path: Path):
    async with opened(records, clock, tmp_path, scheduler=False) as stage:
        for method, paths in PATHS.items():
            for path in paths:
                assert await stage.ask(method, path, expect=503) == {"error": "Scheduler not available"}


async def test_metrics_count_jobs_and_executions(stage: Stage):
    good, bad = await stage.recurring(30), await stage.job("gone", max_retries=0)
    await stage.recurring(1, "days")
    stage.until(seconds(good["next_run_at"]) + 1)
    await stage.run()
    told = await stage.ask("GET", "/api/v1/scheduler/metrics")
    assert (await stage.get(bad))["status"] == "failed"
    assert told["jobs"] == {"scheduled": 2, "running": 0, "completed": 1, "failed": 1, "cancelled": 0}
    executions = told["executions"]
    assert (executions["total"], executions["success_rate"]) == (2, 0.5)
    assert (seconds(told["last_check_at"]), told["stale_locks_cleared"]) == (stage.now, 0)


async def spread(stage: Stage, hours: list[int]) -> list[Json]:
    """Make daily jobs, that many in each hour from now."""
    made = []
    for hour, count in enumerate(hours):
        for _ in range(count):
            job = await stage.recurring(1, "days")
            row = await stage.platform.records.schedules.get_by_uid(job["id"])
            assert row is not None
            at = stage.clock.now() + round((hour * HOUR + 60) * 1000)
            await stage.platform.records.slots.shift([Shift(row.id, row.uid, row.next_due or 0, at)])
            made.append(job)
    return made


async def test_an_empty_schedule_is_even(stage: Stage):
    told = await stage.ask("GET", "/api/v1/scheduler/distribution")
    assert (told["distribution_score"], told["total_jobs"], told["slot_minutes"], told["window_hours"]) == (
        1,
        0,
        15,
        24,
    )


async def test_an_uneven_distribution_has_the_score_worked_out_by_hand(stage: Stage):
    await spread(stage, [3, 1])
    told = await stage.ask("GET", "/api/v1/scheduler/distribution")
    # Four jobs in 24 hours: the mean is 1/6, the variance (9 + 1) / 24 - 1/36, so the deviation is 3.75 of the mean.
    assert told["distribution_score"] == 0
    assert (told["total_jobs"], told["peak_hour"], told["peak_count"]) == (4, 0, 3)
    assert told["hourly_distribution"][:3] == [{"hour": h, "job_count": n} for h, n in ((0, 3), (1, 1), (2, 0))]
    assert (told["hourly_counts"]["1"], len(told["hourly_counts"])) == (1, 24)
    assert (told["average_per_hour"], told["max_per_hour"], told["min_per_hour"]) == (4 / 24, 3, 0)


async def test_an_even_distribution_scores_one(stage: Stage):
    await spread(stage, [1] * 24)
    assert (await stage.ask("GET", "/api/v1/scheduler/distribution"))["distribution_score"] == 1


async def test_daily_jobs_made_at_once_get_a_slot_each_and_resume_takes_the_emptiest(stage: Stage):
    jobs = [await stage.recurring(1, "days") for _ in range(96)]
    slots = [int(seconds(job["next_run_at"]) // 900) for job in jobs]
    assert len(set(slots)) == 96
    path = f"/api/v1/jobs/{jobs[40]['id']}"
    await stage.ask("POST", f"{path}/pause")
    free = slots[40]
    # The 97th slot of the window is as empty as the remaining one; of two the earlier one is taken.
    resumed = await stage.ask("POST", f"{path}/resume")
    assert int(seconds(resumed["next_run_at"]) // 900) == free


async def test_a_slot_is_not_empty_after_its_jobs_have_run(stage: Stage):
    made = [await stage.recurring(1, "days")]
    assert await stage.run() == 1, "it is the present slot's"
    made += [await stage.recurring(1, "days") for _ in range(96)]
    slots = [seconds(job["next_run_at"]) // (15 * MINUTE) for job in made]
    assert len(set(slots[:96])) == 96
    assert slots[96] == slots[0], "each slot has one job, so that the first is taken again"


async def test_a_rebalance_makes_the_moves_of_its_preview(stage: Stage):
    jobs = await spread(stage, [0, 0, 6, 1])
    stage.advance(61 * MINUTE)
    close = await stage.recurring(1, "days")
    preview = await stage.ask("POST", "/api/v1/scheduler/rebalance/preview")
    assert await stage.ask("POST", "/api/v1/scheduler/rebalance/preview") == preview
    before = [await stage.get(job) for job in jobs]
    done = await stage.ask("POST", "/api/v1/scheduler/rebalance")
    assert (done.pop("jobs_updated"), done) == (len(preview["moved"]), preview)
    assert preview["total_moves"] == len(preview["moved"]) == len(preview["moves"]) > 3
    assert {"job_id": close["id"], "reason": "protection_window"} in preview["skipped"]
    assert preview["after_score"] >= preview["before_score"]
    assert preview["improvement"] == preview["after_score"] - preview["before_score"]
    moved = {move["job_id"]: move for move in preview["moved"]}
    for old in before:
        new = await stage.get(old)
        told = moved.get(old["id"], {"old_time": old["next_run_at"], "new_time": old["next_run_at"]})
        assert (told["old_time"], told["new_time"]) == (old["next_run_at"], new["next_run_at"])
    told = await stage.ask("GET", "/api/v1/scheduler/distribution")
    assert told["distribution_score"] == preview["after_score"] == preview["new_distribution_score"]
    again = await stage.ask("POST", "/api/v1/scheduler/rebalance")
    assert not {move["job_id"] for move in again["moved"]} & set(moved)
    assert "placement_cooldown" in {one["reason"] for one in again["skipped"] if one["job_id"] in moved}


async def test_running_jobs_and_jobs_with_a_pending_retry_are_not_moved(stage: Stage):
    running = await stage.recurring(1, "days")
    failing = await stage.job(
        "gone", interval_minutes=1, interval_type="days", schedule_enabled=True, retry_backoff_seconds=3600
    )
    stage.advance(DAY)
    await stage.poll()
    assert [(await stage.get(job))["status"] for job in (running, failing)] == ["running", "scheduled"]
    told = await stage.ask("POST", "/api/v1/scheduler/rebalance")
    reasons = {one["job_id"]: one["reason"] for one in told["skipped"]}
    assert reasons == {running["id"]: "job_running", failing["id"]: "retry_pending"}


@pytest.mark.parametrize("method", ["GET"])
async def test_rebalancing_is_not_for_readers(stage: Stage, method: str):
    await stage.ask(method, "/api/v1/scheduler/rebalance", expect=405)


async def test_jobs_due_now_are_counted(stage: Stage):
    await stage.job()
    await stage.recurring(1, "days")
    told = await stage.ask("GET", "/api/v1/scheduler/distribution")
    assert (told["total_jobs"], told["hourly_counts"]["0"]) == (2, 2), "at the very moment"
    stage.advance(5 * MINUTE)
    told = await stage.ask("GET", "/api/v1/scheduler/distribution")
    assert (told["total_jobs"], told["hourly_counts"]["0"], told["peak_hour"]) == (2, 2, 0), (
        "also while no scheduler polls"
    )
    await stage.run()
    told = await stage.ask("GET", "/api/v1/scheduler/distribution")
    assert (told["total_jobs"], told["hourly_counts"]["0"], told["hourly_counts"]["23"]) == (1, 0, 1)
