"""Promises of every carrier of signals, on each carrier."""

import asyncio

import pytest

from longline.drivers.signals.fanout import INBOX_SIZE
from longline.model.errors import BadInput, Unavailable
from longline.ports.signals import Signal
from tests.drivers.signals.hearing import next_of, up_to

TEXTS = ["", "plain", "two\nlines", "quote ' \" \\", "ünï 中 🎣", "\0\x01", "\x01" * 1000, "🎣" * 1000]


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
async def test_a_sent_signal_is_received(ends, text):
    async with ends.there.listen("work") as heard:
        await ends.here.send("work", text)
        assert await next_of(heard) == Signal("work", text)


async def test_the_text_may_be_left_out(ends):
    async with ends.there.listen("work") as heard:
        await ends.here.send("work")
        assert await next_of(heard) == Signal("work", "")


async def test_the_sender_receives_its_own_signals(ends):
    async with ends.here.listen("work") as heard:
        await ends.here.send("work", "me")
        assert await next_of(heard) == Signal("work", "me")


async def test_every_listener_receives_its_topics_and_no_others(ends):
    async with (
        ends.there.listen("work") as work,
        ends.there.listen("work", "logs.run-1") as both,
        ends.here.listen("work", "end") as here,
    ):
        for topic, text in (("logs.run-1", "1"), ("other", "2"), ("work", "3"), ("works", "4"), ("work", "5")):
            await ends.here.send(topic, text)
        assert await up_to(work, "5") == ["3", "5"]
        assert await up_to(both, "5") == ["1", "3", "5"]
        assert await up_to(here, "5") == ["3", "5"]


async def test_listening_begins_when_the_context_is_entered(ends):
    await ends.here.send("work", "too early")
    async with ends.there.listen("work") as heard:
        await ends.here.send("work", "in time")
        assert (await next_of(heard)).text == "in time"


async def test_a_listener_that_left_receives_nothing_and_a_new_one_receives_again(ends):
    async with ends.there.listen("work") as first:
        await ends.here.send("work", "1")
        await next_of(first)
    async with ends.there.listen("work") as second:
        await ends.here.send("work", "2")
        assert (await next_of(second)).text == "2"
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await anext(first)


async def test_signals_keep_their_order(ends):
    async with ends.there.listen("work") as heard:
        for number in range(200):
            await ends.here.send("work", str(number))
        assert await up_to(heard, "199") == [str(number) for number in range(200)]


async def test_concurrent_senders_lose_no_signal(ends):
    async with ends.there.listen("work") as heard:
        await asyncio.gather(*(ends.here.send("work", str(number)) for number in range(100)))
        assert {(await next_of(heard)).text for _ in range(100)} == {str(number) for number in range(100)}


async def test_a_slow_listener_does_not_block_others_and_loses_the_oldest(ends):
    async with ends.there.listen("work") as slow, ends.there.listen("work") as quick:
        for number in range(INBOX_SIZE + 50):
            await ends.here.send("work", str(number))
            await next_of(quick)
        texts = await up_to(slow, str(INBOX_SIZE + 49))
        assert texts == [str(number) for number in range(50, INBOX_SIZE + 50)]


async def test_close_ends_every_listener(ends):
    async with ends.there.listen("work") as heard:
        await ends.here.send("work", "last")
        first = await next_of(heard)
        waiting = asyncio.create_task(next_of(heard))
        await asyncio.sleep(0)
        await ends.there.close()
        with pytest.raises(StopAsyncIteration):
            await waiting
    assert first.text == "last"
    with pytest.raises(Unavailable, match="closed"):
        await ends.there.send("work")
    with pytest.raises(Unavailable, match="closed"):
        await ends.there.listen("work").__aenter__()
    await ends.there.close()


@pytest.mark.parametrize("topic", ["", "Work", "two words", "x" * 65, "-x", "ü", "work\n", "a/b"])
async def test_a_bad_topic_is_refused(ends, topic):
    with pytest.raises(BadInput, match="is no topic"):
        await ends.here.send(topic)
    with pytest.raises(BadInput, match="is no topic"):
        await ends.here.listen(topic).__aenter__()


async def test_a_listener_names_a_topic(ends):
    with pytest.raises(BadInput, match="at least one topic"):
        await ends.here.listen().__aenter__()


@pytest.mark.parametrize(("text", "said"), [("x" * 1001, "at most 1000"), ("\ud800", "not valid Unicode")])
async def test_a_text_that_is_too_long_or_invalid_is_refused(ends, text, said):
    with pytest.raises(BadInput, match=said):
        await ends.here.send("work", text)


async def test_check_names_the_carrier(ends):
    assert (await ends.here.check()).startswith(("in process", "PostgreSQL at 127.0.0.1", "Redis at 127.0.0.1"))
