"""Pull, submit and heartbeat over HTTP, to the letter of the contract, on both engines."""

import asyncio
from decimal import Decimal
from typing import Any
from uuid import uuid4

from tests.surfaces.bots.running import URL, Door, data, error, plan, running, sweep

# -- pull -------------------------------------------------------------------------------------------------------


async def test_a_pulled_job_has_every_field_of_the_contract(door: Door):
    job = await door.job(priority=10)
    assert await door.pull() == {
        "jobs": [
            {
                "job_id": job,
                "url": URL,
                "priority": 10,
                "max_retries": 3,
                "timeout_seconds": 600,
                "retry_count": 0,
                "locked_until": door.after(seconds=600),
            }
        ],
        "count": 1,
        "skipped": 0,
    }
    row = await door.get(f"jobs/{job}")
    held = ("status", "locked_by", "locked_at", "lock_ttl_seconds")
    assert [row[name] for name in held] == ["locked", "bot-001", door.after(), 600]


async def test_no_work_is_no_error(door: Door):
    assert await door.pull() == {"jobs": [], "count": 0, "skipped": 0}


async def test_a_path_without_its_slash_is_the_same(door: Door):
    for path in ("/api/crawl/pull", "/api/crawl/pull/"):
        answer = await door.client.post(path, json={"bot_id": "b"})
        assert (answer.status_code, answer.history) == (200, [])


async def test_jobs_locked_by_other_bots_are_skipped(door: Door):
    for n in range(3):
        await door.job(f"https://example.com/{n}")
    assert (await door.pull("a", max_jobs=2))["count"] == 2
    second = await door.pull("b")
    assert (second["count"], second["skipped"]) == (1, 2)


async def test_a_job_is_not_handed_out_twice_while_it_is_held(door: Door):
    await door.held()
    again = await door.pull()
    assert (again["count"], again["skipped"]) == (0, 0), "a bot's own locks are not skipped"


WRONG_PULLS: list[tuple[dict[str, Any], str, str]] = [
    ({}, "bot_id", "This field is required."),
    ({"bot_id": None}, "bot_id", "This field may not be null."),
    ({"bot_id": ""}, "bot_id", "This field may not be blank."),
    ({"bot_id": "  "}, "bot_id", "This field may not be blank."),
    ({"bot_id": 7}, "bot_id", "Not a valid string."),
    ({"bot_id": "a\u0000b"}, "bot_id", "Null characters are not allowed."),
    ({"bot_id": "x" * 101}, "bot_id", "Ensure this field has no more than 100 characters."),
    ({"bot_id": "b", "max_jobs": 0}, "max_jobs", "Ensure this value is greater than or equal to 1."),
    ({"bot_id": "b", "max_jobs": 101}, "max_jobs", "Ensure this value is less than or equal to 100."),
    ({"bot_id": "b", "max_jobs": "ten"}, "max_jobs", "A valid integer is required."),
    ({"bot_id": "b", "max_jobs": True}, "max_jobs", "A valid integer is required."),
    ({"bot_id": "b", "domain": "x" * 256}, "domain", "Ensure this field has no more than 255 characters."),
]


async def test_a_pull_that_is_wrong(door: Door):
    for sent, field, message in WRONG_PULLS:
        assert error(await door.ask("pull", **sent)) == (400, "validation_error", {field: [message]}), sent


async def test_all_invalid_fields_are_reported_together(door: Door):
    _, _, detail = error(await door.ask("pull", max_jobs=0))
    assert set(detail) == {"bot_id", "max_jobs"}


async def test_invalid_json_and_other_values_than_objects_are_refused(door: Door):
    answer = await door.client.post("/api/crawl/pull/", content=b"{")
    assert error(answer)[:2] == (400, "validation_error")
    assert error(answer)[2].startswith("JSON parse error")
    for odd in (b"", b"\xff", b'{"bot_id": "\\ud800"}', b"[" * 100_000):
        assert error(await door.client.post("/api/crawl/pull/", content=odd))[:2] == (400, "validation_error")
    answer = await door.client.post("/api/crawl/pull/", content=b"[]")
    message = "Invalid data. Expected a dictionary, but got list."
    assert error(answer) == (400, "validation_error", {"non_field_errors": [message]})


