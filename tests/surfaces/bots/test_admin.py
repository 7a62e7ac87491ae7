"""Administration at the bots' door: policies, jobs, results, bots and the page of figures."""

import asyncio
from typing import Any
from uuid import uuid4

import pytest

from tests.surfaces.bots.running import URL, Door, data, error, plan, running, store_pattern

# -- access ------------------------------------------------------------------------------------------------------

PATHS = [
    ("GET", "policies"),
    ("POST", "policies"),
    ("GET", "policies/x"),
    ("PATCH", "policies/x"),
    ("DELETE", "policies/x"),
    ("GET", "jobs"),
    ("POST", "jobs"),
    ("GET", "jobs/x"),
    ("DELETE", "jobs/x"),
    ("POST", "jobs/mark-pending"),
    ("POST", "jobs/mark-expired"),
    ("POST", "jobs/reset-lock"),
    ("GET", "results"),
    ("GET", "results/x"),
    ("GET", "bots"),
    ("GET", "bots/x"),
    ("POST", "bots"),
    ("PATCH", "bots/x"),
    ("POST", "bots/x/rotate-token"),
    ("POST", "bots/x/reset-statistics"),
    ("POST", "create-jobs"),
    ("POST", "expire-locks"),
    ("POST", "urls"),
    ("GET", "dashboard"),
]


async def test_requests_without_an_admins_token_are_refused(door: Door):
    for method, path in PATHS:
        where = f"/api/crawl/admin/{path}"
        answer = await door.client.request(method, where)
        assert error(answer) == (401, "authentication_error", "Authentication credentials were not provided."), path
        assert answer.headers["WWW-Authenticate"] == "Bearer"
        answer = await door.client.request(method, where, headers={"Authorization": "Bearer nonsense"})
        assert error(answer) == (401, "authentication_error", "Invalid token."), path
        answer = await door.client.request(method, where, headers=door.anybody)
        assert error(answer)[:2] == (403, "authentication_error"), path


async def test_unknown_ids_are_not_found(door: Door):
    nobody = str(uuid4())
    for path, code in (("policies", "policy"), ("jobs", "job"), ("results", "result")):
        answer = await door.manage("GET", f"{path}/{nobody}")
        assert error(answer) == (404, f"{code}_not_found", f"{code.capitalize()} {nobody} not found")
    for method in ("PATCH", "DELETE"):
        assert error(await door.manage(method, f"policies/{nobody}", json={}))[1] == "policy_not_found"
    assert error(await door.manage("PATCH", "bots/nobody", json={}))[:2] == (404, "bot_not_found")
    assert error(await door.manage("POST", "bots/nobody/rotate-token"))[:2] == (404, "bot_not_found")


async def test_results_cannot_be_edited(door: Door):
    told = data(await door.submit(await door.held()), 201)
    for method in ("PATCH", "PUT", "DELETE", "POST"):
        answer = await door.manage(method, f"results/{told['result_id']}", json={"price": 1})
        assert answer.status_code == 405, method


# -- policies ---------------------------------------------------------------------------------------------------


async def test_a_policy_with_nothing_but_its_url(door: Door):
    made = await door.policy()
    assert made == {
        "id": made["id"],
        "url": URL,
        "domain": None,
        "name": None,
        "url_pattern": None,
        "frequency_hours": 24,
        "priority": 5,
        "max_retries": 3,
        "retry_backoff_minutes": 5,
        "timeout_minutes": 10,
        "enabled": True,
        "next_run_at": door.after(),
        "last_success_at": None,
        "last_failed_at": None,
        "failure_count": 0,
        "crawl_config": {},
        "created_at": door.after(),
        "updated_at": door.after(),
    }
    assert await door.get(f"policies/{made['id']}") == made
    assert await door.get("policies") == {"policies": [made], "count": 1, "limit": 50, "offset": 0}


async def test_a_policy_with_every_field(door: Door):
    asked: dict[str, Any] = {
        "frequency_hours": 168,
        "priority": 20,
        "max_retries": 0,
        "retry_backoff_minutes": 1,
        "timeout_minutes": 2,
        "enabled": False,
        "next_run_at": "2030-01-02T03:04:05Z",
        "crawl_config": {"headers": {"X": "1"}, "render": True},
    }
    made = await door.policy(**asked)
    assert {name: made[name] for name in asked} == asked


