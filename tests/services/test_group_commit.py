"""Calls that arrive together are carried out together, and each gets its own result."""

import asyncio
from collections.abc import Sequence

import pytest

from longline.model.errors import Unavailable
from longline.services.group_commit import GroupCommit


class Engine:
    """An engine that doubles numbers, in batches that can be held up."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.gate = asyncio.Event()
        self.gate.set()

    async def act(self, numbers: Sequence[int]) -> list[int]:
        self.batches.append(list(numbers))
        await self.gate.wait()
        if 13 in numbers:
            raise ValueError("13")
        if 99 in numbers:
            raise Unavailable("away")
        return [2 * n for n in numbers]


async def test_calls_during_a_batch_are_the_next_batch():
    engine = Engine()
    engine.gate.clear()
    grouped = GroupCommit(engine.act, lambda n: n)
    calls = [asyncio.create_task(grouped(n)) for n in range(5)]
    await asyncio.sleep(0)
    calls += [asyncio.create_task(grouped(n)) for n in range(5, 9)]
    await asyncio.sleep(0)
    engine.gate.set()
    assert await asyncio.gather(*calls) == [2 * n for n in range(9)]
    assert engine.batches == [[0, 1, 2, 3, 4], [5, 6, 7, 8]]
    assert await grouped(20) == 40, "a later call is carried out too"


async def test_a_batch_is_bounded_and_has_no_key_twice():
    engine = Engine()
    grouped = GroupCommit(engine.act, lambda n: n % 3, max_batch=2)
    assert await asyncio.gather(*(grouped(n) for n in (0, 3, 1, 2, 6))) == [0, 6, 2, 4, 12]
    assert engine.batches == [[0, 1], [3, 2], [6]]


async def test_a_failed_call_does_not_fail_the_others():
    grouped = GroupCommit(Engine().act, lambda n: n)
    told = await asyncio.gather(*(grouped(n) for n in (1, 13, 2)), return_exceptions=True)
    assert [told[0], told[2]] == [2, 4]
    assert isinstance(told[1], ValueError)


async def test_a_batch_is_sent_once_to_an_engine_that_is_down():
    engine = Engine()
    grouped = GroupCommit(engine.act, lambda n: n)
    told = await asyncio.gather(*(grouped(n) for n in (1, 99)), return_exceptions=True)
    assert [type(each) for each in told] == [Unavailable, Unavailable]
    assert len(engine.batches) == 1


async def test_a_cancelled_call_does_not_affect_the_others():
    engine = Engine()
    engine.gate.clear()
    grouped = GroupCommit(engine.act, lambda n: n)
    calls = [asyncio.create_task(grouped(n)) for n in range(3)]
    await asyncio.sleep(0)
    calls[1].cancel()
    await asyncio.sleep(0)
    engine.gate.set()
    assert [await calls[0], await calls[2]] == [0, 4]
    with pytest.raises(asyncio.CancelledError):
        await calls[1]


async def test_a_batch_waits_for_callers_that_just_got_their_results():
    engine = Engine()
    grouped = GroupCommit(engine.act, lambda n: n, max_batch=2, pause=0.05)
    assert await grouped(1) == 2

    async def twice(n: int) -> None:
        await grouped(n)
        await grouped(n + 10)

    await asyncio.gather(twice(2), grouped(3), grouped(4))
    assert engine.batches == [[1], [2, 3], [4, 12]], "without the pause 12 would be in a later batch"