async def test_higher_priority_first_then_the_oldest(door: Door):
    jobs = [await door.job(f"https://example.com/{n}", priority=p) for n, p in enumerate((5, 20, 5, 1, 20))]
    pulled = [job["job_id"] for job in (await door.pull())["jobs"]]
    assert pulled == [jobs[n] for n in (1, 4, 0, 2, 3)]


async def test_a_pull_without_a_cap_gets_ten_by_default_and_up_to_a_hundred(door: Door):
    for n in range(12):
        await door.job(f"https://example.com/{n}")
    assert (await door.pull())["count"] == 10, "the default"
    assert (await door.pull("b", max_jobs=100))["count"] == 2


async def test_a_domain_is_looked_for_in_the_host_alone(door: Door):
    for url in ("https://shop.Example.com:8080/a", "https://notexample.com/", "https://else.org/example.com"):
        await door.job(url)
    pulled = await door.pull(domain="EXAMPLE.com")
    assert {job["url"] for job in pulled["jobs"]} == {"https://shop.Example.com:8080/a", "https://notexample.com/"}
    assert (await door.pull("b", domain=""))["count"] == 1
    assert (await door.pull("c", domain="example.com"))["skipped"] == 2, "only in the same scope"


async def test_a_domain_may_be_told_to_mean_whole_names(migrated_url: str):
    async with running(migrated_url, bot_domain_match="suffix") as door:
        for url in ("https://shop.example.com:8080/a", "https://notexample.com/", "https://example.com/"):
            await door.job(url)
        pulled = await door.pull(domain="example.com")
        assert {job["url"] for job in pulled["jobs"]} == {"https://shop.example.com:8080/a", "https://example.com/"}


async def test_hosts_are_meant_to_the_letter(door: Door):
    names = ("shop.example", "www.shop.example", "a.b.shop.example:81", "notshop.example", "shop.example.evil.test")
    more = ("shop.example:8080", "xshop.example", "shop-example", "shop.example.", "xn--bcher-kva.example", "[::1]:81")
    for name in (*names, *more):
        await door.job(f"https://{name}/")

    async def got(*hosts: str, **also: Any) -> set[str]:
        pulled = await door.pull(hosts=list(hosts), max_jobs=100, **also)
        await door.post("jobs/reset-lock", 200, ids=[job["job_id"] for job in pulled["jobs"]])
        return {job["url"][8:-1] for job in pulled["jobs"]}

    assert await got("Shop.Example") == {"shop.example", "shop.example:8080"}, "on any port"
    assert await got("*.shop.example") == {"www.shop.example", "a.b.shop.example:81"}, "below it, not itself"
    assert await got("shop.example:8080") == {"shop.example:8080"}
    assert await got("bücher.example", "[::1]") == {"xn--bcher-kva.example", "[::1]:81"}
    assert await got("example", "*.example.com", "hop.example", "_hop.example") == set()
    assert await got("*.example") == {*names, *more} - {names[4], "shop-example", "shop.example.", "[::1]:81"}
    assert await got("shop.example", "*.shop.example", domain="WWW") == {"www.shop.example"}, "both must fit"
    assert len(await got()) == 11, "an empty list means all"
    await door.pull("one", hosts=["shop.example"])
    assert (await door.pull("two", hosts=["notshop.example"]))["skipped"] == 0, "jobs of other hosts are not counted"


async def test_hosts_that_are_none(door: Door):
    for odd in (
        "shop.example",
        7,
        [7],
        [None],
        [""],
        ["a b"],
        ["%"],
        ["https://shop.example/"],
        ["a/b"],
        ["*"],
        ["a.*"],
    ):
        assert error(await door.ask("pull", bot_id="b", hosts=odd))[:2] == (400, "validation_error"), odd
    for odd in (["*.*.a"], ["x" * 256], ["a\0b"], ["a"] * 101, ["user@shop.example"], ["shop.example?x"], ["*a.b"]):
        assert set(error(await door.ask("pull", bot_id="b", hosts=odd))[2]) == {"hosts"}, odd


async def test_many_bots_at_once_get_every_job_once(door: Door):
    for n in range(100):
        await door.job(f"https://example.com/{n}")
    pulls = await asyncio.gather(*(door.pull(f"bot-{n}", max_jobs=5) for n in range(20)))
    handed = [job["job_id"] for pulled in pulls for job in pulled["jobs"]]
    assert (len(handed), len(set(handed))) == (100, 100)


# -- submit: the request -----------------------------------------------------------------------------------------

