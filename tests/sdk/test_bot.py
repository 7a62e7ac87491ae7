"""A bot at work against a real server."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from longline.drivers.clock import SystemClock
from longline.sdk import ApiClient, Bot, Found, Job, NoHandler, RequestRefused, Unreachable
from tests.sdk.jobs import GOOD, easy, never, some
from tests.surfaces.bots.running import Door as Server
from tests.surfaces.bots.running import running


async def test_a_bot_that_runs_once_works_until_no_job_is_left(server: Server, where: str):
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


async def test_a_server_that_hands_out_jobs_of_other_hosts_is_left(server: Server, where: str):
    class Careless(ApiClient):
        async def pull(
            self,
            max_jobs: int = 10,
            domain: str = "",  # noqa: ARG002 - it does not care
            *,
            hosts: Sequence[str] = (),  # noqa: ARG002 - as above
        ) -> tuple[list[Job], int]:
            return await super().pull(max_jobs)

    jobs = [*await some(server, 1, "shop.example"), *await some(server, 3, "notshop.example", max_retries=0)]
    bot = Bot(where, "b", concurrency=2, door=Careless(where, "b"))
    bot.on("shop.example")(easy)
    with pytest.raises(RequestRefused, match="hosts that were not asked for"):
        await asyncio.wait_for(bot.run(), 60)
    assert [await server.status(job) for job in jobs] == ["done", "locked", "pending", "pending"], "no job has failed"


async def test_a_bot_without_a_handler_does_not_run():
    with pytest.raises(NoHandler):
        await Bot("http://127.0.0.1:9", "b").run()


async def test_clocks_that_differ_do_not_matter(server: Server, where: str):
    server.clock.advance(2 * 365 * 86_400)
    await some(server, 1)
    bot = Bot(where, "b")
    bot.on()(easy)
    assert (await bot.run(once=True)).done == 1


async def test_a_bot_with_a_low_rate_limit_works_until_no_job_is_left(tmp_path: Path):
    async with running(f"sqlite:///{tmp_path}/longline.db", clock=SystemClock()) as server:
        token = (await server.post("bots", bot_id="b", rate_limit_per_minute=60))["api_token"]
        await some(server, 4)
        for _ in range(58):
            await server.pull("b", api_token=token, domain="nowhere")
        bot = Bot(str(server.stage.address), "b", token, concurrency=2)
        bot.on()(easy)
        stats = await asyncio.wait_for(bot.run(once=True), 120)
        assert (stats.pulled, stats.done) == (4, 4)


async def test_a_server_that_is_away_ends_a_bot_that_runs_once():
    bot = Bot("http://127.0.0.1:9", "b")
    bot.on()(never)
    with pytest.raises(Unreachable, match=r"http://127.0.0.1:9 cannot be reached: the connection was refused"):
        await asyncio.wait_for(bot.run(once=True), 60)


async def test_a_server_that_starts_again_meanwhile_gets_the_result(tmp_path: Path):
    database = f"sqlite:///{tmp_path}/longline.db"
    async with running(database, clock=SystemClock()) as server:
        [job] = await some(server, 1)
        address = str(server.stage.address)
        bot, pulled, away = Bot(address, "b", idle=0.1), asyncio.Event(), asyncio.Event()

        @bot.on()
        async def work(job: Job) -> Found:
            pulled.set()
            await away.wait()
            return GOOD

        working = asyncio.create_task(bot.run())
        await asyncio.wait_for(pulled.wait(), 60)
    away.set()
    await asyncio.sleep(0.5)
    async with running(database, clock=SystemClock(), port=int(address.rpartition(":")[2])) as server:
        async with asyncio.timeout(60):
            while await server.status(job) != "done":  # noqa: ASYNC110 - another thread
                await asyncio.sleep(0.05)
        bot.stop()
        stats = await asyncio.wait_for(working, 60)
    assert (stats.pulled, stats.done, stats.lost) == (1, 1, 0)


async def test_a_bot_that_is_aborted_after_a_stop_drops_its_work(server: Server, where: str):
    [job] = await some(server, 1)
    bot = Bot(where, "b")
    begun = asyncio.Event()

    @bot.on()
    async def work(job: Job) -> Found:
        begun.set()
        await asyncio.sleep(600)
        return GOOD

    working = asyncio.create_task(bot.run())
    await begun.wait()
    bot.stop()
    await asyncio.sleep(0.05)
    assert not working.done(), "the bot finishes the jobs that it holds"
    bot.abort()
    stats = await asyncio.wait_for(working, 60)
    assert (stats.lost, bot.aborted) == (1, True)
    assert await server.status(job) == "locked", "the job stays locked until its lock lapses"


async def test_a_stopped_bot_finishes_its_jobs_and_pulls_no_more(server: Server, where: str):
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


async def test_a_job_that_another_bot_got_meanwhile_is_dropped(server: Server, where: str):
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


async def test_a_bot_among_many_pulls_fewer_jobs_at_once(server: Server, where: str):
    await some(server, 20)
    await server.pull("other", max_jobs=17)
    bot = Bot(where, "b", concurrency=8)
    bot.on()(easy)
    await bot.run(once=True)
    assert bot._max_pull < 8


async def test_a_bot_waits_for_a_server_that_is_down(where: str):
    bot = Bot("http://127.0.0.1:9", "b")
    bot.on()(never)
    running = asyncio.create_task(bot.run())
    await asyncio.sleep(0.2)
    assert not running.done()
    bot.stop()
    await asyncio.wait_for(running, 60)
