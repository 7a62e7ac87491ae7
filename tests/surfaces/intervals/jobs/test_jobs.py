"""Jobs over HTTP: made, listed, changed, deleted; invalid requests get 400."""

import asyncio
from collections import Counter
from typing import Any

import pytest

from longline.model.schedules.schedule import ScheduleRow
from longline.model.signal_topics import DUE_TOPIC
from longline.services.schedules.schedules import Schedules
from tests.surfaces.intervals.stage import DAY, HOUR, MINUTE, Json, Stage, seconds, shown


async def test_a_recurring_job_is_made_whole(stage: Stage):
    source = await stage.source()
    body = {
        "source_id": source,
        "url": "https://news.example/start",
        "interval_minutes": 6,
        "interval_type": "hours",
        "schedule_enabled": True,
        "metadata": {"a": [1]},
        "source_name": "News",
    }
    made = await stage.ask("POST", "/api/v1/jobs", body, 201)
    assert {name: made[name] for name in body} == body
    defaults: dict[str, Any] = {
        "adaptive_scheduling": True,
        "max_retries": 3,
        "retry_backoff_seconds": 60,
        "current_retry_count": 0,
    }
    defaults |= {"type": "crawl", "status": "scheduled", "is_paused": False, "priority": 50, "scheduler_version": 1}
    defaults |= {"auto_managed": False, "failure_count": 0}
    assert {name: made[name] for name in defaults} == defaults
    assert made["created_at"].endswith("Z")
    assert not {"lock_token", "paused_at", "started_at", "error_message"} & set(made)
    assert await stage.get(made) == made


async def test_a_job_that_runs_once_waits_to_be_polled(stage: Stage):
    made = await stage.job(interval_minutes=5, schedule_enabled=False)
    assert (made["status"], seconds(made["next_run_at"])) == ("pending", stage.now)
    assert made["interval_minutes"] == 5, "kept, but the job does not recur"


WRONG: list[tuple[Any, str]] = [
    ({}, "url is required"),
    ({"url": ""}, "url is required"),
    ({"url": "example.com"}, "bad URL"),
    ({"url": "ftp://example.com/"}, "bad URL"),
    ({"url": "https:///example.com"}, "bad URL"),
    ({"url": "http:example.com"}, "bad URL"),
    ({"url": "https:\\\\example.com/"}, "bad URL"),
    ({"url": 7}, "url must be a string"),
    ({"url": "https://a.example/", "interval_minutes": 0}, "interval_minutes must be greater than 0"),
    ({"url": "https://a.example/", "interval_minutes": -5}, "interval_minutes must be greater than 0"),
    ({"url": "https://a.example/", "interval_minutes": "6"}, "interval_minutes must be an integer"),
    ({"url": "https://a.example/", "interval_minutes": True}, "interval_minutes must be an integer"),
    ({"url": "https://a.example/", "interval_minutes": 10**30}, "interval_minutes is too large"),
    ({"url": "https://a.example/", "interval_type": "weeks"}, "interval_type must be one of minutes, hours, days"),
    ({"url": "https://a.example/", "schedule_enabled": True}, "interval_minutes is required"),
    ({"url": "https://a.example/", "schedule_enabled": "yes"}, "schedule_enabled must be a boolean"),
    ({"url": "https://a.example/", "max_retries": -1}, "max_retries must not be negative"),
    ({"url": "https://a.example/", "retry_backoff_seconds": 0}, "retry_backoff_seconds must be greater than 0"),
    ({"url": "https://a.example/", "metadata": [1]}, "metadata must be an object"),
    ({"url": "https://a.example/", "type": "leadership_scrape"}, "Invalid job type: leadership_scrape"),
    ({"url": "https://a.example/", "priority": 101}, "priority must be between 0 and 100"),
    ({"url": "https://a.example/", "source_id": "a\0b"}, "source_id has a NUL character"),
    ({"url": "https://a.example/", "source_id": "x" * 501}, "source_id is too long"),
    ([1], "not a JSON object"),
]


async def test_a_body_that_is_wrong_is_400(stage: Stage):
    for body, said in WRONG:
        assert said in (await stage.ask("POST", "/api/v1/jobs", body, 400))["error"], body
    assert await stage.jobs() == []