CURRENCY = "Currency must be 3-letter ISO code (e.g., USD, VND, EUR)"
BOTH = "price and currency are required when success=true"


WRONG_SUBMITS: list[tuple[dict[str, Any], str, str]] = [
    ({"bot_id": None}, "bot_id", "This field may not be null."),
    ({"job_id": None}, "job_id", "This field is required."),
    ({"job_id": "nonsense"}, "job_id", "Must be a valid UUID."),
    ({"job_id": 7}, "job_id", "Must be a valid UUID."),
    ({"success": None}, "success", "This field is required."),
    ({"success": "true"}, "success", "Must be a valid boolean."),
    ({"price": None}, "non_field_errors", BOTH),
    ({"currency": None}, "non_field_errors", BOTH),
    ({"price": -1}, "price", "Ensure this value is greater than or equal to 0."),
    ({"price": "1.234"}, "price", "Ensure that there are no more than 2 decimal places."),
    ({"price": 10**10}, "price", "Ensure that there are no more than 12 digits in total."),
    ({"price": "much"}, "price", "A valid number is required."),
    ({"price": "1_000"}, "price", "A valid number is required."),
    ({"price": "١٢"}, "price", "A valid number is required."),
    ({"price": "NaN"}, "price", "A valid number is required."),
    ({"price": True}, "price", "A valid number is required."),
    ({"currency": "USDA"}, "currency", CURRENCY),
    ({"currency": "U1D"}, "currency", CURRENCY),
    ({"currency": "US$"}, "currency", CURRENCY),
    ({"currency": "ßa"}, "currency", CURRENCY),
    ({"currency": "ﬁm"}, "currency", CURRENCY),
    ({"currency": " us"}, "currency", CURRENCY),
    ({"currency": ""}, "currency", CURRENCY),
    ({"title": "x" * 501}, "title", "Ensure this field has no more than 500 characters."),
    ({"in_stock": "yes"}, "in_stock", "Must be a valid boolean."),
    ({"raw_html": 7}, "raw_html", "Not a valid string."),
    ({"parsed_data": []}, "parsed_data", 'Expected a dictionary of items but got type "list".'),
]


async def test_a_submit_that_is_wrong(door: Door):
    for sent, field, message in WRONG_SUBMITS:
        good = {"bot_id": "b", "job_id": str(uuid4()), "success": True, "price": 1, "currency": "USD"}
        assert error(await door.ask("submit", **{**good, **sent})) == (400, "validation_error", {field: [message]}), (
            sent
        )


# -- submit: the checks, in their order -------------------------------------------------------------------------


async def test_a_job_that_does_not_exist(door: Door):
    job = await door.held()
    for nobody in (str(uuid4()), job[:-1] + ("1" if job[-1] != "1" else "2"), "f" + job[1:]):
        assert error(await door.submit(nobody)) == (404, "job_not_found", f"Job {nobody} not found")


async def test_a_job_that_is_not_locked(door: Door):
    job = await door.job()
    expected = (400, "job_not_locked", "Job is in pending state, expected locked")
    assert error(await door.submit(job)) == expected
    await door.pull()
    data(await door.submit(job), 201)
    assert error(await door.submit(job)) == (400, "job_not_locked", "Job is in done state, expected locked")
    assert error(await door.submit(job, "other"))[1] == "job_not_locked", "checked before the holder of the lock"


async def test_a_job_of_another_bot(door: Door):
    job = await door.held("bot-001")
    assert error(await door.submit(job, "bot-002")) == (403, "not_assigned", "Job locked by bot-001, not bot-002")
    door.clock.advance(601)
    assert error(await door.submit(job, "bot-002"))[1] == "not_assigned", "checked before the expiry of the lock"


async def test_a_lock_that_has_lapsed(door: Door):
    job = await door.held()
    door.clock.advance(600)
    assert (await door.get(f"jobs/{job}"))["status"] == "locked"
    door.clock.advance(1)
    assert error(await door.submit(job)) == (400, "lock_expired", "Lock TTL exceeded")
    row = await door.get(f"jobs/{job}")
    assert (row["status"], row["locked_by"]) == ("locked", "bot-001"), "left as it is"
    pulled = await door.pull("bot-002")
    assert [j["job_id"] for j in pulled["jobs"]] == [job]
    assert error(await door.submit(job)) == (403, "not_assigned", "Job locked by bot-002, not bot-001")
    data(await door.submit(job, "bot-002"), 201)
    assert (await door.get(f"jobs/{job}"))["expiry_count"] == 1


