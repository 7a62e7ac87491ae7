"""Sources over HTTP, in source-manager's shape; and jobs for all of them."""

import asyncio

from longline.model.source import NewSource
from tests.surfaces.intervals.stage import Stage, seconds

PATH = "/api/v1/sources"


async def test_a_source_comes_back_as_it_was_sent(stage: Stage):
    sent = {
        "name": "news",
        "url": "https://news.example/",
        "rate_limit": "10s",
        "max_depth": 2,
        "selectors": {"article": {"title": "h1"}},
        "article_url_patterns": ["/a/"],
        "feed_url": "https://news.example/feed",
        "identity_key": "news.example",
        "ingestion_mode": "both",
        "allow_source_discovery": True,
        "priority": "high",
    }
    made = await stage.ask("POST", PATH, sent, 201)
    assert {name: made[name] for name in sent} == sent
    assert {name: made[name] for name in ("enabled", "type", "render_mode", "feed_poll_interval_minutes", "time")} == {
        "enabled": True,
        "type": "news",
        "render_mode": "static",
        "feed_poll_interval_minutes": 15,
        "time": [],
    }
    assert made["id"] == "100000" or int(made["id"]) > 100_000
    assert await stage.ask("GET", f"{PATH}/{made['id']}") == made
    assert await stage.ask("GET", f"{PATH}/by-identity?identity_key=news.example") == made
    changed = await stage.ask("PUT", f"{PATH}/{made['id']}", {"rate_limit": 7, "feed_url": None, "name": "new"})
    assert (changed["rate_limit"], "feed_url" in changed, changed["name"], changed["max_depth"]) == (
        "7",
        False,
        "new",
        2,
    )
    await stage.ask("DELETE", f"{PATH}/{made['id']}", expect=204)
    assert await stage.ask("GET", f"{PATH}/{made['id']}", expect=404) == {"error": "Source not found"}
    assert await stage.ask("GET", f"{PATH}/undefined", expect=404) == {"error": "Source not found"}


async def test_what_is_wrong_is_400_and_a_taken_name_409(stage: Stage):
    made = await stage.source("taken")
    for body in (
        {},
        {"name": "a"},
        {"url": "https://a.example/"},
        {"name": "a", "url": "a.example"},
        {"name": 1, "url": "https://a.example/"},
        {"name": "a", "url": "https://a.example/", "max_depth": "2"},
        {"name": "a", "url": "https://a.example/", "rate_limit": []},
        {"name": "a", "url": "https://a.example/", "ingestion_mode": "all"},
        {"name": "a", "url": "https://a.example/", "selectors": "h1"},
    ):
        await stage.ask("POST", PATH, body, 400)
    await stage.ask("POST", PATH, {"name": "taken", "url": "https://a.example/"}, 409)
    await stage.ask("PUT", f"{PATH}/{made}", {"url": "nowhere"}, 400)
    assert (await stage.ask("GET", PATH))["total"] == 1


async def test_switches(stage: Stage):
    path = f"{PATH}/{await stage.source(feed_url='https://news.example/feed')}"
    off = await stage.ask("PATCH", f"{path}/disable", {"reason": "broken"})
    assert (off["enabled"], off["disable_reason"], seconds(off["disabled_at"])) == (False, "broken", stage.now)
    assert (await stage.ask("GET", f"{PATH}?enabled=true"))["sources"] == []
    on = await stage.ask("PATCH", f"{path}/enable")
    assert (on["enabled"], "disable_reason" in on) == (True, False)
    assert (await stage.ask("PATCH", f"{path}/feed-disable", {"reason": "gone"}))["feed_disable_reason"] == "gone"
    assert (await stage.ask("GET", f"{PATH}?feed_active=true"))["total"] == 0
    assert "feed_disabled_at" not in await stage.ask("PATCH", f"{path}/feed-enable")
    await stage.ask("PATCH", f"{path}/explode", expect=404)


async def test_a_budget_is_set_and_lifted(stage: Stage):
    made = await stage.ask("POST", PATH, {"name": "bounded", "url": "https://bounded.example/"}, 201)
    where = f"{PATH}/{made['id']}"
    assert "budget" not in made
    limited = await stage.ask("PUT", f"{where}/budget", {"budget": 3})
    assert (limited["budget"], limited["admitted"]) == (3, 0)
    assert await stage.ask("GET", where) == limited
    for wrong in ({}, {"budget": 0}, {"budget": -1}, {"budget": "3"}, {"budget": True}, {"budget": 10**30}):
        assert "budget" in (await stage.ask("PUT", f"{where}/budget", wrong, 400))["error"]
    assert "budget" not in await stage.ask("PUT", f"{where}/budget", {"budget": None})
    assert "budget" not in await stage.ask("GET", where)
    await stage.ask("PUT", f"{PATH}/7/budget", {"budget": 3}, 404)