WRONG_POLICIES: list[tuple[dict[str, Any], str, str]] = [
    ({}, "non_field_errors", "Exactly one of url and domain must be set."),
    ({"url": URL, "domain": "example.com"}, "non_field_errors", "Exactly one of url and domain must be set."),
    ({"domain": "example.com"}, "name", "This field is required."),
    ({"url": "example.com"}, "url", "Enter a valid URL."),
    ({"url": "ftp://example.com/"}, "url", "Enter a valid URL."),
    ({"url": URL + "x" * 2048}, "url", "Ensure this field has no more than 2048 characters."),
    ({"url": URL, "priority": 21}, "priority", "Ensure this value is less than or equal to 20."),
    ({"url": URL, "priority": 0}, "priority", "Ensure this value is greater than or equal to 1."),
    ({"url": URL, "frequency_hours": 0}, "frequency_hours", "Ensure this value is greater than or equal to 1."),
    ({"url": URL, "max_retries": -1}, "max_retries", "Ensure this value is greater than or equal to 0."),
    (
        {"url": URL, "timeout_minutes": 2**31},
        "timeout_minutes",
        "Ensure this value is less than or equal to 2147483647.",
    ),
    ({"url": URL, "enabled": "on"}, "enabled", "Must be a valid boolean."),
    ({"url": URL, "crawl_config": 1}, "crawl_config", 'Expected a dictionary of items but got type "int".'),
]


async def test_a_policy_that_is_wrong(door: Door):
    for sent, field, message in WRONG_POLICIES:
        code, kind, detail = error(await door.manage("POST", "policies", json=sent))
        assert (code, kind) == (400, "validation_error")
        assert detail[field] == [message], sent
    assert error(await door.manage("POST", "policies", json={"url": URL, "next_run_at": "soon"}))[0] == 400


async def test_a_field_that_has_no_null_is_not_set_to_it(door: Door):
    made = await door.policy()
    await door.post("bots", bot_id="b")
    nothing = ["This field may not be null."]
    for name in ("frequency_hours", "priority", "max_retries", "retry_backoff_minutes", "timeout_minutes", "enabled"):
        for method, path in (("PATCH", f"policies/{made['id']}"), ("POST", "policies")):
            answer = await door.manage(method, path, json={name: None, "url": f"{URL}/2"})
            assert error(answer) == (400, "validation_error", {name: nothing}), (method, name)
    for name in ("next_run_at", "crawl_config"):
        answer = await door.manage("PATCH", f"policies/{made['id']}", json={name: None})
        assert error(answer)[2] == {name: nothing}
    for name in ("name", "description", "enabled", "max_jobs_per_pull", "priority_boost", "allowed_domains"):
        assert error(await door.manage("PATCH", "bots/b", json={name: None}))[2] == {name: nothing}, name
    for name in ("priority", "max_retries", "timeout_minutes"):
        assert error(await door.manage("POST", "jobs", json={"url": URL, name: None}))[2] == {name: nothing}, name
    for name in ("limit", "dry_run"):
        assert error(await door.manage("POST", "create-jobs", json={name: None}))[2] == {name: nothing}, name
    assert await door.get(f"policies/{made['id']}") == made


async def test_one_policy_for_one_url(door: Door):
    first = await door.policy()
    answer = await door.manage("POST", "policies", json={"url": URL})
    assert error(answer) == (400, "validation_error", {"url": ["A policy with this url already exists."]})
    other = await door.policy("https://example.com/other")
    answer = await door.manage("PATCH", f"policies/{other['id']}", json={"url": URL})
    assert error(answer)[2] == {"url": ["A policy with this url already exists."]}
    assert (await door.get(f"policies/{other['id']}"))["url"] == "https://example.com/other"
    data(await door.manage("DELETE", f"policies/{first['id']}"), 200)
    data(await door.manage("PATCH", f"policies/{other['id']}", json={"url": URL}), 200)


async def test_a_policy_is_changed_and_its_jobs_are_not(door: Door):
    made = await door.policy()
    plan(door)
    changes = {"priority": 10, "max_retries": 1, "timeout_minutes": 1, "frequency_hours": 6, "crawl_config": {"a": 1}}
    door.clock.advance(1)
    changed = data(await door.manage("PATCH", f"policies/{made['id']}", json=changes), 200)
    assert changed == made | changes | {"updated_at": door.after()}
    [job] = (await door.get("jobs"))["jobs"]
    assert [job[name] for name in ("priority", "max_retries", "timeout_minutes", "lock_ttl_seconds")] == [5, 3, 10, 600]


