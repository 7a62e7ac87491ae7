"""The two chores: jobs from due policies, and locks that lapsed; by hand, by the loop and several at once."""

import asyncio
from collections.abc import Awaitable, Callable

from longline.engine.lifecycle.moves import Lifecycle
from tests.surfaces.bots.running import Door, data, error, plan, running, sweep

# -- jobs from policies -----------------------------------------------------------------------------------------


async def test_a_due_policy_gets_one_job_in_repeated_creations(door: Door):
    policies = [await door.policy(f"https://example.com/{n}", priority=1 + n, timeout_minutes=2) for n in range(3)]
    later = await door.policy("https://example.com/later", next_run_at=door.after(hours=1))
    assert await door.post("create-jobs", 200, dry_run=True) == {"created": 3, "skipped": 0}
    assert (await door.get("jobs"))["jobs"] == []
    assert await door.post("create-jobs", 200, limit=1) == {"created": 1, "skipped": 0}
    [job] = (await door.get("jobs"))["jobs"]
    assert job["policy_id"] == policies[2]["id"], "the highest priority first"
    assert [job[k] for k in ("url", "priority", "max_retries", "timeout_minutes", "lock_ttl_seconds")] == [
        "https://example.com/2",
        3,
        3,
        2,
        120,
    ]
    assert await door.post("create-jobs", 200) == {"created": 2, "skipped": 1}
    assert await door.post("create-jobs", 200) == {"created": 0, "skipped": 3}
    for policy in policies:
        now = await door.get(f"policies/{policy['id']}")
        assert now["next_run_at"] == policy["next_run_at"], "only an outcome moves it"
    door.clock.advance(3600)
    assert plan(door) == 1
    [job] = [job for job in (await door.get("jobs"))["jobs"] if job["policy_id"] == later["id"]]
    assert job["status"] == "pending"


async def test_concurrent_creations_make_one_job_for_each_policy(door: Door):
    for n in range(20):
        await door.policy(f"https://example.com/{n}")
    told = await asyncio.gather(*(door.post("create-jobs", 200) for _ in range(8)))
    assert sum(each["created"] for each in told) == 20
    assert len({job["policy_id"] for job in (await door.get("jobs"))["jobs"]}) == 20


async def test_a_policy_gets_no_job_while_one_is_locked_lapsed_or_expired(door: Door):
    await door.policy()
    plan(door)
    await door.pull()
    assert plan(door) == 0, "locked"
    door.clock.advance(601)
    assert plan(door) == 0, "lapsed"
    sweep(door)
    assert plan(door) == 0, "expired"


# -- lapsed locks -----------------------------------------------------------------------------------------------


async def test_only_lapsed_locks_expire(door: Door):
    lapsed = await door.held(timeout_minutes=1, url="https://example.com/1")
    live = await door.held(timeout_minutes=2, url="https://example.com/2")
    pending = await door.job("https://example.com/3")
    door.clock.advance(60)
    assert sweep(door) == 0, "at its very end it still holds"
    door.clock.advance(1)
    nothing = {"expired": 0, "requeued": 0, "failed": 0}
    assert await door.post("expire-locks", 200, dry_run=True) == nothing | {"expired": 1}
    assert await door.status(lapsed) == "locked"
    assert await door.post("expire-locks", 200) == nothing | {"expired": 1}
    assert [await door.status(job) for job in (lapsed, live, pending)] == ["expired", "locked", "pending"]
    row = await door.get(f"jobs/{lapsed}")
    assert (row["locked_by"], row["locked_at"], row["retry_count"], row["expiry_count"]) == (None, None, 0, 0)
    assert error(await door.submit(lapsed)) == (400, "job_not_locked", "Job is in expired state, expected locked")
    assert {job["job_id"] for job in (await door.pull("b"))["jobs"]} == {lapsed, pending}
    assert (await door.get(f"jobs/{lapsed}"))["expiry_count"] == 1
    data(await door.submit(lapsed, "b"), 201)


async def test_the_reaper_of_workers_leaves_the_jobs_of_bots_alone(door: Door):
    job = await door.held()
    door.clock.advance(601)
    assert door.stage.call(Lifecycle(door.stage.platform.records).reap())["offers"] == 0
    assert error(await door.submit(job)) == (400, "lock_expired", "Lock TTL exceeded")


async def test_expiry_does_not_touch_the_policy(door: Door):
    made = await door.policy()
    plan(door)
    await door.pull()
    door.clock.advance(601)
    sweep(door)
    assert await door.get(f"policies/{made['id']}") == made


async def test_with_auto_retry_a_lapse_costs_a_retry(door: Door):
    made = await door.policy(max_retries=1)
    plan(door)
    nothing = {"expired": 0, "requeued": 0, "failed": 0}
    for told, status in ((nothing | {"requeued": 1}, "pending"), (nothing | {"failed": 1}, "failed")):
        [job] = (await door.pull())["jobs"]
        door.clock.advance(601)
        assert await door.post("expire-locks", 200, auto_retry=True) == told
        assert await door.status(job["job_id"]) == status
        assert (await door.get(f"jobs/{job['job_id']}"))["retry_count"] == 1
    now = await door.get(f"policies/{made['id']}")
    assert (now["failure_count"], now["next_run_at"]) == (1, door.after(minutes=5))