async def test_invalid_json_is_400(stage: Stage):
    job = await stage.job()
    made = {"/api/v1/jobs": job["id"], "/api/v1/sources": job["source_id"]}
    for text in (b"{", b"\xff", b'{"url": "\\ud800"}', b""):
        for path in ("/api/v1/jobs", "/api/v1/sources"):
            answer = await stage.client.post(path, content=text)
            assert (answer.status_code, bool(answer.json()["error"])) == (400, True), answer.text
            answer = await stage.client.put(f"{path}/{made[path]}", content=text)
            assert (answer.status_code, "Invalid request body" in answer.json()["error"]) == (400, True), answer.text


async def test_a_change_that_is_wrong_is_400_and_changes_nothing(stage: Stage):
    made = await stage.job()
    # A field that is missing or empty keeps its value.
    for body, said in [case for case in WRONG if case[0] not in ({}, {"url": ""})]:
        assert said in (await stage.ask("PUT", f"/api/v1/jobs/{made['id']}", body, 400))["error"], body
    assert await stage.get(made) == made


async def test_a_change_keeps_fields_that_it_does_not_name(stage: Stage):
    made = await stage.recurring(30, metadata={"k": 1})
    path = f"/api/v1/jobs/{made['id']}"
    changed = await stage.ask(
        "PUT", path, {"source_name": "N", "url": "", "max_retries": 0, "adaptive_scheduling": False}
    )
    wanted = made | {"source_name": "N", "max_retries": 0, "adaptive_scheduling": False}
    assert {**changed, "updated_at": ""} == {**wanted, "updated_at": ""}
    await stage.ask("PUT", "/api/v1/jobs/nowhere", {}, 404)


async def test_concurrent_changes_of_a_job_are_all_kept(stage: Stage):
    said = {"max_retries": 7, "retry_backoff_seconds": 77, "source_name": "N", "metadata": {"k": 1}, "priority": 9}
    for _ in range(3):
        job = await stage.recurring(1, "days")
        path = f"/api/v1/jobs/{job['id']}"
        await asyncio.gather(*(stage.ask("PUT", path, {name: value}) for name, value in said.items()))
        assert (await stage.get(job)).items() >= said.items()


async def test_a_new_interval_gets_a_new_place_and_null_makes_it_run_once(stage: Stage):
    made = await stage.recurring(30)
    path = f"/api/v1/jobs/{made['id']}"
    stage.advance(10 * MINUTE)
    changed = await stage.ask("PUT", path, {"interval_minutes": 2, "interval_type": "hours"})
    assert stage.now <= seconds(changed["next_run_at"]) < stage.now + 2 * HOUR
    once = await stage.ask("PUT", path, {"interval_minutes": None})
    assert ("interval_minutes" in once, once["schedule_enabled"]) == (False, False)
    stage.until(seconds(once["next_run_at"]))
    assert await stage.run() == 1
    assert (await stage.get(made))["status"] == "completed"


async def test_a_job_that_runs_once_can_be_made_to_recur(stage: Stage):
    made = await stage.job()
    changed = await stage.ask(
        "PUT", f"/api/v1/jobs/{made['id']}", {"interval_minutes": 1, "interval_type": "days", "schedule_enabled": True}
    )
    assert changed["status"] == "scheduled"
    assert stage.now <= seconds(changed["next_run_at"]) < stage.now + DAY


async def test_schedulers_are_signalled_for_jobs_that_are_due_at_once(stage: Stage):
    async with stage.platform.signals.listen(DUE_TOPIC) as heard:
        recurring = await stage.recurring()
        assert recurring["next_run_at"] == shown(stage.now), "the present slot is the emptiest"
        await stage.ask("POST", f"/api/v1/jobs/{recurring['id']}/pause")
        await stage.ask("POST", f"/api/v1/jobs/{recurring['id']}/resume")
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(anext(heard), 0.05)
        await stage.ask("POST", f"/api/v2/jobs/{recurring['id']}/force-run", expect=202)
        await asyncio.wait_for(anext(heard), 60)
        await stage.job()
        await asyncio.wait_for(anext(heard), 60)


