"""Access to pull and submit, rate limits, and the effect of a bot's own settings."""

import asyncio
from typing import Any

import httpx
import pytest

from tests.surfaces.bots.running import Door, data, error, running

WRONG = (401, "authentication_error", "Invalid or missing API token")


async def everywhere(door: Door, **who: Any) -> list[httpx.Response]:
    """Send the same caller's request to each endpoint and return the responses."""
    job = await door.job()
    said = {"job_id": job, "success": False}
    return [await door.ask(path, **who, **said) for path in ("pull", "submit", "heartbeat")]


async def test_a_registered_bot_must_bring_its_token(door: Door):
    made = await door.post("bots", bot_id="b")
    token = made["api_token"]
    for bad in ({}, {"api_token": ""}, {"api_token": token + "x"}, {"api_token": token.swapcase()}):
        for answer in await everywhere(door, bot_id="b", **bad):
            assert error(answer) == WRONG, bad
    assert (await door.pull("b", api_token=token))["count"] == 4
    data(await door.ask("pull", bot_id="B"), 200)  # names are case-sensitive: this is a stranger


async def test_a_token_may_come_as_a_bearers(door: Door):
    token = (await door.post("bots", bot_id="b"))["api_token"]
    for scheme, status in (
        (f"Bearer {token}", 200),
        (f"bearer {token}", 200),
        (f"Basic {token}", 401),
        ("Bearer", 401),
    ):
        answer = await door.client.post("/api/crawl/pull/", json={"bot_id": "b"}, headers={"Authorization": scheme})
        assert answer.status_code == status, scheme


async def test_a_new_token_kills_the_old_one_at_once(door: Door):
    old = (await door.post("bots", bot_id="b", token_expires_at="2030-01-01T00:00:00Z"))["api_token"]
    told = await door.post("bots/b/rotate-token", 200)
    new = told["api_token"]
    assert told["token_preview"] == new[:20]
    assert error(await door.ask("pull", bot_id="b", api_token=old)) == WRONG
    await door.pull("b", api_token=new)


async def test_a_token_expires(door: Door):
    token = (await door.post("bots", bot_id="b", token_expires_at=door.after(seconds=10)))["api_token"]
    door.clock.advance(9)
    await door.pull("b", api_token=token)
    door.clock.advance(1)
    assert error(await door.ask("pull", bot_id="b", api_token=token)) == WRONG


async def test_a_disabled_bot_is_refused_even_with_a_valid_token(door: Door):
    token = (await door.post("bots", bot_id="b"))["api_token"]
    data(await door.manage("PATCH", "bots/b", json={"enabled": False}), 200)
    for given in ({"api_token": token}, {}):
        for answer in await everywhere(door, bot_id="b", **given):
            assert error(answer) == (403, "authentication_error", "Bot is disabled")


async def test_bots_without_a_valid_token_are_refused_where_tokens_are_required(migrated_url: str):
    async with running(migrated_url, bots_access="key") as door:
        for who in ({"bot_id": "stranger"}, {"bot_id": "stranger", "api_token": "guess"}):
            for answer in await everywhere(door, **who):
                assert error(answer) == WRONG
        assert error(await door.ask("pull")) == (400, "validation_error", {"bot_id": ["This field is required."]})
        token = (await door.post("bots", bot_id="b"))["api_token"]
        assert (await door.pull("b", api_token=token))["count"] == 2


@pytest.mark.parametrize(
    ("settings", "status"),
    [
        ({}, 200),
        ({"host": "::1"}, 200),
        ({"host": "0.0.0.0"}, 401),
        ({"host": "0.0.0.0", "bots_access": "open"}, 200),
        ({"bots_access": "key"}, 401),
    ],
)
async def test_beyond_loopback_tokens_are_required_unless_the_setting_is_open(
    settings: dict[str, str], status: int, tmp_path: Any
):
    async with running(f"sqlite:///{tmp_path}/longline.db", **settings) as door:
        assert (await door.ask("pull", bot_id="stranger")).status_code == status