async def test_a_disabled_policy_makes_no_jobs_but_those_it_has_are_handed_out(door: Door):
    made = await door.policy()
    plan(door)
    off = data(await door.manage("PATCH", f"policies/{made['id']}", json={"enabled": False}), 200)
    assert off["enabled"] is False
    again = data(await door.manage("PATCH", f"policies/{made['id']}", json={"enabled": False}), 200)
    assert again["enabled"] is False, "twice is no error"
    [job] = (await door.pull())["jobs"]
    data(await door.submit(job["job_id"]), 201)
    door.clock.advance(25 * 3600)
    assert plan(door) == 0
    data(await door.manage("PATCH", f"policies/{made['id']}", json={"enabled": True}), 200)
    assert plan(door) == 1


async def test_policies_are_found_and_paged(door: Door):
    for n in range(3):
        await door.policy(f"https://example.com/{n}", priority=1 + n, enabled=n != 1)
    urls = [policy["url"][-1] for policy in (await door.get("policies"))["policies"]]
    assert urls == ["2", "1", "0"]
    assert [p["url"][-1] for p in (await door.get("policies?limit=1&offset=1"))["policies"]] == ["1"]
    assert [p["url"][-1] for p in (await door.get("policies?enabled=false"))["policies"]] == ["1"]
    assert [p["url"][-1] for p in (await door.get("policies?priority=3"))["policies"]] == ["2"]
    for bad in ("limit=0", "limit=201", "offset=-1", "enabled=maybe", "priority=x"):
        assert error(await door.manage("GET", f"policies?{bad}"))[:2] == (400, "validation_error"), bad


async def test_a_deleted_policy_takes_its_jobs_and_results_along(door: Door):
    made = await door.policy()
    other = await door.job("https://example.com/other")
    plan(door)
    jobs = {job["url"]: job["job_id"] for job in (await door.pull())["jobs"]}
    told = data(await door.submit(jobs[URL], success=True, price=1, currency="USD", raw_html="<p>"), 201)
    door.clock.advance(24 * 3600)
    plan(door)
    open_job = next(j for j in (await door.get("jobs"))["jobs"] if j["status"] == "pending")
    gone = data(await door.manage("DELETE", f"policies/{made['id']}"), 200)
    assert gone == {"id": made["id"], "deleted": True}
    for path in (
        f"policies/{made['id']}",
        f"jobs/{jobs[URL]}",
        f"jobs/{open_job['id']}",
        f"results/{told['result_id']}",
    ):
        assert (await door.manage("GET", path)).status_code == 404, path
    pulled = await door.pull("b")
    assert [job["job_id"] for job in pulled["jobs"]] == [other], "its lock lapsed"
    assert [job["id"] for job in (await door.get("jobs"))["jobs"]] == [other]
    assert (await door.policy())["url"] == URL, "the URL is free again"


# -- a domain's policy ------------------------------------------------------------------------------------------


async def test_a_domains_policy_is_spread_over_known_urls(door: Door):
    urls = [f"https://{host}/{path}" for host in ("example.com", "www.example.com:81", "else.org") for path in "ab"]
    assert await door.post("urls", urls=[*urls, urls[0]]) == {"added": 6}
    assert await door.post("urls", urls=urls) == {"added": 0}
    made = await door.post("policies", domain="Example.com", name="a pages", url_pattern="/a$", priority=7)
    assert [made[name] for name in ("url", "domain", "name", "url_pattern")] == [None, "example.com", "a pages", "/a$"]
    assert await door.post("create-jobs", 200) == {"created": 2, "skipped": 0}
    assert await door.post("create-jobs", 200) == {"created": 0, "skipped": 2}, "one open job for each URL"
    pulled = (await door.pull())["jobs"]
    assert {job["url"] for job in pulled} == {"https://example.com/a", "https://www.example.com:81/a"}
    data(await door.submit(pulled[0]["job_id"]), 201)
    assert (await door.get(f"policies/{made['id']}"))["next_run_at"] == door.after(hours=24)
    door.clock.advance(24 * 3600)
    assert await door.post("create-jobs", 200) == {"created": 1, "skipped": 1}