async def test_a_job_that_waits_can_be_scheduled_by_name(stage: Stage):
    once = await stage.job()
    changed = await stage.ask("PUT", f"/api/v1/jobs/{once['id']}", {"status": "scheduled"})
    assert (changed["status"], changed["next_run_at"]) == ("scheduled", once["next_run_at"])
    assert await stage.run() == 1
    assert (await stage.get(once))["status"] == "completed"


async def test_a_source_has_one_recurring_job(stage: Stage):
    first = await stage.recurring(30)
    source = first["source_id"]
    again = await stage.job(source, interval_minutes=2, interval_type="hours", schedule_enabled=True, max_retries=1)
    assert (again["id"], again["interval_minutes"], again["max_retries"]) == (first["id"], 2, 1)
    once = await stage.job(source)
    assert once["id"] != first["id"]
    assert (await stage.get(first))["interval_type"] == "hours", "a run once now does not touch it"
    other = await stage.recurring(30)
    said = await stage.ask("PUT", f"/api/v1/jobs/{other['id']}", {"source_id": source}, 409)
    assert "recurring" in said["error"]
    await stage.ask("POST", f"/api/v1/jobs/{first['id']}/cancel")
    assert (await stage.job(source, interval_minutes=5, schedule_enabled=True))["id"] != first["id"]


async def test_a_recurring_job_that_is_made_again_goes_on(stage: Stage):
    first = await stage.recurring(6, "hours")
    path = f"/api/v1/jobs/{first['id']}"
    again = {"source_id": first["source_id"], "count": 3, "unit": "hours"}
    await stage.ask("POST", f"{path}/pause")
    made = await asyncio.gather(*(stage.recurring(**again) for _ in range(4)))
    assert {(job["id"], job["status"], job["is_paused"]) for job in made} == {(first["id"], "scheduled", False)}
    assert "next_run_at" in await stage.get(first)
    await stage.ask("PATCH", f"/api/v1/sources/{first['source_id']}/disable")
    assert (await stage.recurring(**again))["status"] == "paused", "its source may not be crawled"


async def test_lists_are_filtered_sorted_and_paged(stage: Stage):
    made = [await stage.job(f"src-{n}", source_name=name) for n, name in enumerate(["Beta", "alpha", None])]
    stage.advance(1)
    await stage.ask("POST", f"/api/v1/jobs/{made[0]['id']}/cancel")
    ids = [job["id"] for job in made]

    async def listed(query: str) -> list[int]:
        found = await stage.ask("GET", f"/api/v1/jobs?{query}")
        return [ids.index(job["id"]) for job in found["jobs"]]

    assert await listed("") == [2, 1, 0]
    assert await listed("sort_order=asc") == [0, 1, 2]
    assert await listed("sort_by=nonsense&sort_order=up") == [2, 1, 0]
    assert await listed("status=cancelled,paused") == [0]
    assert await listed("status=running") == []
    assert await listed("source_id=src-1") == [1]
    assert await listed("search=ALPH") == [1]
    assert await listed("search=%25") == [], "no sign of LIKE's own"
    assert await listed("search=news.example") == [2, 1, 0]
    assert await listed("sort_by=source_name&sort_order=asc") in ([0, 1, 2], [1, 0, 2])
    assert (await listed("sort_by=source_name&sort_order=desc"))[-1] == 2, "an absent value is last"
    assert (await listed("sort_by=next_run_at&sort_order=desc"))[0] == 0, "here an absent value is first"
    assert (await listed("sort_by=next_run_at&sort_order=asc"))[-1] == 0
    assert await listed("sort_by=status&sort_order=asc") in ([0, 1, 2], [0, 2, 1])
    assert await listed("limit=1&offset=1") == [1]
    assert await listed("limit=none&offset=-7") == [2, 1, 0]
    found = await stage.ask("GET", "/api/v1/jobs?limit=9999")
    assert {k: found[k] for k in found if k != "jobs"} == {
        "total": 3,
        "limit": 250,
        "offset": 0,
        "sort_by": "created_at",
        "sort_order": "desc",
    }
    counts = await stage.ask("GET", "/api/v1/jobs/status-counts")
    zero = dict.fromkeys(["scheduled", "running", "paused", "completed", "failed"], 0)
    assert counts == {"pending": 2, "cancelled": 1, **zero}


