"""Signals between processes: the receiver looks for work at once."""

import asyncio
from collections.abc import Callable

from longline.engine.loops import Loop
from longline.wiring.house import House


def listener(house: House, topic: str, nudge: Callable[[], None]) -> Loop:
    """Return a loop that calls `nudge` for every signal of a topic."""

    async def loop(stop: asyncio.Event) -> None:
        async def hear() -> None:
            async with house.signals.listen(topic) as heard:
                async for _ in heard:
                    nudge()

        listening = asyncio.create_task(hear())
        stopped = asyncio.create_task(stop.wait())
        await asyncio.wait((listening, stopped), return_when=asyncio.FIRST_COMPLETED)
        for task in (listening, stopped):
            task.cancel()
        heard, _ = await asyncio.gather(listening, stopped, return_exceptions=True)
        if isinstance(heard, Exception) and not stop.is_set():
            raise heard

    return loop
