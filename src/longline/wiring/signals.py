"""Signals between processes: the receiver looks for work at once."""

from collections.abc import Callable

from longline.engine.loop_supervisor import Loop, run_until
from longline.wiring.platform import Platform


def listener(platform: Platform, topic: str, nudge: Callable[[], None]) -> Loop:
    """Return a loop that calls `nudge` for every signal of a topic."""
    return text_listener(platform, topic, lambda _: nudge())


def text_listener(platform: Platform, topic: str, take: Callable[[str], None]) -> Loop:
    """Return a loop that calls `take` with the text of every signal of a topic."""

    async def listen() -> None:
        async with platform.signals.listen(topic) as received:
            async for signal in received:
                take(signal.text)

    return lambda stop: run_until(stop, listen())