async def test_a_search_knows_letters_and_no_signs_of_its_own(stage: Stage):
    names = ["100%", "100_", "100\\", "10000", "Ünï straße", "ÄPFEL"]
    for name in names:
        await stage.job(source_name=name)

    async def found(text: str) -> set[str]:
        answer = await stage.client.get("/api/v1/jobs", params={"search": text})
        return {job["source_name"] for job in answer.json()["jobs"]}

    for name in names:
        assert await found(name) == {name}
    assert await found("Ünï STRA") == {"Ünï straße"}
    sources = await stage.client.get("/api/v1/sources", params={"search": "S1"})
    assert [source["name"] for source in sources.json()["sources"]] == ["s1"]


def in_order(made: list[Json], sort: str, order: str) -> list[Json]:
    """Return jobs in the order of a reader of the contract, from nothing but the fields shown."""
    falls, field = order == "desc", "started_at" if sort == "last_run_at" else sort
    jobs = list(reversed(made)) if falls else made
    there = sorted((job for job in jobs if field in job), key=lambda job: str(job[field]), reverse=falls)
    missing = [job for job in jobs if field not in job]
    return missing + there if falls and sort == "next_run_at" else there + missing


async def test_a_list_is_sorted_by_the_fields_that_it_shows(stage: Stage):
    made = [await stage.recurring(2, "days", source_name=name) for name in ("b", None, "aa", "a")]
    for job in made[:2]:
        await stage.ask("POST", f"/api/v2/jobs/{job['id']}/force-run", expect=202)
    await stage.run()
    made.append(await stage.job(source_name="c"))
    await stage.poll()
    made.append(await stage.job(None, max_retries=0, source_name=None))
    stage.advance(1)
    await stage.ask("POST", f"/api/v1/jobs/{made[2]['id']}/pause")
    await stage.ask("POST", f"/api/v1/jobs/{made[3]['id']}/cancel")
    jobs = [await stage.get(job) for job in made]
    assert {job["status"] for job in jobs} == {"scheduled", "running", "pending", "paused", "cancelled"}
    for sort in ("created_at", "updated_at", "status", "source_name", "next_run_at", "last_run_at", "type"):
        for order in ("asc", "desc"):
            found = await stage.ask("GET", f"/api/v1/jobs?sort_by={sort}&sort_order={order}")
            assert found["jobs"] == in_order(jobs, sort, order), (sort, order)


async def test_an_empty_list_is_a_list(stage: Stage):
    assert (await stage.ask("GET", "/api/v1/jobs"))["jobs"] == []


async def test_a_deleted_job_is_gone_with_its_executions(stage: Stage):
    made = await stage.job()
    await stage.run()
    [run] = await stage.runs(made)
    path = f"/api/v1/jobs/{made['id']}"
    assert await stage.ask("DELETE", path) == {"message": "Job deleted successfully"}
    for gone in (path, f"{path}/stats"):
        assert await stage.ask("GET", gone, expect=404) == {"error": "Job not found"}
    assert await stage.ask("DELETE", path, expect=404) == {"error": "Job not found"}
    assert await stage.ask("GET", f"/api/v1/executions/{run['id']}", expect=404) == {"error": "Execution not found"}
    assert (await stage.ask("GET", f"{path}/executions"))["executions"] == []


async def test_a_running_job_is_cancelled_before_it_is_deleted(stage: Stage):
    made = await stage.job()
    await stage.poll()
    assert (await stage.get(made))["status"] == "running"
    await stage.ask("DELETE", f"/api/v1/jobs/{made['id']}")
    assert not (await stage.platform.records.tasks.counts())["open"]


async def test_a_job_is_deleted_though_its_run_ends_during_the_deletion(stage: Stage, monkeypatch: pytest.MonkeyPatch):
    cancel = Schedules.cancel

    async def too_late(schedules: Schedules, uid: str) -> ScheduleRow:
        await stage.work()
        return await cancel(schedules, uid)

    monkeypatch.setattr(Schedules, "cancel", too_late)
    job = await stage.job()
    await stage.poll()
    await stage.ask("DELETE", f"/api/v1/jobs/{job['id']}")
    assert await stage.jobs() == []


