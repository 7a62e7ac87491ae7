"""Parsing aside from the event loop: a few processes, with a deadline for every page and a fair share for every host.

A thread holds each process by a pipe, so that the loop only ever waits for a future. A page that hangs is killed with
its process, which is replaced; a page that was lost with its process is tried again, once if it may be at fault. Pages
wait in two lanes: pages that look slow, or with a slow page of their host lately, get half of the processes at most.
"""

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import ParamSpec, TypeVar

from longline.engine.parse.fair_queue import FairQueue
from longline.engine.parse.page_parser import NO_SHARE, Share
from longline.engine.parse.parser_process import Limits, Order, ParserAnswer, ParserProcess, ParseTimeout
from longline.engine.parse.parser_results import Parsed
from longline.engine.parse.slow_pages import SLOW_PAGE_SECONDS, SlowHosts, max_slow_pages
from longline.plugins import Page
from longline.plugins.parser_reload import LoadedParsers
from longline.plugins.registry import ParserSources
from longline.plugins.started_threads import started_threads

log = logging.getLogger(__name__)

MAX_WAITING_BYTES = 128 * 1024 * 1024
"""Bytes of bodies that may wait here without counting among the fetches under way."""

MAX_CRASHES = 2
"""Processes that may end by themselves while they parse a page, before the page fails."""

MAX_KILLS = 6
"""Processes that may be killed from outside, or fail to start, before their page fails."""

_GONE = (EOFError, OSError)

P = ParamSpec("P")
T = TypeVar("T")


class _ProcessLost(Exception):
    """A process is gone; `killed` if it was killed from outside or did not start, so that the page is not at fault."""

    def __init__(self, *, killed: bool) -> None:
        self.killed = killed


class _Displaced(Exception):
    """A page proved slow while enough slow pages are under way, and has to wait for its turn among them."""


@dataclass(slots=True, eq=False)
class _Waiting:
    """A page that waits to be parsed, or is being parsed."""

    parser: str
    page: Page
    share: Share
    slow: bool
    done: "asyncio.Future[Parsed]"
    held_seconds: float = 0.0
    """Seconds for which the page held a process, without the start of the process."""
    own_seconds: float | None = None
    """Processor time that the page took, or the seconds it held a process that gave no answer."""

    @property
    def order(self) -> Order:
        return self.parser, self.page