async def test_a_bots_own_cap_is_silent(door: Door):
    token = (await door.post("bots", bot_id="b", max_jobs_per_pull=10))["api_token"]
    for n in range(12):
        await door.job(f"https://example.com/{n}")
    assert (await door.pull("b", api_token=token, max_jobs=50))["count"] == 10


async def test_a_bots_own_lock_is_as_long_as_it_says(door: Door):
    token = (await door.post("bots", bot_id="b", custom_lock_ttl_seconds=30))["api_token"]
    job = await door.job()
    [pulled] = (await door.pull("b", api_token=token))["jobs"]
    assert (pulled["timeout_seconds"], pulled["locked_until"]) == (30, door.after(seconds=30))
    assert (await door.get(f"jobs/{job}"))["lock_ttl_seconds"] == 30
    door.clock.advance(31)
    [pulled] = (await door.pull("other"))["jobs"]
    assert pulled["timeout_seconds"] == 600


async def test_a_bot_stays_in_its_domains(door: Door):
    token = (await door.post("bots", bot_id="b", allowed_domains=["Example.com", "else.org"]))["api_token"]
    urls = ["https://example.com/", "https://a.example.com:8080/", "https://notexample.com/", "https://else.org/"]
    for url in urls:
        await door.job(url)
    pulled = await door.pull("b", api_token=token)
    assert {job["url"] for job in pulled["jobs"]} == {urls[0], urls[1], urls[3]}
    other = await door.pull("stranger")
    assert [job["url"] for job in other["jobs"]] == [urls[2]]
    assert (await door.pull("b", api_token=token))["skipped"] == 0, "jobs of other domains are not counted"
    for url in urls:
        await door.job(url)
    assert [j["url"] for j in (await door.pull("b", api_token=token, domain="else"))["jobs"]] == [urls[3]]


async def test_a_boost_is_shown(door: Door):
    token = (await door.post("bots", bot_id="b", priority_boost=3))["api_token"]
    await door.job(priority=5)
    assert [job["priority"] for job in (await door.pull("b", api_token=token))["jobs"]] == [8]


async def test_a_bot_over_its_rate_limit_gets_429(door: Door):
    token = (await door.post("bots", bot_id="b", rate_limit_per_minute=3))["api_token"]
    who = {"bot_id": "b", "api_token": token}
    for path in ("pull", "heartbeat", "submit"):
        answer = await door.ask(path, **who, job_id="018bcfe5-6800-7b5c-8000-000000000001", success=False)
        assert answer.status_code in (200, 404)
    answer = await door.ask("pull", **who)
    assert error(answer) == (429, "rate_limited", "Rate limit exceeded, try again in 20 seconds")
    assert answer.headers["Retry-After"] == "20"
    assert error(await door.ask("pull", bot_id="b", api_token="x")) == WRONG, "the token is checked first"
    assert error(await door.ask("pull", **who, max_jobs=0))[1] == "validation_error", "the fields too"
    door.clock.advance(20)
    data(await door.ask("pull", **who), 200)
    assert (await door.ask("pull", **who)).status_code == 429


async def test_a_limit_holds_over_all_servers(door: Door):
    token = (await door.post("bots", bot_id="b", rate_limit_per_minute=5))["api_token"]
    who = {"bot_id": "b", "api_token": token}
    async with running(door.stage.database) as second:
        second.clock.advance(door.clock.monotonic() - second.clock.monotonic())
        answers = await asyncio.gather(*(side.ask("pull", **who) for side in (door, second) for _ in range(4)))
        assert sorted(answer.status_code for answer in answers) == [200] * 5 + [429] * 3
        for side in (door, second):
            assert error(await side.ask("pull", **who))[2] == "Rate limit exceeded, try again in 12 seconds"
            side.clock.advance(12)
        assert sorted([(await side.ask("pull", **who)).status_code for side in (door, second)]) == [200, 429]