async def test_lists_come_in_pages(stage: Stage):
    for n in range(5):
        await stage.source(f"s{n}")
    first = await stage.ask("GET", f"{PATH}?limit=2&page=2&sort_by=name&sort_order=desc")
    assert [one["name"] for one in first["sources"]] == ["s2", "s1"]
    assert {k: first[k] for k in first if k != "sources"} == {"total": 5, "page": 2, "per_page": 2, "total_pages": 3}
    found = await stage.ask("GET", f"{PATH}?search=S3")
    assert [one["name"] for one in found["sources"]] == ["s3"]
    assert (await stage.ask("GET", f"{PATH}?limit=9999"))["per_page"] == 500


async def test_three_hundred_sources_get_their_jobs(stage: Stage):
    await stage.source("off", enabled=False)
    add = stage.house.records.sources.add
    rows = await asyncio.gather(*(add(NewSource(f"s{n}", f"https://s{n}.example/")) for n in range(300)))
    sources = [str(row.id) for row in rows]
    done = await stage.ask("POST", "/api/v1/admin/sync-enabled-sources")
    assert (done["sources_seen"], done["sources_enabled"]) == (301, 300)
    assert (sorted(done["created"]), len(done["skipped_disabled"]), "errors" in done) == (sorted(sources), 1, False)
    times = {job["source_id"]: job["next_run_at"] for job in await stage.jobs()}
    assert len(set(times.values())) > 100, "they do not start together"
    again = await stage.ask("POST", "/api/v1/admin/sync-enabled-sources")
    assert (again["created"], len(again["already_has_job"])) == ([], 300)
    assert {job["source_id"]: job["next_run_at"] for job in await stage.jobs()} == times


async def test_an_hourly_job_made_for_a_source_runs_hourly(stage: Stage):
    await stage.source("news", rate_limit=10)
    await stage.ask("POST", "/api/v1/admin/sync-enabled-sources")
    [job] = await stage.jobs()
    assert (job["interval_minutes"], job["interval_type"], job["auto_managed"]) == (60, "minutes", True)
    first = seconds(job["next_run_at"])
    stage.until(first)
    await stage.run()
    assert seconds((await stage.get(job))["next_run_at"]) == first + 3600


async def test_a_disabled_source_is_not_crawled_until_it_is_enabled(stage: Stage):
    job = await stage.recurring(30)
    path = f"{PATH}/{job['source_id']}"
    stage.until(seconds(job["next_run_at"]))
    await stage.poll()
    await stage.ask("PATCH", f"{path}/disable", {"reason": "broken"})
    found = await stage.get(job)
    assert (found["status"], found["is_paused"], "next_run_at" in found) == ("paused", True, False)
    [run] = await stage.runs(job)
    assert (run["status"], run["error_message"]) == ("cancelled", "the source was disabled")
    assert not (await stage.house.records.tasks.counts())["open"]
    assert (await stage.ask("POST", "/api/v1/admin/sync-enabled-sources"))["resumed"] == []
    assert (await stage.get(job))["status"] == "paused"
    await stage.ask("PATCH", f"{path}/enable")
    found = await stage.get(job)
    assert (found["status"], seconds(found["next_run_at"])) == ("scheduled", stage.now)
    await stage.ask("POST", f"/api/v1/jobs/{job['id']}/pause")
    await stage.ask("PATCH", f"{path}/disable")
    await stage.ask("PATCH", f"{path}/enable")
    assert (await stage.get(job))["status"] == "paused", "a person's word stands"


async def test_enabling_gives_a_source_its_job(stage: Stage):
    source = await stage.source("quiet", enabled=False)
    await stage.ask("PATCH", f"{PATH}/{source}/enable")
    [job] = await stage.jobs()
    assert (job["source_id"], job["auto_managed"], seconds(job["next_run_at"])) == (source, True, stage.now)
    await stage.ask("POST", f"/api/v2/jobs/{job['id']}/force-run", expect=202)
    await stage.ask("PATCH", f"{PATH}/{source}/disable")
    assert (await stage.get(job))["status"] == "paused"