async def test_an_empty_pattern_matches_everything(door: Door):
    await door.post("urls", urls=["https://example.com/a"])
    await door.post("policies", domain="example.com", name="all")
    assert await door.post("create-jobs", 200) == {"created": 1, "skipped": 0}


@pytest.mark.parametrize("pattern", ["(", "(?=a)b", r"(a)\1", "(a?){990}b"])
async def test_a_pattern_that_cannot_be_compiled_is_refused(door: Door, pattern: str):
    sent = {"domain": "example.com", "name": "broken", "url_pattern": pattern}
    answer = await door.manage("POST", "policies", json=sent)
    assert error(answer)[:2] == (400, "validation_error")
    assert set(error(answer)[2]) == {"url_pattern"}
    made = await door.post("policies", domain="example.com", name="good", url_pattern="/a$")
    answer = await door.manage("PATCH", f"policies/{made['id']}", json={"url_pattern": pattern})
    assert set(error(answer)[2]) == {"url_pattern"}


async def test_a_pattern_that_would_backtrack_for_ever_is_searched_at_once(door: Door):
    await door.post("urls", urls=[f"https://example.com/{'a' * 60}!", "https://example.com/aaa"])
    await door.post("policies", domain="example.com", name="hostile", url_pattern="(a+)+$")
    assert await door.post("create-jobs", 200) == {"created": 1, "skipped": 0}


async def test_a_stored_pattern_that_cannot_be_used_matches_nothing_and_stops_no_other_policy(door: Door):
    await door.post("urls", urls=["https://example.com/a"])
    made = await door.post("policies", domain="example.com", name="old", url_pattern="/a")
    store_pattern(door, made["id"], "(?=a)")
    await door.post("policies", domain="example.com", name="new", url_pattern="/a")
    assert await door.post("create-jobs", 200) == {"created": 1, "skipped": 0}


async def test_a_pattern_is_searched_in_every_known_url_however_many_there_are(door: Door):
    await door.post("urls", urls=[f"https://example.com/{n}" for n in range(1000)])
    await door.post("urls", urls=[f"https://example.com/{n}" for n in range(1000, 1500)])
    await door.post("policies", domain="example.com", name="ends in 7", url_pattern="7$")
    assert await door.post("create-jobs", 200) == {"created": 150, "skipped": 0}


async def test_a_name_within_a_domain_is_taken_once(door: Door):
    await door.post("policies", domain="example.com", name="all")
    answer = await door.manage("POST", "policies", json={"domain": "example.com", "name": "all"})
    assert error(answer)[2] == {"non_field_errors": ["The fields domain, name must make a unique set."]}
    await door.post("policies", domain="example.org", name="all")


async def test_a_policy_keeps_its_form(door: Door):
    one = await door.policy()
    other = await door.post("policies", domain="example.com", name="all")
    answer = await door.manage("PATCH", f"policies/{one['id']}", json={"domain": "a.com", "url_pattern": "x"})
    assert set(error(answer)[2]) == {"domain", "url_pattern"}
    assert set(error(await door.manage("PATCH", f"policies/{other['id']}", json={"url": URL}))[2]) == {"url"}


async def test_urls_that_are_none(door: Door):
    for sent in ({}, {"urls": "x"}, {"urls": ["x"]}, {"urls": [7]}):
        assert error(await door.manage("POST", "urls", json=sent))[:2] == (400, "validation_error")


# -- jobs -------------------------------------------------------------------------------------------------------


async def test_a_one_off_job(door: Door):
    made = await door.post("jobs", url=URL, priority=20, max_retries=1, timeout_minutes=2)
    assert made == {
        "id": made["id"],
        "policy_id": None,
        "url": URL,
        "status": "pending",
        "priority": 20,
        "max_retries": 1,
        "timeout_minutes": 2,
        "lock_ttl_seconds": 120,
        "locked_by": None,
        "locked_at": None,
        "locked_until": None,
        "retry_count": 0,
        "last_error": None,
        "last_result_at": None,
        "expiry_count": 0,
        "created_at": door.after(),
        "updated_at": door.after(),
    }
    assert await door.get(f"jobs/{made['id']}") == made | {"result": None}
    assert error(await door.manage("POST", "jobs", json={}))[2] == {"url": ["This field is required."]}
    again = await door.post("jobs", url=URL)
    assert again["id"] != made["id"], "one URL may have any number of one-off jobs"


