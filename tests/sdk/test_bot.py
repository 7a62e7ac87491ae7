"""A bot at work against a real server."""

import asyncio

import pytest

from longline.sdk import Bot, Found, Job, JobFailed
from tests.surfaces.bots.running import Door as Server

GOOD = Found("1", "USD")


async def easy(job: Job) -> Found:
    return GOOD


async def never(job: Job) -> Found:
    pytest.fail(f"nobody should work on {job.url}")


async def some(server: Server, count: int, host: str = "example.com", **more: int) -> list[str]:
    return [await server.job(f"https://{host}/{n}", **more) for n in range(count)]


async def test_it_works_until_there_is_nothing_left(server: Server, where: str):
    await some(server, 7)
    bot, busy, most = Bot(where, "b", concurrency=3), 0, 0

    @bot.on()
    async def work(job: Job) -> Found:
        nonlocal busy, most
        busy += 1
        most = max(most, busy)
        await asyncio.sleep(0.01)
        busy -= 1
        return GOOD

    stats = await bot.run(once=True)
    assert (stats.pulled, stats.done, most) == (7, 7, 3)
    assert (await server.get("dashboard"))["jobs"]["done"] == 7


async def test_each_domain_has_its_handler_and_other_jobs_are_left_alone(server: Server, where: str):
    for host in ("shop.example.com", "deep.shop.example.com", "example.com", "else.org"):
        await some(server, 1, host)
    bot, seen = Bot(where, "b"), []

    def note(name: str):
        async def work(job: Job) -> Found:
            seen.append((name, job.host))
            return GOOD

        return work

    bot.on("Shop.example.com")(note("shop"))
    bot.on("example.com")(note("all"))
    await bot.run(once=True)
    assert sorted(seen) == [
        ("all", "example.com"),
        ("shop", "deep.shop.example.com"),
        ("shop", "shop.example.com"),
    ]
    assert (await server.get("dashboard"))["jobs"]["pending"] == 1


async def test_what_a_handler_raises_is_submitted(server: Server, where: str):
    [job] = await some(server, 1, max_retries=1)
    bot = Bot(where, "b")

    @bot.on("example.com")
    async def work(job: Job) -> Found:
        raise JobFailed(f"attempt {job.retry_count}")

    stats = await bot.run(once=True)
    assert (stats.pulled, stats.failed) == (2, 2)
    row = await server.get(f"jobs/{job}")
    assert (row["status"], row["last_error"]) == ("failed", "attempt 1")


async def test_a_host_that_only_looks_like_its_domain_is_told_as_a_failure(server: Server, where: str):
    [job] = await some(server, 1, "notexample.com", max_retries=0)
    bot = Bot(where, "b")
    bot.on("example.com")(never)
    await bot.run(once=True)
    assert (await server.get(f"jobs/{job}"))["last_error"] == "LookupError: no handler for notexample.com"


async def test_a_handler_that_takes_too_long_is_stopped(server: Server, where: str):
    token = (await server.post("bots", bot_id="b", custom_lock_ttl_seconds=1))["api_token"]
    [job] = await some(server, 1, max_retries=0)
    bot = Bot(where, "b", token)

    @bot.on()
    async def work(job: Job) -> Found:
        await asyncio.sleep(60)
        return GOOD

    await bot.run(once=True)
    assert (await server.get(f"jobs/{job}"))["last_error"].startswith("TimeoutError")


async def test_on_stop_it_finishes_what_it_holds_and_pulls_no_more(server: Server, where: str):
    await some(server, 4)
    bot, begun = Bot(where, "b", concurrency=2, idle=60), asyncio.Event()

    @bot.on()
    async def work(job: Job) -> Found:
        begun.set()
        await asyncio.sleep(0.05)
        return GOOD

    running = asyncio.create_task(bot.run())
    await begun.wait()
    bot.stop()
    stats = await asyncio.wait_for(running, 60)
    assert (stats.pulled, stats.done) == (2, 2)
    jobs = (await server.get("dashboard"))["jobs"]
    assert (jobs["done"], jobs["pending"], jobs["locked"]) == (2, 2, 0)


async def test_an_idle_bot_stops_at_once(server: Server, where: str):
    bot = Bot(where, "b", idle=60)
    bot.on()(never)
    running = asyncio.create_task(bot.run())
    await asyncio.sleep(0.1)
    bot.stop()
    await asyncio.wait_for(running, 60)


async def test_what_was_given_to_others_meanwhile_is_dropped(server: Server, where: str):
    lost, handled = await some(server, 2)
    bot = Bot(where, "b")

    @bot.on()
    async def work(job: Job) -> Found:
        if job.job_id == handled:
            await server.post("jobs/mark-expired", 200, ids=[job.job_id])
        else:
            await server.post("jobs/reset-lock", 200, ids=[job.job_id])
            await server.pull("other", max_jobs=1)
        bot.stop()
        return GOOD

    stats = await bot.run()
    assert (stats.lost, stats.handled, stats.done) == (1, 1, 0)
    assert (await server.get(f"jobs/{lost}"))["locked_by"] == "other"


async def test_among_many_bots_it_takes_less(server: Server, where: str):
    await some(server, 20)
    await server.pull("other", max_jobs=17)
    bot = Bot(where, "b", concurrency=8)
    bot.on()(easy)
    await bot.run(once=True)
    assert bot._most < 8


async def test_a_server_that_is_away_is_waited_for(where: str):
    bot = Bot("http://127.0.0.1:9", "b")
    bot.on()(never)
    running = asyncio.create_task(bot.run())
    await asyncio.sleep(0.2)
    assert not running.done()
    bot.stop()
    await asyncio.wait_for(running, 60)