async def test_the_id_undefined_is_400(stage: Stage):
    for path in ("", "/executions", "/stats"):
        assert await stage.ask("GET", f"/api/v1/jobs/undefined{path}", expect=400) == {"error": "Invalid job ID"}
    assert await stage.ask("POST", "/api/v2/jobs/undefined/force-run", expect=400) == {"error": "Invalid job ID"}


@pytest.mark.parametrize("said", [{"interval_minutes": 30, "schedule_enabled": True}, {"schedule_enabled": True}])
async def test_a_job_that_has_run_can_be_made_to_recur(stage: Stage, said: Json):
    made = await stage.job(interval_minutes=5)
    await stage.run()
    assert (await stage.get(made))["status"] == "completed"
    changed = await stage.ask("PUT", f"/api/v1/jobs/{made['id']}", said)
    assert changed["status"] == "scheduled"
    assert stage.now <= seconds(changed["next_run_at"]) < stage.now + 30 * MINUTE
    stage.until(seconds(changed["next_run_at"]))
    assert await stage.run() == 1, "and it runs"
    again = await stage.get(made)
    assert again["status"] == "scheduled"
    assert seconds(again["next_run_at"]) == seconds(changed["next_run_at"]) + said.get("interval_minutes", 5) * MINUTE
    assert len(await stage.runs(made)) == 2


async def test_a_job_that_has_run_and_is_not_to_recur_stays_completed(stage: Stage):
    made = await stage.job()
    await stage.run()
    for said in ({"interval_minutes": 30}, {"max_retries": 1}, {"url": "https://other.example/"}):
        assert (await stage.ask("PUT", f"/api/v1/jobs/{made['id']}", said))["status"] == "completed"


async def test_jobs_that_are_made_at_once_share_commits_and_lie_even(stage: Stage, monkeypatch: pytest.MonkeyPatch):
    """Hundreds of jobs made at once read the slots once for a group and not for each, and every slot has its share."""
    commits = 0
    database: Any = getattr(stage.platform.records.schedules, "_database")  # noqa: B009 - nothing else sees commits
    transact = database.transact

    async def counted(work: Any) -> Any:
        nonlocal commits
        commits += 1
        return await transact(work)

    monkeypatch.setattr(database, "transact", counted)
    bodies = [
        {
            "source_id": f"s{number}",
            "url": "https://a.example/",
            "interval_minutes": 1,
            "interval_type": "days",
            "schedule_enabled": True,
        }
        for number in range(192)
    ]
    made = await asyncio.gather(*(stage.ask("POST", "/api/v1/jobs", body, 201) for body in bodies))
    assert len({job["id"] for job in made}) == 192
    assert commits < 96, "the slots are read once in each commit"
    slots = Counter(int(seconds(job["next_run_at"])) // 900 for job in made)
    assert set(slots.values()) <= {1, 2, 3}
    assert len(slots) >= 96
    assert max(slots.values()) - min(slots.values()) <= 1
    resumed = [job["id"] for job in made[:50]]
    await asyncio.gather(*(stage.ask("POST", f"/api/v1/jobs/{uid}/pause") for uid in resumed))
    back = await asyncio.gather(*(stage.ask("POST", f"/api/v1/jobs/{uid}/resume") for uid in resumed))
    slots = Counter(int(seconds(job["next_run_at"])) // 900 for job in [*made[50:], *back])
    assert max(slots.values()) - min(slots.values()) <= 1, "resumed at once, each takes the emptiest slot"


async def test_jobs_of_one_source_that_are_made_at_once_are_one_job(stage: Stage):
    body = {"source_id": "s", "url": "https://a.example/", "interval_minutes": 30, "schedule_enabled": True}
    made = await asyncio.gather(*(stage.ask("POST", "/api/v1/jobs", body, 201) for _ in range(20)))
    assert len({job["id"] for job in made}) == 1
    assert len(await stage.jobs()) == 1


async def test_a_job_that_is_wrong_spoils_no_other_that_is_made_with_it(stage: Stage):
    good = {"url": "https://a.example/", "source_id": "s"}
    wrong = {"url": "https://a.example/", "interval_minutes": 0}
    asked = [stage.ask("POST", "/api/v1/jobs", *((good, 201) if number % 2 else (wrong, 400))) for number in range(20)]
    await asyncio.gather(*asked)
    assert len(await stage.jobs()) == 10