async def test_jobs_are_found(door: Door):
    a, b, c, d = [
        await door.job(f"https://example.com/{n}", priority=p, max_retries=0)
        for n, p in zip("abcd", (20, 10, 5, 1), strict=True)
    ]
    await door.pull("one", max_jobs=2)
    await door.pull("two", max_jobs=1)
    data(await door.submit(a, "one"), 201)
    await door.fail(b, "one")

    async def found(query: str) -> list[str]:
        return [job["id"] for job in (await door.get(f"jobs?{query}"))["jobs"]]

    assert await found("") == [d, c, b, a]
    wanted = {"pending": [d], "locked": [c], "done": [a], "failed": [b], "expired": []}
    for status, jobs in wanted.items():
        assert await found(f"status={status}") == jobs, status
    assert await found("bot_id=two") == [c]
    assert await found("search=com/d") == [d]
    assert await found("priority=10") == [b]
    assert await found("limit=2&offset=1") == [c, b]
    assert error(await door.manage("GET", "jobs?status=lost"))[2] == {"status": ['"lost" is not a valid choice.']}


async def test_mark_as_pending(door: Door):
    jobs = [await door.job(f"https://example.com/{n}", max_retries=0) for n in range(4)]
    await door.pull("bot-001", max_jobs=3)
    first = data(await door.submit(jobs[0], success=True, price=1, currency="USD"), 201)
    await door.fail(jobs[1])
    assert await door.post("jobs/mark-pending", 200, ids=[*jobs, str(uuid4()), "x"]) == {"changed": 3}
    rows = [await door.get(f"jobs/{job}") for job in jobs]
    assert [(row["status"], row["retry_count"], row["locked_by"]) for row in rows] == [("pending", 0, None)] * 4
    assert rows[0]["result"]["id"] == first["result_id"], "kept until there is a better one"
    assert (await door.pull("bot-002"))["count"] == 4
    assert error(await door.submit(jobs[2]))[1] == "not_assigned"
    second = data(await door.submit(jobs[0], "bot-002", success=True, price=2, currency="USD"), 201)
    [result] = (await door.get("results"))["results"]
    assert (result["id"], result["price"]) == (second["result_id"], 2), "replaced"


async def test_mark_as_pending_keeps_the_retries_of_a_job_that_has_not_ended(door: Door):
    job = await door.held()
    await door.fail(job)
    await door.pull()
    assert await door.post("jobs/mark-pending", 200, ids=[job]) == {"changed": 1}
    assert (await door.get(f"jobs/{job}"))["retry_count"] == 1
    assert await door.post("jobs/mark-pending", 200, ids=[job]) == {"changed": 0}, "it is pending already"


async def test_a_job_is_not_opened_again_beside_its_successor(door: Door):
    await door.policy()
    plan(door)
    [job] = (await door.pull())["jobs"]
    data(await door.submit(job["job_id"]), 201)
    door.clock.advance(24 * 3600)
    plan(door)
    assert await door.post("jobs/mark-pending", 200, ids=[job["job_id"]]) == {"changed": 0}
    [successor] = (await door.pull())["jobs"]
    data(await door.submit(successor["job_id"]), 201)
    both = [job["job_id"], successor["job_id"]]
    assert await door.post("jobs/mark-pending", 200, ids=both) == {"changed": 1}, "one of them"
    assert await door.post("create-jobs", 200) == {"created": 0, "skipped": 0}, "it is not due"


