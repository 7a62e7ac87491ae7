import asyncio

import pytest

from longline.drivers.signals.fanout import INBOX_SIZE, Fanout, Inbox
from longline.ports.signals import Signal


async def test_an_inbox_gives_its_remaining_signals_before_it_ends():
    inbox = Inbox(frozenset({"a"}))
    inbox.push(Signal("a", "1"))
    inbox.push(Signal("a", "2"))
    inbox.close()
    assert [signal.text async for signal in inbox] == ["1", "2"]


async def test_an_inbox_wakes_a_waiting_listener():
    inbox = Inbox(frozenset({"a"}))
    waiting = asyncio.create_task(anext(inbox))
    await asyncio.sleep(0)
    assert not waiting.done()
    inbox.push(Signal("a", "1"))
    assert await waiting == Signal("a", "1")


async def test_a_full_inbox_drops_the_oldest():
    inbox = Inbox(frozenset({"a"}))
    for number in range(INBOX_SIZE + 3):
        inbox.push(Signal("a", str(number)))
    inbox.close()
    kept = [int(signal.text) async for signal in inbox]
    assert kept == list(range(3, INBOX_SIZE + 3))


async def test_a_closed_fanout_ends_all_inboxes():
    fanout = Fanout()
    with fanout.inbox(frozenset({"a"})) as first, fanout.inbox(frozenset({"b"})) as second:
        fanout.deliver(Signal("b", "1"))
        fanout.close()
        assert [signal async for signal in first] == []
        assert [signal async for signal in second] == [Signal("b", "1")]
    assert fanout.closed


async def test_an_inbox_is_removed_when_its_context_ends():
    fanout = Fanout()
    with pytest.raises(RuntimeError), fanout.inbox(frozenset({"a"})) as inbox:
        raise RuntimeError
    fanout.deliver(Signal("a", "1"))
    inbox.close()
    assert [signal async for signal in inbox] == []
