"""A bot: handlers by domain, and a loop that pulls, works and submits until it is told to stop."""

import asyncio
import logging
import signal
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass

from longline.sdk.door import FIRST_PAUSE, LONGEST_PAUSE, Door, Refused, Unreachable
from longline.sdk.work import Found, Job

Handler = Callable[[Job], Awaitable[Found]]

EVERYTHING = ""
IDLE_SECONDS = 5.0
MOST = 100

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Stats:
    """What a bot did: `handled` are jobs that somebody had finished, `lost` those whose lock somebody else got."""

    pulled: int = 0
    done: int = 0
    failed: int = 0
    handled: int = 0
    lost: int = 0


class Bot:
    """One bot. `concurrency` is how many jobs it works on at once; it never pulls more than it can begin."""

    def __init__(
        self,
        url: str,
        bot_id: str,
        token: str | None = None,
        *,
        concurrency: int = 4,
        idle: float = IDLE_SECONDS,
        door: Door | None = None,
    ) -> None:
        self.door = door or Door(url, bot_id, token)
        self.stats = Stats()
        self._concurrency, self._idle = concurrency, idle
        self._most, self._pause = min(concurrency, MOST), FIRST_PAUSE
        self._handlers: dict[str, Handler] = {}
        self._stop = asyncio.Event()
        self._working: set[asyncio.Task[None]] = set()

    def on(self, domain: str = EVERYTHING) -> Callable[[Handler], Handler]:
        """Give the jobs of a domain, and of every domain below it, to a function; without one, all jobs."""

        def take(handler: Handler) -> Handler:
            self._handlers[domain.lower()] = handler
            return handler

        return take

    def stop(self) -> None:
        """Pull no more; what is under way is finished and submitted."""
        self._stop.set()

    async def run(self, *, once: bool = False) -> Stats:
        """Work until stopped; `once` ends when there is nothing to pull and nothing under way."""
        try:
            while not self._stop.is_set():
                if len(self._working) >= self._concurrency:
                    await self._until_somebody_is_done()
                elif not await self._pull_all() and not self._working:
                    if once:
                        break
                    await self._rest(self._idle)
                elif once or len(self._working) >= self._concurrency:
                    await self._until_somebody_is_done()
                else:
                    await self._rest(self._idle)
            await asyncio.gather(*self._working)
        finally:
            self.door.close()
        return self.stats

    def listen(self) -> None:
        """Stop in good order on SIGTERM and SIGINT."""
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, self.stop)

    async def _pull_all(self) -> int:
        """Pull for each handler while there are hands free; how many jobs came."""
        domains = [EVERYTHING] if EVERYTHING in self._handlers else list(self._handlers)
        return sum([await self._pull(domain) for domain in domains])

    async def _pull(self, domain: str) -> int:
        free = min(self._concurrency - len(self._working), self._most)
        if free <= 0 or self._stop.is_set():
            return 0
        try:
            jobs, skipped = await self.door.pull(free, domain)
        except Unreachable as error:
            log.warning("cannot pull: %s", error)
            await self._rest(max(error.pause, self._pause))
            self._pause = min(self._pause * 2, LONGEST_PAUSE)
            return 0
        self._pause = FIRST_PAUSE
        # Many bots at one small heap: take less, so that there is something for everybody.
        crowded = skipped > 2 * len(jobs)
        self._most = max(1, self._most // 2) if crowded else min(self._most + 1, self._concurrency, MOST)
        self.stats.pulled += len(jobs)
        for job in jobs:
            task = asyncio.create_task(self._work(job), name=job.job_id)
            self._working.add(task)
            task.add_done_callback(self._working.discard)
        return len(jobs)

    async def _work(self, job: Job) -> None:
        try:
            async with asyncio.timeout(job.timeout_seconds):
                found = await self._handler(job)(job)
        except Exception as error:
            log.info("job %s failed: %r", job.job_id, error)
            await self._tell(self.door.fail(job, error), "failed")
        else:
            await self._tell(self.door.submit(job, found), "done")

    def _handler(self, job: Job) -> Handler:
        """The handler for the job's host, or for the nearest domain above it."""
        name = job.host
        while name not in self._handlers and name:
            name = name.partition(".")[2]
        if name not in self._handlers:
            raise LookupError(f"no handler for {job.host}")
        return self._handlers[name]

    async def _tell(self, telling: Awaitable[object], became: str) -> None:
        try:
            await telling
        except Refused as refused:
            became = "handled" if refused.code == "job_not_locked" else "lost"
            log.warning("an answer was not taken: %s", refused)
        except Unreachable as error:
            became = "lost"
            log.warning("an answer could not be handed in: %s", error)
        setattr(self.stats, became, getattr(self.stats, became) + 1)

    async def _until_somebody_is_done(self) -> None:
        await asyncio.wait(self._working, return_when=asyncio.FIRST_COMPLETED)

    async def _rest(self, seconds: float) -> None:
        """Wait for a while, for a hand to come free, or for the stop."""
        stopped = asyncio.create_task(self._stop.wait())
        await asyncio.wait({stopped, *self._working}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        stopped.cancel()
        with suppress(asyncio.CancelledError):
            await stopped