async def test_mark_as_expired_and_reset_lock_change_locked_jobs_only(door: Door):
    for action, became in (("mark-expired", "expired"), ("reset-lock", "pending")):
        for ids in ({"ids": "x"}, {}, {"ids": [7]}):
            assert error(await door.manage("POST", f"jobs/{action}", json=ids))[:2] == (400, "validation_error")
        jobs = [await door.job(f"https://{action}.example/{n}") for n in range(3)]
        await door.pull("bot-001", max_jobs=2, domain=f"{action}.example")
        await door.fail(jobs[1])
        await door.pull("bot-001", max_jobs=1, domain=f"{action}.example")
        data(await door.submit(jobs[0]), 201)
        assert await door.post(f"jobs/{action}", 200, ids=jobs) == {"changed": 1}
        rows = [await door.get(f"jobs/{job}") for job in jobs]
        assert [row["status"] for row in rows] == ["done", became, "pending"]
        assert (rows[1]["locked_by"], rows[1]["retry_count"]) == (None, 1)
        assert error(await door.submit(jobs[1])) == (
            400,
            "job_not_locked",
            f"Job is in {became} state, expected locked",
        )
        again = [job["job_id"] for job in (await door.pull("bot-002", domain=f"{action}.example"))["jobs"]]
        assert again == jobs[1:]
        assert (await door.get(f"jobs/{jobs[1]}"))["expiry_count"] == (1 if became == "expired" else 0)


# -- deleting jobs ----------------------------------------------------------------------------------------------


async def test_a_job_is_deleted_with_its_result_and_page(door: Door):
    async def kept() -> list[str]:
        return [found.key async for found in door.stage.platform.blobs.list("bots")]

    before = set(door.stage.call(kept()))
    job = await door.held()
    sent: dict[str, Any] = {"success": True, "price": 1, "currency": "USD", "raw_html": "<p>"}
    told = data(await door.submit(job, **sent), 201)
    assert data(await door.manage("DELETE", f"jobs/{job}"), 200) == {"id": job, "deleted": True}
    for path, code in ((f"jobs/{job}", "job_not_found"), (f"results/{told['result_id']}", "result_not_found")):
        assert error(await door.manage("GET", path))[:2] == (404, code)
    assert set(door.stage.call(kept())) == before
    assert error(await door.manage("DELETE", f"jobs/{job}")) == (404, "job_not_found", f"Job {job} not found")
    assert (await door.get("results"))["results"] == []


async def test_a_job_that_is_locked_is_not_deleted(door: Door):
    job = await door.held("bot-001")
    refused = (409, "job_locked", "Job locked by bot-001, it cannot be deleted while it is locked")
    assert error(await door.manage("DELETE", f"jobs/{job}")) == refused
    door.clock.advance(601)
    assert error(await door.manage("DELETE", f"jobs/{job}")) == refused, "a lapsed lock counts until it is taken back"
    assert await door.post("jobs/mark-expired", 200, ids=[job]) == {"changed": 1}
    data(await door.manage("DELETE", f"jobs/{job}"), 200)
    assert (await door.pull())["count"] == 0
    assert error(await door.submit(job)) == (404, "job_not_found", f"Job {job} not found")


async def test_a_policy_gets_another_job_after_its_open_job_is_deleted(door: Door):
    made = await door.policy()
    plan(door)
    [job] = (await door.get("jobs"))["jobs"]
    data(await door.manage("DELETE", f"jobs/{job['id']}"), 200)
    assert await door.get(f"policies/{made['id']}") == made, "a deleted job leaves its policy unchanged"
    assert plan(door) == 1
    assert (await door.pull())["count"] == 1
    assert (await door.get("dashboard"))["jobs"] == {"pending": 0, "locked": 1, "done": 0, "failed": 0, "expired": 0}
    [run] = door.stage.call(door.stage.platform.records.runs.find())
    assert (run.admitted, run.open, run.cancelled) == (2, 1, 1)


async def test_a_job_is_deleted_or_pulled_never_both(door: Door):
    jobs = [await door.job(f"https://example.com/{n}") for n in range(20)]
    pulls, *deletions = await asyncio.gather(
        door.pull(max_jobs=20), *(door.manage("DELETE", f"jobs/{job}") for job in jobs)
    )
    pulled = {job["job_id"] for job in pulls["jobs"]}
    deleted = {job for job, answer in zip(jobs, deletions, strict=True) if answer.status_code == 200}
    assert (pulled | deleted, pulled & deleted) == (set(jobs), set())


async def test_an_id_that_differs_in_a_digit_is_another_jobs(door: Door):
    job = await door.held()
    forged = ("1" if job[0] == "0" else "0") + job[1:]
    for action in ("mark-pending", "mark-expired", "reset-lock"):
        assert await door.post(f"jobs/{action}", 200, ids=[forged]) == {"changed": 0}, action
    assert error(await door.manage("DELETE", f"jobs/{forged}"))[:2] == (404, "job_not_found")
    assert await door.status(job) == "locked"