async def test_at_its_very_end_a_lock_still_holds(door: Door):
    job = await door.held()
    door.clock.advance(600)
    assert (await door.pull("bot-002"))["count"] == 0
    data(await door.submit(job), 201)


# -- submit: the effect ------------------------------------------------------------------------------------------


async def test_a_success(door: Door):
    policy = await door.policy(frequency_hours=6)
    assert plan(door) == 1
    [pulled] = (await door.pull())["jobs"]
    door.clock.advance(30)
    sent: dict[str, Any] = {
        "title": "Product Name",
        "in_stock": False,
        "raw_html": "<p>ü\x00</p>",
        "parsed_data": {"a": [1.10, None]},
    }
    told = data(await door.submit(pulled["job_id"], success=True, price=99.99, currency="usd", **sent), 201)
    job = pulled["job_id"]
    assert told == {
        "result_id": told["result_id"],
        "job_id": job,
        "status": "done",
        "price": 99.99,
        "currency": "USD",
        "policy_next_run": door.after(hours=6),
    }
    row = await door.get(f"jobs/{job}")
    result = row.pop("result")
    cleared = ("status", "locked_by", "locked_at", "last_error", "last_result_at", "policy_id")
    assert [row[name] for name in cleared] == ["done", None, None, None, door.after(), policy["id"]]
    whole = await door.get(f"results/{told['result_id']}")
    assert whole == result | {"raw_html": "<p>ü\x00</p>"}
    assert result == {
        "id": told["result_id"],
        "job_id": job,
        "url": URL,
        "price": 99.99,
        "currency": "USD",
        "title": "Product Name",
        "in_stock": False,
        "parsed_data": {"a": [1.1, None]},
        "crawled_at": door.after(),
        "created_at": door.after(),
    }
    now = await door.get(f"policies/{policy['id']}")
    assert (now["next_run_at"], now["last_success_at"], now["failure_count"]) == (door.after(hours=6), door.after(), 0)


async def test_the_page_of_a_submit_that_is_refused_is_not_kept(door: Door):
    async def kept() -> list[str]:
        return [found.key async for found in door.stage.platform.blobs.list("bots")]

    before = set(door.stage.call(kept()))
    job = await door.held()
    won: dict[str, Any] = {"success": True, "price": 1, "currency": "USD", "raw_html": "<p>"}
    assert error(await door.submit(job, "other", **won))[1] == "not_assigned"
    assert set(door.stage.call(kept())) == before
    data(await door.submit(job, **won), 201)
    assert len(set(door.stage.call(kept())) - before) == 1


async def test_a_result_that_takes_anothers_place_takes_its_page_away(door: Door):
    async def kept() -> list[str]:
        return [found.key async for found in door.stage.platform.blobs.list("bots")]

    before = set(door.stage.call(kept()))
    job = await door.held()
    won: dict[str, Any] = {"success": True, "price": 1, "currency": "USD"}
    data(await door.submit(job, **won, raw_html="<p>old"), 201)
    [old] = set(door.stage.call(kept())) - before
    assert await door.post("jobs/mark-pending", 200, ids=[job]) == {"changed": 1}
    await door.pull()
    told = data(await door.submit(job, **won, raw_html="<p>new"), 201)
    [new] = set(door.stage.call(kept())) - before
    assert new != old
    assert (await door.get(f"results/{told['result_id']}"))["raw_html"] == "<p>new"


async def test_a_success_without_a_policy(door: Door):
    told = data(await door.submit(await door.held()), 201)
    assert told["policy_next_run"] is None


PRICES = ["0", '"0.10"', "0.1", "9999999999.99", '"9999999999.99"', "12", "1e3"]


async def test_money_is_kept_to_the_hundredth(door: Door):
    for price in PRICES:
        job = await door.held()
        body = f'{{"bot_id": "bot-001", "job_id": "{job}", "success": true, "price": {price}, "currency": "VND"}}'
        answer = await door.client.post("/api/crawl/submit/", content=body)
        told = data(answer, 201)
        wanted = Decimal(price.strip('"'))
        assert f'"price":{wanted:.2f},' in answer.text.replace(" ", "")
        assert f'"price":{wanted:.2f},' in (await door.manage("GET", f"results/{told['result_id']}")).text


