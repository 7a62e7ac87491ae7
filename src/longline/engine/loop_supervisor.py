"""The loops of a process: a loop that dies is started again, and a stop ends all of them."""

import asyncio
import logging
import resource
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import suppress

from longline.model.errors import Unavailable

log = logging.getLogger(__name__)

RETRY_INTERVAL_SECONDS = 1.0
"""Shortest pause in seconds before an unavailable engine is tried again."""

Loop = Callable[[asyncio.Event], Coroutine[None, None, None]]


def chore(
    once: Callable[[], Awaitable[object]],
    every: float,
    called: asyncio.Event | None = None,
    *,
    fatal: tuple[type[Unavailable], ...] = (),
) -> Loop:
    """Return a loop that runs `once` at an interval, and at once when `called`; an unavailable engine is tried again.

    Failures that are `fatal` end the loop.
    """

    async def loop(stop: asyncio.Event) -> None:
        called_or_not, away = called or asyncio.Event(), False
        while not stop.is_set():
            called_or_not.clear()
            try:
                await once()
            except Unavailable as error:
                if isinstance(error, fatal):
                    raise
                # Warn once for each outage: some chores run at very short intervals.
                log.log(
                    logging.DEBUG if away else logging.WARNING,
                    "chore paused, engine unavailable",
                    extra={"error": str(error)},
                )
                away = True
            else:
                away = False
            with suppress(TimeoutError):
                await asyncio.wait_for(
                    _first(stop, called_or_not), max(every, RETRY_INTERVAL_SECONDS) if away else every
                )

    return loop


def peak_memory_mb() -> int:
    """Return the most memory that this process has used, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


async def run_until(stop: asyncio.Event, work: Coroutine[None, None, object]) -> None:
    """Run a coroutine until it ends or `stop` is set, which cancels it; raise its failure unless `stop` is set."""
    running, stopped = asyncio.create_task(work), asyncio.create_task(stop.wait())
    try:
        await asyncio.wait((running, stopped), return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in (running, stopped):
            task.cancel()
        ended, _ = await asyncio.gather(running, stopped, return_exceptions=True)
    if isinstance(ended, Exception) and not stop.is_set():
        raise ended


def cancel_on_stop(loop: Loop) -> Loop:
    """Return a loop that a stop cancels without waiting: its work can be done again."""
    return lambda stop: run_until(stop, loop(stop))


async def _first(*events: asyncio.Event) -> None:
    """Wait until one of the events is set."""
    waiting = [asyncio.create_task(event.wait()) for event in events]
    try:
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in waiting:
            task.cancel()


async def run_loops(loops: Mapping[str, Loop], stop: asyncio.Event) -> None:
    """Run loops side by side until `stop` is set and all of them have ended."""
    await asyncio.gather(*(_keep_running(name, loop, stop) for name, loop in loops.items()))


async def _keep_running(name: str, loop: Loop, stop: asyncio.Event) -> None:
    pause = 1.0
    while not stop.is_set():
        try:
            await loop(stop)
            return
        except Unavailable as error:
            log.warning("loop paused, engine unavailable", extra={"loop": name, "error": str(error)})
        except Exception:
            log.exception("loop failed, restarting it", extra={"loop": name})
        with suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), pause)
        pause = min(pause * 2, 30.0)
