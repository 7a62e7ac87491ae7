"""One job from its handler to the submitted result, for any result, exception or duration."""

import asyncio
import math
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from longline.drivers.clock import SystemClock
from longline.sdk import Bot, Found, Job, JobFailed
from tests.sdk.jobs import GOOD, some
from tests.surfaces.bots.running import Door as Server
from tests.surfaces.bots.running import running


async def test_the_message_of_a_failed_job_is_submitted(server: Server, where: str):
    [job] = await some(server, 1, max_retries=1)
    bot = Bot(where, "b")

    @bot.on("example.com")
    async def work(job: Job) -> Found:
        raise JobFailed(f"attempt {job.retry_count}")

    stats = await bot.run(once=True)
    assert (stats.pulled, stats.failed) == (2, 2)
    row = await server.get(f"jobs/{job}")
    assert (row["status"], row["last_error"]) == ("failed", "attempt 1")


# -- results that the server refuses ----------------------------------------------------------------------------

BAD: list[tuple[Any, str]] = [
    (None, "the handler returned NoneType, not Found"),
    ({"price": 1}, "the handler returned dict, not Found"),
    (Found("12.999", "USD"), "price: Ensure that there are no more than 2 decimal places."),
    (Found(0.1 + 0.2, "USD"), "price: Ensure that there are no more than 2 decimal places."),  # type: ignore[arg-type]
    (Found(None, "USD"), "price: A valid number is required."),  # type: ignore[arg-type]
    (Found("1", "US$"), "currency: Currency must be 3-letter ISO code (e.g., USD, VND, EUR)"),
    (Found("1", "USD", "x" * 501), "title: Ensure this field has no more than 500 characters."),
    (Found("1", "USD", raw_html="x" * 12_000_000), "bytes, the server takes 10,000,000"),
    (Found("1", "USD", raw_html="\udcff"), "the result is not JSON: str is not valid UTF-8"),
    (Found("1", "USD", raw_html=b"x"), "the result is not JSON: Type is not JSON serializable: bytes"),  # type: ignore[arg-type]
    (Found("1", "USD", parsed_data={"a": {1}}), "the result is not JSON: Type is not JSON serializable: set"),
    (Found("1", "USD", parsed_data={"a": [math.nan]}), "parsed_data is not a JSON object: nan is not a JSON number"),
    (Found("1", "USD", parsed_data={1: 2}), "the result is not JSON: Dict key must be str"),  # type: ignore[dict-item]
    (Found("1", "USD", parsed_data=7), "parsed_data is not a JSON object"),  # type: ignore[arg-type]
    (Found("1", "USD", in_stock="yes"), "in_stock: Must be a valid boolean."),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(("result", "text"), BAD, ids=[text[:40] for _, text in BAD])
async def test_a_result_that_the_server_refuses_is_submitted_as_a_failure_with_the_reason(
    server: Server, where: str, result: Any, text: str
):
    [job] = await some(server, 1, max_retries=0)
    bot = Bot(where, "b")

    @bot.on()
    async def work(job: Job) -> Found:
        return result  # type: ignore[no-any-return]

    stats = await asyncio.wait_for(bot.run(once=True), 60)
    assert (stats.pulled, stats.failed, stats.done) == (1, 1, 0)
    row = await server.get(f"jobs/{job}")
    assert row["status"] == "failed"
    assert text in row["last_error"]


class Mute(Exception):
    def __str__(self) -> str:
        return "\udcff\0 odd"


class Broken(Exception):
    def __str__(self) -> str:
        raise RuntimeError("in str")


@pytest.mark.parametrize(
    "error", [Mute(), Broken(), SystemExit(3), asyncio.CancelledError(), JobFailed("ü" * 600), KeyError("x")]
)
async def test_any_exception_is_submitted_as_a_failure(server: Server, where: str, error: BaseException):
    [job] = await some(server, 1, max_retries=0)
    bot = Bot(where, "b")

    @bot.on()
    async def work(job: Job) -> Found:
        raise error

    assert (await asyncio.wait_for(bot.run(once=True), 60)).failed == 1
    assert (await server.get(f"jobs/{job}"))["status"] == "failed"


# -- time -------------------------------------------------------------------------------------------------------


async def patient(job: Job) -> Found:
    await asyncio.sleep(600)
    return GOOD


async def stubborn(job: Job) -> Found:
    for _ in range(2):
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(600)
    return GOOD


TIDIED: list[str] = []


async def tidy(job: Job) -> Found:
    try:
        await asyncio.sleep(600)
    finally:
        await asyncio.sleep(2)
        TIDIED.append(job.job_id)
    return GOOD


@pytest.mark.parametrize("handler", [patient, stubborn, tidy])
async def test_a_handler_that_takes_too_long_is_failed_before_its_lock_ends(tmp_path: Path, handler: Any):
    async with running(f"sqlite:///{tmp_path}/longline.db", clock=SystemClock()) as server:
        token = (await server.post("bots", bot_id="b", custom_lock_ttl_seconds=4))["api_token"]
        [job] = await some(server, 1, max_retries=0)
        bot = Bot(str(server.stage.address), "b", token)
        bot.on()(handler)
        stats = await asyncio.wait_for(bot.run(once=True), 60)
        assert (stats.failed, stats.lost, stats.unsent) == (1, 0, 0)
        row = await server.get(f"jobs/{job}")
        assert (row["status"], row["expiry_count"]) == ("failed", 0)
        assert row["last_error"] == "TimeoutError: the handler did not end before the lock of 4 seconds"
        assert (job in TIDIED) == (handler is tidy), "the handler may clean up meanwhile"


async def test_a_heartbeat_gives_a_handler_more_time(tmp_path: Path):
    async with running(f"sqlite:///{tmp_path}/longline.db", clock=SystemClock()) as server:
        token = (await server.post("bots", bot_id="b", custom_lock_ttl_seconds=4))["api_token"]
        await some(server, 1, max_retries=0)
        bot = Bot(str(server.stage.address), "b", token)

        @bot.on()
        async def work(job: Job) -> Found:
            for _ in range(6):
                await asyncio.sleep(1)
                await bot.door.heartbeat(job)
            return GOOD

        assert (await asyncio.wait_for(bot.run(once=True), 60)).done == 1
