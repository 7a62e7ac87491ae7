"""The fake clock, which tests advance."""

import asyncio

import pytest

from longline.testing.clock import FakeClock


def test_time_stands_still_until_the_clock_is_advanced():
    clock = FakeClock(5_000)
    assert (clock.now(), clock.monotonic()) == (5_000, 0.0)
    clock.advance(1.5)
    assert (clock.now(), clock.monotonic()) == (6_500, 1.5)


def test_time_does_not_go_back():
    clock = FakeClock()
    with pytest.raises(ValueError, match="does not go back"):
        clock.advance(-1)


async def test_sleepers_wake_at_their_time_and_not_before():
    clock = FakeClock()
    woken: list[int] = []

    async def sleeper(seconds: int) -> None:
        await clock.sleep(seconds)
        woken.append(seconds)

    tasks = [asyncio.create_task(sleeper(seconds)) for seconds in (3, 1, 2)]
    await asyncio.sleep(0)
    assert woken == []
    clock.advance(2)
    await asyncio.sleep(0)
    assert woken == [1, 2]
    clock.advance(1)
    await asyncio.gather(*tasks)
    assert woken == [1, 2, 3]


async def test_a_sleep_of_zero_seconds_does_not_wait():
    await asyncio.wait_for(FakeClock().sleep(0), 60)


async def test_a_cancelled_sleeper_does_not_disturb_the_clock():
    clock = FakeClock()
    sleeping = asyncio.create_task(clock.sleep(1))
    await asyncio.sleep(0)
    sleeping.cancel()
    await asyncio.gather(sleeping, return_exceptions=True)
    clock.advance(1)
    assert sleeping.cancelled()