async def test_a_url_that_kills_its_bots_does_not_block_its_policy_for_ever(door: Door):
    made = await door.policy(max_retries=1)
    plan(door)
    for _ in range(2):
        assert (await door.pull())["count"] == 1
        door.clock.advance(601)
        sweep(door)
    [job] = (await door.pull())["jobs"]
    door.clock.advance(601)
    assert await door.post("expire-locks", 200) == {"expired": 0, "requeued": 0, "failed": 1}
    row = await door.get(f"jobs/{job['job_id']}")
    assert (row["status"], row["expiry_count"]) == ("failed", 2)
    assert (await door.get(f"policies/{made['id']}"))["failure_count"] == 1
    assert (await door.pull())["count"] == 0


async def handed_out(door: Door, lapse: Callable[[str], Awaitable[None]]) -> int:
    """Return the number of pulls in which a silent bot gets the only job."""
    for times in range(30):
        jobs = (await door.pull("silent"))["jobs"]
        if not jobs:
            return times
        await lapse(jobs[0]["job_id"])
    return 30


async def test_a_silent_bot_that_is_quicker_than_the_sweep_does_not_get_a_job_for_ever(door: Door):
    for max_retries in (0, 1, 3):
        made = await door.policy(f"https://example.com/{max_retries}", max_retries=max_retries)
        plan(door)

        async def wait(_: str) -> None:
            door.clock.advance(601)

        assert await handed_out(door, wait) == max_retries + 2, "as often as with a sweep after each lapse"
        [job] = [job for job in (await door.get("jobs"))["jobs"] if job["policy_id"] == made["id"]]
        assert (job["status"], job["expiry_count"], job["locked_by"]) == ("failed", max_retries + 1, None)
        now = await door.get(f"policies/{made['id']}")
        assert (now["failure_count"], now["next_run_at"]) == (1, door.after(minutes=5))


async def test_nor_does_it_when_people_expire_its_locks(door: Door):
    job = await door.job(max_retries=1)

    async def expire(held: str) -> None:
        assert await door.post("jobs/mark-expired", 200, ids=[held]) == {"changed": 1}
        assert await door.status(held) == "expired"

    assert await handed_out(door, expire) == 3
    assert await door.status(job) == "failed"


async def test_a_job_that_lapsed_too_often_keeps_no_other_from_a_bot(door: Door):
    poison = [await door.job(f"https://example.com/{n}", max_retries=0, priority=20) for n in range(5)]
    for _ in range(2):
        assert (await door.pull("silent", max_jobs=5))["count"] == 5
        door.clock.advance(601)
    good = [await door.job(f"https://example.com/good/{n}", priority=1) for n in range(5)]
    pulled = await door.pull("b", max_jobs=2)
    assert [job["job_id"] for job in pulled["jobs"]] == good[:2], "the bot gets as many as it requested"
    assert [await door.status(job) for job in poison] == ["failed"] * 5
    [run] = door.stage.call(door.stage.platform.records.runs.find())
    assert (run.admitted, run.open, run.failed) == (10, 5, 5)
    assert (await door.get("dashboard"))["jobs"] == {"pending": 3, "locked": 2, "done": 0, "failed": 5, "expired": 0}


async def test_reclaiming_can_be_left_to_people(migrated_url: str):
    async with running(migrated_url, bot_reclaim=False) as door:
        job = await door.held()
        door.clock.advance(601)
        assert (await door.pull("b"))["count"] == 0
        sweep(door)
        assert (await door.pull("b"))["count"] == 0
        await door.post("jobs/mark-pending", 200, ids=[job])
        assert (await door.pull("b"))["count"] == 1


async def test_many_sweeps_at_once(door: Door):
    for n in range(30):
        await door.job(f"https://example.com/{n}")
    await door.pull(max_jobs=30)
    door.clock.advance(601)
    told = await asyncio.gather(*(door.post("expire-locks", 200, limit=10) for _ in range(6)))
    assert sum(each["expired"] for each in told) <= 30
    while (await door.post("expire-locks", 200, limit=10))["expired"]:
        pass
    assert (await door.get("dashboard"))["jobs"]["expired"] == 30


# -- the sums ---------------------------------------------------------------------------------------------------


async def test_every_change_is_counted_and_told_in_the_run(door: Door):
    jobs = [await door.job(f"https://example.com/{n}", max_retries=0) for n in range(4)]
    await door.pull(max_jobs=3)
    data(await door.submit(jobs[0]), 201)
    await door.fail(jobs[1])
    [run] = door.stage.call(door.stage.platform.records.runs.find())
    assert run.admitted == 4
    assert run.open == 2
    assert run.completed == 1
    assert run.failed == 1
    assert run.state == "queued"
    await door.post("jobs/mark-pending", 200, ids=jobs)
    [run] = door.stage.call(door.stage.platform.records.runs.find())
    assert (run.open, run.completed, run.failed) == (4, 0, 0)
    events = door.stage.call(door.stage.platform.records.events.find(after=0, limit=100))
    assert [event.actor for event in events] == ["scheduler", "bot", "bot", "person"], "the run was made, then moved"