# -- results ----------------------------------------------------------------------------------------------------


async def test_results_are_found(door: Door):
    for n, (currency, in_stock) in enumerate((("USD", True), ("EUR", True), ("USD", False))):
        job = await door.held(url=f"https://example.com/{n}")
        data(await door.submit(job, success=True, price=n, currency=currency, in_stock=in_stock), 201)

    async def found(query: str) -> list[float]:
        return [result["price"] for result in (await door.get(f"results?{query}"))["results"]]

    assert await found("") == [2, 1, 0]
    assert await found("currency=usd") == [2, 0]
    assert await found("in_stock=true") == [1, 0]
    assert await found("limit=1&offset=2") == [0]


# -- bots -------------------------------------------------------------------------------------------------------


async def test_a_bot_is_registered_and_its_token_shown_once(door: Door):
    made = await door.post("bots", bot_id="shop-1", name="Shop", description="prices")
    token = made.pop("api_token")
    assert token.startswith("bot_shop-1_")
    assert len(token) == len("bot_shop-1_") + 43
    assert made == {
        "bot_id": "shop-1",
        "name": "Shop",
        "description": "prices",
        "token_preview": token[:20],
        "enabled": True,
        "max_jobs_per_pull": 10,
        "custom_lock_ttl_seconds": None,
        "rate_limit_per_minute": 60,
        "priority_boost": 0,
        "allowed_domains": [],
        "total_jobs_pulled": 0,
        "total_jobs_completed": 0,
        "total_jobs_failed": 0,
        "success_rate": 0.0,
        "last_pull_at": None,
        "last_submit_at": None,
        "token_expires_at": None,
        "created_at": door.after(),
        "updated_at": door.after(),
    }
    assert (await door.get("bots"))["bots"] == [made]
    answer = await door.manage("POST", "bots", json={"bot_id": "shop-1"})
    assert error(answer) == (400, "validation_error", {"bot_id": ["A bot with this bot_id already exists."]})
    await door.post("bots", bot_id="Shop-1")


async def test_a_bot_that_showed_up_before_it_was_registered_keeps_its_figures(door: Door):
    await door.held("early")
    assert (await door.get("bots"))["bots"] == []
    assert (await door.post("bots", bot_id="early"))["total_jobs_pulled"] == 1


async def test_a_bot_is_changed(door: Door):
    await door.post("bots", bot_id="b")
    changes = {
        "name": "B",
        "description": "d",
        "enabled": False,
        "max_jobs_per_pull": 3,
        "custom_lock_ttl_seconds": 30,
        "rate_limit_per_minute": 7,
        "priority_boost": -10,
        "allowed_domains": ["example.com"],
        "token_expires_at": "2030-01-01T00:00:00Z",
    }
    changed = data(await door.manage("PATCH", "bots/b", json=changes), 200)
    assert {name: changed[name] for name in changes} == changes
    back = data(
        await door.manage("PATCH", "bots/b", json={"custom_lock_ttl_seconds": None, "allowed_domains": []}), 200
    )
    assert (back["custom_lock_ttl_seconds"], back["allowed_domains"], back["max_jobs_per_pull"]) == (None, [], 3)
    for wrong in ({"max_jobs_per_pull": 0}, {"priority_boost": 11}, {"allowed_domains": [1]}, {"enabled": 1}):
        assert error(await door.manage("PATCH", "bots/b", json=wrong))[:2] == (400, "validation_error"), wrong


async def test_a_limit_of_zero_is_none(door: Door):
    none = {"rate_limit_per_minute": 0, "custom_lock_ttl_seconds": 0}
    made = await door.post("bots", bot_id="b", **none)
    assert {name: made[name] for name in none} == {"rate_limit_per_minute": None, "custom_lock_ttl_seconds": None}
    data(await door.manage("PATCH", "bots/b", json={"rate_limit_per_minute": 7, "custom_lock_ttl_seconds": 30}), 200)
    for words in (none, dict.fromkeys(none)):
        changed = data(await door.manage("PATCH", "bots/b", json=words), 200)
        assert {name: changed[name] for name in none} == dict.fromkeys(none)
    assert error(await door.manage("PATCH", "bots/b", json={"rate_limit_per_minute": -1}))[0] == 400


