"""A bot: handlers by host, and a loop that pulls jobs, runs their handlers and submits results until it is stopped."""

import asyncio
import logging
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from longline.sdk.client import (
    FIRST_PAUSE_SECONDS,
    MAX_PAUSE_SECONDS,
    ApiClient,
    RateLimited,
    RequestRefused,
    Unreachable,
)
from longline.sdk.handlers import Handler, Handlers, host_pattern
from longline.sdk.job import Job
from longline.sdk.job_execution import JobExecution

IDLE_SECONDS = 5.0
MAX_PULL = 100
MAX_ATTEMPTS_ONCE = 3
"""Consecutive failed pulls after which a bot that runs once gives up."""

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Stats:
    """Counts of the jobs that a bot pulled, by outcome.

    `handled` jobs were finished by other bots, `lost` jobs went to other bots or were cancelled, results of `unsent`
    jobs did not reach the server, and no handler of this bot takes `left` jobs.
    """

    pulled: int = 0
    done: int = 0
    failed: int = 0
    handled: int = 0
    lost: int = 0
    unsent: int = 0
    left: int = 0


class NoHandler(Exception):
    """A bot was started without a handler."""


class Bot:
    """A bot that works on up to `concurrency` jobs at once and never pulls more jobs than it can begin."""

    def __init__(
        self,
        url: str,
        bot_id: str,
        token: str | None = None,
        *,
        concurrency: int = 4,
        idle: float = IDLE_SECONDS,
        door: ApiClient | None = None,
    ) -> None:
        self.door = door or ApiClient(url, bot_id, token)
        self.stats = Stats()
        self.aborted = False
        self._concurrency, self._idle = concurrency, idle
        self._max_pull, self._pause = min(concurrency, MAX_PULL), FIRST_PAUSE_SECONDS
        self._pull_at, self._failed_pulls, self._limited = 0.0, 0, False
        self._handlers = Handlers()
        self._stop = asyncio.Event()
        self._working: set[asyncio.Task[None]] = set()

    def on(self, *hosts: str) -> Callable[[Handler], Handler]:
        """Register an async function as the handler of these hosts' jobs; without hosts, of all jobs.

        `shop.example` means that host alone, on any port; `*.shop.example` means every host below it.
        """
        patterns = tuple(host_pattern(host) for host in hosts)

        def take(handler: Handler) -> Handler:
            self._handlers.add(patterns, handler)
            return handler

        return take

    def stop(self) -> None:
        """Stop pulling; jobs under way are finished and submitted."""
        self._stop.set()

    def abort(self) -> None:
        """Stop at once: jobs under way are cancelled, and their locks lapse on the server."""
        self._stop.set()
        self.aborted = True
        for task in self._working:
            task.cancel()

    async def run(self, *, once: bool = False) -> Stats:
        """Work until stopped; with `once`, until there is no job to pull and none under way.

        Raises `RequestRefused` when the server does not let this bot pull and, with `once`, `Unreachable` when the
        server is away; jobs under way are finished first.
        """
        if not self._handlers:
            raise NoHandler("this bot has no handler; decorate an async function with @bot.on()")
        try:
            while not self._stop.is_set() and await self._round(once):
                pass
        finally:
            while self._working:
                await asyncio.wait(self._working)
            self.door.close()
        return self.stats

    def listen(self) -> None:
        """Call `stop` on the first SIGTERM or SIGINT, and `abort` on the second."""
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, self._on_signal)

    def _on_signal(self) -> None:
        if self._stop.is_set():
            self.abort()
        else:
            self.stop()

    async def _round(self, once: bool) -> bool:
        """Pull once if a job can begin and the pause is over, else wait; return False when the bot is done."""
        wait = self._pull_at - time.monotonic()
        if len(self._working) >= self._concurrency:
            await self._until_one_is_done()
        elif wait > 0:
            await self._rest(wait)
        elif await self._pull(once):
            # Fewer jobs than asked for: there are no more for now.
            if once and not self._working:
                return False
            await (self._until_one_is_done() if once else self._rest(self._idle))
        return True

    async def _pull(self, once: bool) -> bool:
        """Pull for all handlers together; return whether the server has no more jobs for now."""
        asked = min(self._concurrency - len(self._working), self._max_pull)
        try:
            jobs, skipped = await self.door.pull(asked, hosts=self._handlers.hosts)
        except RateLimited as error:
            self._slow_down(error)
            return False
        except Unreachable as error:
            self._failed_pulls += 1
            if once and self._failed_pulls >= MAX_ATTEMPTS_ONCE:
                raise
            log.warning("%s; the next attempt is in %.0f seconds", error, max(error.pause, self._pause))
            self._pull_at = time.monotonic() + max(error.pause, self._pause)
            self._pause = min(self._pause * 2, MAX_PAUSE_SECONDS)
            return False
        self._failed_pulls, self._pause = 0, FIRST_PAUSE_SECONDS
        # Many bots share few jobs: pull fewer, so that every bot gets some.
        crowded = skipped > 2 * len(jobs)
        self._max_pull = (
            max(1, self._max_pull // 2) if crowded else min(self._max_pull + 1, self._concurrency, MAX_PULL)
        )
        self._begin(jobs)
        if self.stats.left:
            # Further pulls would lock the jobs of other bots, one after the other.
            raise RequestRefused(200, "wrong_hosts", f"{self.door.url} hands out jobs of hosts that were not asked for")
        return len(jobs) < asked

    def _slow_down(self, error: RateLimited) -> None:
        wait = max(error.pause, FIRST_PAUSE_SECONDS)
        self._pull_at = time.monotonic() + wait
        flags = f"--bot-id {self.door.bot_id} --rate-limit N"
        level = logging.INFO if self._limited else logging.WARNING
        log.log(level, "rate limited, waits %.0f seconds; `longline bots change %s` raises the limit", wait, flags)
        self._limited = True

    def _begin(self, jobs: list[Job]) -> None:
        self.stats.pulled += len(jobs)
        for job in jobs:
            handler = self._handlers.find(job)
            if handler is None:
                self._leave(job)
                continue
            task = asyncio.create_task(self._work(JobExecution(self.door, job, handler)), name=job.job_id)
            self._working.add(task)
            task.add_done_callback(self._working.discard)

    def _leave(self, job: Job) -> None:
        """Drop a job that has no handler here; another bot gets the job when its lock ends."""
        log.warning("job %s left to other bots: no handler for %s", job.job_id, job.host)
        self.stats.left += 1
        self.door.forget(job)

    async def _work(self, execution: JobExecution) -> None:
        try:
            outcome = await execution.run()
        except asyncio.CancelledError:
            outcome = "lost"
        except Exception:
            log.exception("job %s: unexpected error", execution.job.job_id)
            outcome = "lost"
        finally:
            self.door.forget(execution.job)
        setattr(self.stats, outcome, getattr(self.stats, outcome) + 1)

    async def _until_one_is_done(self) -> None:
        await asyncio.wait(self._working, return_when=asyncio.FIRST_COMPLETED)

    async def _rest(self, seconds: float) -> None:
        """Wait until the time is over, a job ends or the bot is stopped."""
        stopped = asyncio.create_task(self._stop.wait())
        await asyncio.wait({stopped, *self._working}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        stopped.cancel()
        with suppress(asyncio.CancelledError):
            await stopped