async def test_failures_are_tried_again_as_often_as_the_seed_says(door: Door):
    policy = await door.policy()
    plan(door)
    for round_, wait in ((1, 5), (2, 10), (3, 20), (4, 40), (5, 40)):
        for retry in (1, 2, 3):
            [job] = (await door.pull())["jobs"]
            assert job["retry_count"] == retry - 1
            assert await door.fail(job["job_id"]) == {
                "job_id": job["job_id"],
                "status": "pending",
                "retry_count": retry,
                "max_retries": 3,
                "message": "Job marked for retry",
            }
            row = await door.get(f"jobs/{job['job_id']}")
            assert (row["last_error"], row["locked_by"]) == ("Timeout: page did not load", None)
        assert (await door.get(f"policies/{policy['id']}"))["failure_count"] == round_ - 1, "not touched by retries"
        [job] = (await door.pull())["jobs"]
        assert await door.fail(job["job_id"], error="gone") == {
            "job_id": job["job_id"],
            "status": "failed",
            "retry_count": 3,
            "max_retries": 3,
            "error": "gone",
            "message": "Retries exhausted",
        }
        now = await door.get(f"policies/{policy['id']}")
        stands = [now[name] for name in ("failure_count", "next_run_at", "last_failed_at", "last_success_at")]
        assert stands == [round_, door.after(minutes=wait), door.after(), None]
        assert plan(door) == 0, "not due yet"
        door.clock.advance(wait * 60)
        assert plan(door) == 1
    [job] = (await door.pull())["jobs"]
    data(await door.submit(job["job_id"]), 201)
    assert (await door.get(f"policies/{policy['id']}"))["failure_count"] == 0


async def test_a_failed_job_is_free_for_any_bot_at_once(door: Door):
    job = await door.held("bot-001")
    await door.fail(job)
    assert [j["job_id"] for j in (await door.pull("bot-002"))["jobs"]] == [job]


async def test_without_retries_the_first_failure_is_the_last(door: Door):
    job = await door.held(max_retries=0)
    assert (await door.fail(job))["status"] == "failed"
    assert (await door.pull())["count"] == 0


ERRORS: list[tuple[str | None, str]] = [
    ("x" * 600, "x" * 500),
    ("no\x00thing", "nothing"),
    ("", "Unknown error"),
    (None, "Unknown error"),
]


async def test_an_error_is_stored_in_the_form_of_the_contract(door: Door):
    for said, kept in ERRORS:
        job = await door.held(max_retries=0)
        told = data(await door.submit(job, success=False, error_msg=said, price=None, currency=""), 200)
        assert told["error"] == kept
        assert (await door.get(f"jobs/{job}"))["last_error"] == kept


async def test_the_same_job_submitted_many_times_at_once_has_one_result(door: Door):
    job = await door.held()
    answers = await asyncio.gather(*(door.submit(job, success=True, price=n, currency="USD") for n in range(20)))
    assert sorted(answer.status_code for answer in answers) == [201] + [400] * 19
    [result] = (await door.get("results"))["results"]
    [won] = [answer for answer in answers if answer.status_code == 201]
    assert result["id"] == won.json()["data"]["result_id"]


async def test_submits_that_come_together_each_get_their_own_answer(door: Door):
    jobs = [await door.job(f"https://example.com/{n}") for n in range(30)]
    await door.pull("a", max_jobs=10)
    await door.pull("b", max_jobs=20)
    asked = [door.submit(job, "a", success=True, price=n, currency="USD") for n, job in enumerate(jobs)]
    answers = await asyncio.gather(*asked)
    assert [answer.status_code for answer in answers] == [201] * 10 + [403] * 20
    assert [answer.json()["data"]["price"] for answer in answers[:10]] == list(range(10))


# -- counters ---------------------------------------------------------------------------------------------------


async def figures(door: Door, bot: str) -> list[Any]:
    [row] = [row for row in (await door.get("bots"))["bots"] if row["bot_id"] == bot]
    names = ("total_jobs_pulled", "total_jobs_completed", "total_jobs_failed", "success_rate")
    return [row[name] for name in (*names, "last_pull_at", "last_submit_at")]