async def test_an_expiry_is_counted_when_the_job_is_pulled_again(door: Door):
    """The contract counts at the next pull; the state `expired`, or a lock of the past, shows the last expiry."""
    job = (await door.post("jobs", url="https://a.example/", max_retries=1))["id"]
    counts = []
    for bot in ("a", "b", "c"):
        await door.pull(bot)
        counts.append((await door.get(f"jobs/{job}"))["expiry_count"])
        door.clock.advance(601)
        counts.append((await door.get(f"jobs/{job}"))["expiry_count"])
    assert counts == [0, 0, 1, 1, 2, 2]
    await door.pull("d")
    assert (await door.get(f"jobs/{job}"))["status"] == "failed", "more expiries were counted than retries are allowed"


async def test_statistics_are_reset(door: Door):
    made = await door.post("bots", bot_id="b")
    await door.job()
    await door.pull("b", api_token=made["api_token"])
    assert (await door.post("bots/b/reset-statistics", 200))["total_jobs_pulled"] == 0


# -- figures ----------------------------------------------------------------------------------------------------


async def test_the_dashboard(door: Door):
    jobs = [await door.job(f"https://example.com/{n}", max_retries=1) for n in range(6)]
    await door.policy("https://example.com/p", enabled=False)
    due = await door.policy("https://example.com/q")
    await door.pull("a", max_jobs=4)
    data(await door.submit(jobs[0], "a"), 201)
    for bot in ("a", "b"):
        await door.fail(jobs[1], bot)
        await door.pull("b", max_jobs=1)
    await door.post("jobs/mark-expired", 200, ids=[jobs[2]])
    told = await door.get("dashboard")
    assert told["jobs"] == {"pending": 1, "locked": 2, "done": 1, "failed": 1, "expired": 1}
    assert told["retry_histogram"] == {"0": 5, "1": 1}
    assert told["policies"] == {"total": 2, "enabled": 1, "due": 1, "failing": 0, "next_due": due["next_run_at"]}
    assert told["jobs_pulled_per_hour"] == 6
    assert told["retry_rate"] == 33.33
    activity = {bot["bot_id"]: bot for bot in told["bot_activity"]}
    assert [activity["a"][k] for k in ("pulls_per_hour", "jobs_pulled_per_hour", "success_rate")] == [1, 4, 50.0]
    assert [activity["b"][k] for k in ("pulls_per_hour", "jobs_pulled_per_hour", "success_rate")] == [2, 2, 0.0]
    door.clock.advance(2 * 3600)
    assert (await door.get("dashboard"))["jobs_pulled_per_hour"] == 0


async def test_sums_go_over_all_bots_however_many_there_are(door: Door):
    await door.job()
    await asyncio.gather(*(door.pull(f"bot-{n}") for n in range(250)))
    [job] = [job["id"] for job in (await door.get("jobs"))["jobs"]]
    [row] = (await door.get("jobs"))["jobs"]
    await door.fail(job, row["locked_by"])
    door.clock.advance(1)
    for n in range(250):
        await door.pull(f"other-{n}", domain="nowhere")
    told = await door.get("dashboard")
    assert (told["jobs_pulled_per_hour"], told["retry_rate"]) == (1, 100.0)


async def test_figures_for_prometheus(migrated_url: str):
    async with running(migrated_url) as door:
        await check_figures(door)


async def check_figures(door: Door):
    job = await door.held("a")
    await door.job("https://example.com/2")
    await door.fail(job, "a")
    await door.pull("a")
    data(await door.submit(job, "a"), 201)
    await door.submit(job, "a")
    await door.pull("b")
    text = (await door.client.get("/metrics")).text
    for line in (
        'crawl_jobs_pulled_total{bot="a"} 3.0',
        'crawl_submits_total{bot="a",outcome="retry"} 1.0',
        'crawl_submits_total{bot="a",outcome="done"} 1.0',
        'crawl_submits_total{bot="a",outcome="not_held"} 1.0',
        "crawl_pull_skipped_total 1.0",
        "crawl_lock_expired_total 0.0",
        "crawl_submit_seconds_count 3.0",
        'crawl_jobs{status="locked"} 1.0',
        'crawl_jobs{status="done"} 1.0',
    ):
        assert line in text, line
