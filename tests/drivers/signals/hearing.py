"""Listening with a time limit, so that a missing signal is a failure and not an endless wait."""

import asyncio
from collections.abc import AsyncIterator

from longline.ports.signals import Signal, Signals

PATIENCE = 60.0


async def next_of(heard: AsyncIterator[Signal]) -> Signal:
    """Return the next signal."""
    async with asyncio.timeout(PATIENCE):
        return await anext(heard)


async def up_to(heard: AsyncIterator[Signal], text: str) -> list[str]:
    """Return the texts of all signals up to the one with this text."""
    texts = [(await next_of(heard)).text]
    while texts[-1] != text:
        texts.append((await next_of(heard)).text)
    return texts


async def heard_again(heard: AsyncIterator[Signal], sender: Signals, topic: str) -> Signal:
    """Return the first signal that arrives after a failure; one is sent again and again until then."""

    async def call() -> None:
        while True:
            await asyncio.gather(sender.send(topic, "again"), return_exceptions=True)
            await asyncio.sleep(0.05)

    calling = asyncio.create_task(call())
    try:
        return await next_of(heard)
    finally:
        calling.cancel()
        await asyncio.wait([calling])