async def test_pulls_and_submissions_of_a_bot_are_counted(door: Door):
    made = await door.post("bots", bot_id="shop")
    key = {"api_token": made["api_token"]}
    assert await figures(door, "shop") == [0, 0, 0, 0.0, None, None]
    jobs = [await door.job(f"https://example.com/{n}", max_retries=0) for n in range(4)]
    pulled_at = door.after()
    await door.pull("shop", max_jobs=3, **key)
    door.clock.advance(1)
    data(await door.submit(jobs[0], "shop", **key), 201)
    data(await door.submit(jobs[1], "shop", success=False, **key), 200)
    for nothing in (jobs[0], jobs[3], str(uuid4())):
        assert (await door.submit(nothing, "shop", **key)).status_code >= 400
    assert await figures(door, "shop") == [3, 1, 1, 50.0, pulled_at, door.after()], "refusals change nothing"


# -- more than the seed -----------------------------------------------------------------------------------------


async def test_a_heartbeat_lets_a_lock_run_anew(door: Door):
    job = await door.held()
    door.clock.advance(599)
    told = data(await door.ask("heartbeat", bot_id="bot-001", job_id=job), 200)
    assert told == {"job_id": job, "status": "locked", "locked_until": door.after(seconds=600)}
    door.clock.advance(600)
    data(await door.submit(job), 201)


async def test_a_heartbeat_is_refused_like_a_submit(door: Door):
    job = await door.job()
    assert error(await door.ask("heartbeat", bot_id="a", job_id=job))[1] == "job_not_locked"
    await door.pull("a")
    assert error(await door.ask("heartbeat", bot_id="b", job_id=job))[1] == "not_assigned"
    door.clock.advance(601)
    assert error(await door.ask("heartbeat", bot_id="a", job_id=job))[1] == "lock_expired"
    assert error(await door.ask("heartbeat", bot_id="a", job_id=str(uuid4())))[1] == "job_not_found"
    assert error(await door.ask("heartbeat", bot_id="a"))[1] == "validation_error"


async def keyed(door: Door, job: str, key: str, **said: Any):
    body = {"bot_id": "bot-001", "job_id": job, **said}
    return await door.client.post("/api/crawl/submit/", json=body, headers={"Idempotency-Key": key})


async def test_a_repeat_with_the_same_key_gets_the_same_answer(door: Door):
    job, won = await door.held(), {"success": True, "price": 5, "currency": "EUR"}
    first, second = await keyed(door, job, "k", **won), await keyed(door, job, "k", **won)
    assert (first.status_code, first.json()) == (second.status_code, second.json())
    assert error(await keyed(door, job, "other", **won))[1] == "job_not_locked"
    assert len((await door.get("results"))["results"]) == 1
    door.clock.advance(24 * 3600)
    sweep(door)
    assert error(await keyed(door, job, "k", **won))[1] == "job_not_locked", "kept for a day"


async def test_a_repeated_failure_with_the_same_key_costs_one_retry(door: Door):
    job = await door.held()
    for _ in range(3):
        told = data(await keyed(door, job, "f", success=False), 200)
        assert (told["status"], told["retry_count"]) == ("pending", 1)
    assert (await door.get(f"jobs/{job}"))["retry_count"] == 1


async def test_a_key_is_for_one_job(door: Door):
    first, second = await door.held(), await door.held(url="https://example.com/2")
    won = {"success": True, "price": 5, "currency": "EUR"}
    told = data(await keyed(door, first, "always the same", **won), 201)
    other = data(await keyed(door, second, "always the same", **won), 201)
    assert (told["job_id"], other["job_id"]) == (first, second)
    assert told["result_id"] != other["result_id"]
    assert await door.status(second) == "done"


async def test_a_key_that_is_too_long(door: Door):
    answer = await keyed(door, await door.held(), "k" * 256, success=False)
    assert error(answer)[:2] == (400, "validation_error")


async def test_the_openapi_document_describes_the_requests_of_bots(door: Door):
    document = (await door.client.get("/openapi.json")).json()
    paths, schemas = document["paths"], document["components"]["schemas"]
    bodies = {
        path: paths[f"/api/crawl/{path}"]["post"]["requestBody"]["content"]["application/json"]["schema"]["$ref"]
        for path in ("pull", "submit", "heartbeat")
    }
    sent = {path: schemas[reference.rpartition("/")[2]] for path, reference in bodies.items()}
    assert {path: set(schema["required"]) for path, schema in sent.items()} == {
        "pull": {"bot_id"},
        "submit": {"bot_id", "job_id", "success"},
        "heartbeat": {"bot_id", "job_id"},
    }
    assert set(sent["pull"]["properties"]) == {"bot_id", "api_token", "max_jobs", "domain", "hosts"}
