"""Query strings of the lists: every filter of the contract, and refusals of keys that no route knows."""

from typing import Any

import pytest

from tests.surfaces.bots.running import Door, data, error

# -- periods ----------------------------------------------------------------------------------------------------


async def found(door: Door, path: str, noun: str, field: str) -> list[Any]:
    return [row[field] for row in (await door.get(path))[noun]]


async def test_policies_by_when_they_were_made_and_when_they_are_due(door: Door):
    begun = door.after()
    for n in range(3):
        await door.policy(f"https://example.com/{n}", next_run_at=door.after(hours=10 * n))
        door.clock.advance(3600)

    async def urls(query: str) -> list[str]:
        return [url[-1] for url in await found(door, f"policies?{query}", "policies", "url")]

    assert await urls(f"created_after={begun}") == ["2", "1", "0"], "the first moment counts"
    assert await urls(f"created_before={begun}") == [], "a policy created at the bound is not listed"
    second = (await door.get("policies"))["policies"][1]
    assert await urls(f"created_after={second['created_at']}") == ["2", "1"]
    assert await urls(f"created_before={second['created_at']}") == ["0"]
    assert await urls(f"next_run_after={second['next_run_at']}") == ["2", "1"]
    assert await urls(f"next_run_after={second['created_at']}&next_run_before={second['next_run_at']}") == []
    assert await urls(f"next_run_before={second['next_run_at']}&enabled=true&priority=5") == ["0"]


async def test_jobs_by_when_they_were_made_and_locked(door: Door):
    jobs = []
    for n in range(3):
        jobs.append(await door.job(f"https://example.com/{n}"))
        door.clock.advance(60)
    await door.pull("one", max_jobs=1)
    locked = door.after()
    door.clock.advance(60)
    await door.pull("two", max_jobs=1)

    async def ids(query: str) -> list[str]:
        return await found(door, f"jobs?{query}", "jobs", "id")

    second = (await door.get("jobs"))["jobs"][1]
    assert await ids(f"created_after={second['created_at']}") == [jobs[2], jobs[1]]
    assert await ids(f"created_before={second['created_at']}") == [jobs[0]]
    assert await ids("locked_after=2000-01-01") == [jobs[1], jobs[0]], "a job in no hand was not locked"
    assert await ids(f"locked_after={second['locked_at']}") == [jobs[1]]
    assert await ids(f"locked_before={second['locked_at']}") == [jobs[0]]
    assert await ids(f"locked_after={locked}&status=pending") == []


async def test_results_by_when_they_were_crawled_and_made(door: Door):
    for n in range(3):
        job = await door.held(url=f"https://example.com/{n}")
        data(await door.submit(job, success=True, price=n, currency="USD"), 201)
        door.clock.advance(86_400)

    async def prices(query: str) -> list[int]:
        return await found(door, f"results?{query}", "results", "price")

    second = (await door.get("results"))["results"][1]
    for name in ("created", "crawled"):
        assert await prices(f"{name}_after={second['crawled_at']}") == [2, 1]
        assert await prices(f"{name}_before={second['crawled_at']}&currency=USD") == [0]


@pytest.mark.parametrize("written", ["2030-01-01", "2030-01-01T00:00:00Z", "2030-01-01T02:00:00+02:00"])
async def test_a_time_may_be_written_in_any_iso_form(door: Door, written: str):
    await door.policy("https://example.com/before", next_run_at="2029-12-31T23:59:59Z")
    await door.policy("https://example.com/after", next_run_at="2030-01-01T00:00:00Z")
    rows = (await door.get(f"policies?next_run_after={written}"))["policies"]
    assert [row["url"] for row in rows] == ["https://example.com/after"]


async def test_times_that_are_none(door: Door):
    for query in (
        "policies?created_after=soon",
        "jobs?locked_before=",
        "results?crawled_after=%00",
        "jobs?created_after=7e9",
    ):
        code, kind, detail = error(await door.manage("GET", query))
        assert (code, kind) == (400, "validation_error"), query
        [[message]] = detail.values()
        assert message.startswith("Datetime has wrong format."), query


# -- search -----------------------------------------------------------------------------------------------------


async def test_one_search_looks_in_urls_and_names_of_bots(door: Door):
    a, b = await door.job("https://example.com/Lamp"), await door.job("https://example.com/chair")
    await door.pull("Lamp-Bot", max_jobs=1)
    c = await door.job("https://example.com/100%_lamp")
    assert await found(door, "jobs?search=LAMP", "jobs", "id") == [c, a], "in upper or lower case"
    assert await found(door, "jobs?search=lamp-b", "jobs", "id") == [a], "by the bot that holds the lock"
    assert await found(door, "jobs?search=%25_", "jobs", "id") == [c], "no character is a wildcard"
    assert await found(door, "jobs?search=chair&status=pending", "jobs", "id") == [b]


# -- keys that no route knows -----------------------------------------------------------------------------------

ROUTES = [
    *(("GET", path) for path in ("policies", "jobs", "results", "bots", "dashboard")),
    *(("GET", path) for path in ("policies/x", "jobs/x", "results/x", "bots/x")),
    *(("POST", path) for path in ("policies", "jobs", "bots", "create-jobs", "expire-locks", "urls")),
    *(("POST", path) for path in ("jobs/mark-pending", "bots/x/rotate-token", "bots/x/reset-statistics")),
    *(("PATCH", path) for path in ("policies/x", "bots/x")),
    *(("DELETE", path) for path in ("policies/x", "jobs/x")),
]


async def test_a_key_that_a_route_does_not_know_is_refused_by_name(door: Door):
    for method, path in ROUTES:
        answer = await door.manage(method, f"{path}?stauts=done&limit2=1", json={})
        code, kind, detail = error(answer)
        assert (code, kind, set(detail)) == (400, "validation_error", {"stauts", "limit2"}), (method, path)
        assert all(message == ["Unknown query parameter."] for message in detail.values()), detail


async def test_a_key_that_is_sent_twice_is_refused(door: Door):
    answer = await door.manage("GET", "jobs?status=done&status=failed")
    assert error(answer) == (400, "validation_error", {"status": ["This query parameter may be sent once."]})


async def test_a_token_in_the_query_is_not_read(door: Door):
    token = door.admin["Authorization"].removeprefix("Bearer ")
    answer = await door.client.get(f"/api/crawl/admin/jobs?limit=1&token={token}")
    assert error(answer) == (401, "authentication_error", "Authentication credentials were not provided.")


async def test_a_limit_that_is_no_plain_integer_is_refused(door: Door):
    for odd in ("--5", "5-", "-", "+5", "1_0", "٥", "5.0", "1e1", ""):
        answer = await door.manage("GET", "jobs", params={"limit": odd})
        assert error(answer) == (400, "validation_error", {"limit": ["A valid integer is required."]}), odd
