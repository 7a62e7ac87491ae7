"""Calls between processes: whoever could do something is told to look at once."""

import asyncio
from collections.abc import Callable

from longline.engine.loops import Loop
from longline.wiring.house import House


def listener(house: House, topic: str, nudge: Callable[[], None]) -> Loop:
    """Look for work when somebody says that there is some."""

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