class ProcessPool:
    """A pool of at most `count` parsing processes, started when they are first needed."""

    def __init__(
        self, parsers: ParserSources | LoadedParsers, count: int, deadline: float, limits: Limits | None = None
    ) -> None:
        self._parsers, self._count, self._deadline, self._limits = parsers, count, deadline, limits or Limits()
        self._threads = started_threads(count, "parsing")
        self._idle: list[ParserProcess] = []
        self._all: set[ParserProcess] = set()
        self._lanes = {slow: FairQueue[_Waiting]() for slow in (False, True)}
        self._under_way = {False: 0, True: 0}
        self._used_seconds = {False: 0.0, True: 0.0}
        self._slow_hosts, self._max_slow = SlowHosts(), max_slow_pages(count)
        self._waiting_bytes = 0
        self._runs: set[asyncio.Task[None]] = set()
        self._closed = False

    @property
    def waiting(self) -> int:
        """Return the number of waiting pages, scaled down when their bodies exceed MAX_WAITING_BYTES."""
        count = len(self._lanes[False]) + len(self._lanes[True])
        spare = MAX_WAITING_BYTES / max(self._waiting_bytes, MAX_WAITING_BYTES)
        return int(count * spare)

    async def parse(self, parser: str, page: Page, share: Share = NO_SHARE, *, slow: bool = False) -> Parsed:
        """Return the result of the named parser; a failure becomes the page's error."""
        asked = _Waiting(parser, page, share, slow, asyncio.get_running_loop().create_future())
        self._put(asked)
        self._dispatch()
        try:
            parsed = await asked.done
            if parsed.error is None:
                return parsed
            error = parsed.error
        except ParseTimeout:
            error = f"{parser}: took longer than {self._deadline:g} s"
        except _GONE:
            error = f"{parser}: the process that parsed the page died"
        log.warning("parser failed", extra={"parser": parser, "url": page.url, "error": error})
        return Parsed(error=error)

    def close(self) -> None:
        """End every process; pages that are under way or wait fail."""
        self._closed = True
        for child in list(self._all):
            child.kill()
        self._threads.shutdown(cancel_futures=True)
        for child in self._idle:
            child.close_pipe()
        for lane in self._lanes.values():
            for asked in lane:
                _settle(asked, EOFError())

    # -- turns --------------------------------------------------------------------------------------------------

    def _put(self, asked: _Waiting) -> None:
        asked.slow = asked.slow or asked.share.host in self._slow_hosts
        if not self._lanes[asked.slow]:  # an empty lane saves up no time
            self._used_seconds[asked.slow] = max(self._used_seconds.values())
        self._lanes[asked.slow].put(asked.share, asked)
        self._waiting_bytes += len(asked.page.body)

    def _dispatch(self) -> None:
        """Start pages while there are free processes and waiting pages."""
        while not self._closed and sum(self._under_way.values()) < self._count:
            asked = self._take()
            if asked is None:
                return
            self._under_way[asked.slow] += 1
            running = asyncio.create_task(self._run(asked))
            self._runs.add(running)
            running.add_done_callback(self._runs.discard)

    def _take(self) -> _Waiting | None:
        lanes = sorted(self._lanes, key=self._turn)
        for slow in lanes:
            if slow and self._under_way[True] >= self._max_slow:
                continue
            while (asked := self._lanes[slow].take()) is not None:
                self._waiting_bytes -= len(asked.page.body)
                if not asked.done.cancelled():
                    return asked
                self._lanes[slow].done(asked.share, 0.0)
        return None

    def _turn(self, slow: bool) -> tuple[int, float]:
        """Return the rank of a lane: fewer pages under way go first, then less time used."""
        return self._under_way[slow], self._used_seconds[slow]

    async def _run(self, asked: _Waiting) -> None:
        """Parse a page in a process, then start the next one."""
        lane, displaced = self._lanes[asked.slow], False
        asked.held_seconds, asked.own_seconds = 0.0, None
        try:
            _settle(asked, await self._parse(asked))
        except _Displaced:
            displaced = True
        except (ParseTimeout, *_GONE) as error:
            _settle(asked, error)
        finally:
            lane.done(asked.share, asked.held_seconds)
            self._used_seconds[asked.slow] += asked.held_seconds
            self._under_way[asked.slow] -= 1
            self._judge(asked.share.host, asked.own_seconds)
            if displaced:
                self._put(asked)
            self._dispatch()

    def _judge(self, host: str, seconds: float | None) -> None:
        """Mark a host as slow or as not slow, by the time of its page; None for a page that no process has seen."""
        if seconds is not None:
            self._slow_hosts.judge(host, seconds)

    # -- one page -----------------------------------------------------------------------------------------------

    async def _parse(self, asked: _Waiting) -> Parsed:
        crashes = kills = 0
        while crashes < MAX_CRASHES and kills < MAX_KILLS and not self._closed:
            try:
                return await self._ask(asked)
            except _ProcessLost as lost:
                kills, crashes = kills + lost.killed, crashes + (not lost.killed)
        raise EOFError

    async def _ask(self, asked: _Waiting) -> Parsed:
        try:
            child = await self._in_thread(self._child)
        except _GONE:
            raise _ProcessLost(killed=True) from None
        begun, answer = time.monotonic(), None
        try:
            answer = await self._answer(asked, child)
        except _GONE:
            killed = child.was_killed() if self._closed else await self._in_thread(child.was_killed)
            await self._end(child)
            raise _ProcessLost(killed=killed) from None
        except BaseException:
            await self._end(child)
            raise
        finally:
            held = time.monotonic() - begun
            asked.held_seconds += held
            asked.own_seconds = held if answer is None else answer.own_seconds
        if answer is None:
            await self._end(child)
            raise ParseTimeout
        self._idle.append(child)
        return answer.parsed

    async def _answer(self, asked: _Waiting, child: ParserProcess) -> ParserAnswer | None:
        """Return the answer of a process for a page, or None after the deadline."""
        quick = min(SLOW_PAGE_SECONDS, self._deadline)
        answer = await self._in_thread(child.begin, asked.order, quick)
        if answer is None:
            self._promote(asked)
            answer = await self._in_thread(child.answer, self._deadline - quick)
        return answer

    def _promote(self, asked: _Waiting) -> None:
        """Move a page to the slow lane; raise `_Displaced` when too many slow pages run and quick pages wait."""
        if asked.slow:
            return
        asked.slow = True
        self._under_way[False] -= 1
        self._under_way[True] += 1
        if self._under_way[True] > self._max_slow and self._lanes[False]:
            raise _Displaced

    async def _end(self, child: ParserProcess) -> None:
        self._all.discard(child)
        if self._closed:
            child.end()
        else:
            await self._in_thread(child.end)

    async def _in_thread(self, work: Callable[P, T], *args: P.args, **named: P.kwargs) -> T:
        if self._closed:
            raise EOFError
        return await asyncio.get_running_loop().run_in_executor(self._threads, partial(work, *args, **named))

    def _child(self) -> ParserProcess:
        """Return an idle process, or a new one that is ready; runs in a thread of the pool."""
        code = self._parsers.code()
        while self._idle:
            child = self._idle.pop()
            if child.parsers == code:
                return child
            self._all.discard(child)
            child.end()  # the files of its parsers have changed
        child = ParserProcess(code, self._limits)
        self._all.add(child)
        if self._closed:  # started too late to be killed by `close`
            child.kill()
        try:
            child.wait_until_ready()
        except (ParseTimeout, *_GONE):
            self._all.discard(child)
            child.end()
            raise
        return child


def _settle(asked: _Waiting, outcome: Parsed | Exception) -> None:
    if asked.done.done():
        return
    if isinstance(outcome, Parsed):
        asked.done.set_result(outcome)
    else:
        asked.done.set_exception(outcome)
