"""Parsing aside from the loop: a few processes, with a deadline for every page and a fair share for every host.

A thread holds each process by a pipe, so that the loop only ever waits for a future. A page that hangs is killed with
its process, which is replaced; a page that was lost with its process is tried once more. Pages wait in two lanes: those
that look slow, or whose host had a slow page lately, may have half of the processes at most.
"""

import asyncio
import logging
import multiprocessing
import os
import pickle
import resource
import signal
import sys
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection
from multiprocessing.reduction import ForkingPickler
from typing import ParamSpec, TypeVar

from longline.engine.parse import MAX_LINKS, NOBODY, Parsed, Share, run
from longline.engine.shares import FairQueue
from longline.plugins import Page
from longline.plugins.memory import keep_freed_memory
from longline.plugins.registry import Shelf

log = logging.getLogger(__name__)

STARTING = 60.0
"""Seconds that a process may take to import everything; a machine may be busy."""

GIVE_WAY = 5
"""How far parsing stands back where the machine has too much to do: fetches and leases cannot wait."""

QUICK_SECONDS = 2.0
"""Seconds after which a page counts as slow, and its host with it."""

MAX_SLOW_HOSTS = 10_000
"""Hosts that are remembered for a slow page."""

MAX_RESULT_BYTES = 64 * 1024 * 1024
"""Size of what a process may make of one page."""

MAX_WAITING_BYTES = 128 * 1024 * 1024
"""Bodies that may wait here without counting among the fetches that are under way."""

_PROCESSES = multiprocessing.get_context("spawn")
"""A fork would copy locks that threads of ours hold at that moment."""

_GONE = (EOFError, OSError)

_LEFT = (EOFError, ConnectionResetError, BrokenPipeError)
"""How a process hears that its owner is gone: at rest, killed in mid-word, or before the answer."""

Order = tuple[str, Page]
P = ParamSpec("P")
T = TypeVar("T")


class Overdue(Exception):
    """A page was not parsed in time."""


class _Displaced(Exception):
    """A page turned out to be slow while enough slow pages are under way: it has to wait for its turn among them."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on what one page may cost; `memory_bytes` 0 leaves the memory of a process unbounded."""

    max_links: int = MAX_LINKS
    memory_bytes: int = 0


@dataclass(slots=True, eq=False)
class _Waiting:
    """A page that waits to be parsed, or is being parsed."""

    parser: str
    page: Page
    share: Share
    slow: bool
    done: "asyncio.Future[Parsed]"

    @property
    def order(self) -> Order:
        return self.parser, self.page


class Aside:
    """Processes that parse, at most `count` of them, started when they are first needed."""

    def __init__(self, shelf: Shelf, count: int, deadline: float, limits: Limits | None = None) -> None:
        self._shelf, self._count, self._deadline, self._limits = shelf, count, deadline, limits or Limits()
        self._threads = ThreadPoolExecutor(count, thread_name_prefix="parsing")
        self._idle: list[_Child] = []
        self._all: set[_Child] = set()
        self._lanes = {slow: FairQueue[_Waiting]() for slow in (False, True)}
        self._under_way = {False: 0, True: 0}
        self._used_seconds = {False: 0.0, True: 0.0}
        self._slow_hosts: OrderedDict[str, None] = OrderedDict()
        self._waiting_bytes = 0
        self._runs: set[asyncio.Task[None]] = set()
        self._closed = False

    @property
    def waiting(self) -> int:
        """Return how many pages wait for a process, as far as there is memory for them."""
        count = len(self._lanes[False]) + len(self._lanes[True])
        spare = MAX_WAITING_BYTES / max(self._waiting_bytes, MAX_WAITING_BYTES)
        return int(count * spare)

    async def parse(self, parser: str, page: Page, share: Share = NOBODY, *, slow: bool = False) -> Parsed:
        """Return what the parser of that name makes of the page; its failures are the page's error."""
        asked = _Waiting(parser, page, share, slow, asyncio.get_running_loop().create_future())
        self._put(asked)
        self._dispatch()
        try:
            parsed = await asked.done
            if parsed.error is None:
                return parsed
            error = parsed.error
        except Overdue:
            error = f"{parser}: took longer than {self._deadline:g} s"
        except _GONE:
            error = f"{parser}: the process that parsed the page died"
        log.warning("parser failed", extra={"parser": parser, "url": page.url, "error": error})
        return Parsed(error=error)

    def close(self) -> None:
        """End every process; whatever is under way or waits fails."""
        self._closed = True
        for child in list(self._all):
            child.kill()
        self._threads.shutdown(cancel_futures=True)
        for child in self._idle:
            child.let_go()
        for lane in self._lanes.values():
            for asked in lane:
                _settle(asked, EOFError())

    # -- whose turn it is ---------------------------------------------------------------------------------------

    def _put(self, asked: _Waiting) -> None:
        asked.slow = asked.slow or asked.share.host in self._slow_hosts
        if not self._lanes[asked.slow]:  # a lane that was empty has saved nothing up
            self._used_seconds[asked.slow] = max(self._used_seconds.values())
        self._lanes[asked.slow].put(asked.share, asked)
        self._waiting_bytes += len(asked.page.body)

    def _dispatch(self) -> None:
        """Give pages to processes while there are both."""
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
            if slow and self._under_way[True] >= self._most_slow:
                continue
            while (asked := self._lanes[slow].take()) is not None:
                self._waiting_bytes -= len(asked.page.body)
                if not asked.done.cancelled():
                    return asked
                self._lanes[slow].done(asked.share, 0.0)
        return None

    def _turn(self, slow: bool) -> tuple[int, float]:
        """Return the rank of a lane: that with fewer pages under way goes first, then that which had less time."""
        return self._under_way[slow], self._used_seconds[slow]

    @property
    def _most_slow(self) -> int:
        return max(1, self._count // 2)

    async def _run(self, asked: _Waiting) -> None:
        """Parse a page in a process, and let the next one have its turn."""
        lane, begun, displaced = self._lanes[asked.slow], time.monotonic(), False
        try:
            _settle(asked, await self._parse(asked))
        except _Displaced:
            displaced = True
        except (Overdue, *_GONE) as error:
            _settle(asked, error)
        finally:
            seconds = time.monotonic() - begun
            lane.done(asked.share, seconds)
            self._used_seconds[asked.slow] += seconds
            self._under_way[asked.slow] -= 1
            self._judge(asked.share.host, seconds)
            if displaced:
                self._put(asked)
            self._dispatch()

    def _judge(self, host: str, seconds: float) -> None:
        """Remember whether a host has slow pages; those for a person who waits are of no host."""
        if seconds < QUICK_SECONDS / 4:
            self._slow_hosts.pop(host, None)
        elif seconds >= QUICK_SECONDS and host:
            self._slow_hosts[host] = None
            if len(self._slow_hosts) > MAX_SLOW_HOSTS:
                self._slow_hosts.popitem(last=False)

    # -- one page -----------------------------------------------------------------------------------------------

    async def _parse(self, asked: _Waiting) -> Parsed:
        try:
            return await self._ask(asked)
        except _GONE:
            if self._closed:
                raise
            # Killed while it was idle, or for the memory it took: that need not be this page's doing.
            return await self._ask(asked)

    async def _ask(self, asked: _Waiting) -> Parsed:
        quick = min(QUICK_SECONDS, self._deadline)
        child = await self._in_thread(self._child)
        try:
            parsed = await self._in_thread(child.begin, asked.order, quick)
            if parsed is None:
                self._promote(asked)
                parsed = await self._in_thread(child.answer, self._deadline - quick)
        except BaseException:
            await self._end(child)
            raise
        if parsed is None:
            await self._end(child)
            raise Overdue
        self._idle.append(child)
        return parsed

    def _promote(self, asked: _Waiting) -> None:
        """Count a page among the slow ones; raise `_Displaced` when there are enough of these and others wait."""
        if asked.slow:
            return
        asked.slow = True
        self._under_way[False] -= 1
        self._under_way[True] += 1
        if self._under_way[True] > self._most_slow and self._lanes[False]:
            raise _Displaced

    async def _end(self, child: "_Child") -> None:
        self._all.discard(child)
        if self._closed:
            child.end()
        else:
            await self._in_thread(child.end)

    async def _in_thread(self, work: Callable[P, T], *args: P.args, **named: P.kwargs) -> T:
        if self._closed:
            raise EOFError
        return await asyncio.get_running_loop().run_in_executor(self._threads, partial(work, *args, **named))

    def _child(self) -> "_Child":
        """Return a process that is idle, or a new one; runs in a thread of ours."""
        if self._idle:
            return self._idle.pop()
        child = _Child(self._shelf, self._limits)
        self._all.add(child)
        if self._closed:  # it came too late to be ended with the others
            child.kill()
        return child


def _settle(asked: _Waiting, outcome: Parsed | Exception) -> None:
    if asked.done.done():
        return
    if isinstance(outcome, Parsed):
        asked.done.set_result(outcome)
    else:
        asked.done.set_exception(outcome)


class _Child:
    """One process, seen from ours."""

    def __init__(self, shelf: Shelf, limits: Limits | None = None) -> None:
        self._pipe, theirs = _PROCESSES.Pipe()
        self._process = _PROCESSES.Process(
            target=_serve, args=(theirs, shelf, limits or Limits()), daemon=True, name="longline-parsing"
        )
        self._process.start()
        theirs.close()
        self._ready = False

    def begin(self, order: Order, seconds: float) -> Parsed | None:
        """Give a page to the process; return what it makes of it, or None when that takes longer."""
        if not self._ready:
            if not self._pipe.poll(STARTING):
                raise Overdue
            self._pipe.recv()
            self._ready = True
        self._pipe.send(order)
        return self.answer(seconds)

    def answer(self, seconds: float) -> Parsed | None:
        """Return what the process makes of its page, or None when that takes longer."""
        if not self._pipe.poll(seconds):
            return None
        parsed: Parsed = pickle.loads(self._pipe.recv_bytes(2 * MAX_RESULT_BYTES))
        return parsed

    def kill(self) -> None:
        self._process.kill()
        self._process.join()

    def let_go(self) -> None:
        self._pipe.close()

    def end(self) -> None:
        """Kill the process and let go of its pipe."""
        self.kill()
        self.let_go()


def _serve(pipe: Connection, shelf: Shelf, limits: Limits) -> None:
    """Parse pages until the other end of the pipe is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches this process too, and its owner decides
    os.nice(GIVE_WAY)
    keep_freed_memory()
    # The owner tells of failures, where logs are set up; what parsers themselves say is theirs to say.
    logging.getLogger("longline").setLevel(logging.CRITICAL)
    registry = shelf.open()
    _bound_memory(limits.memory_bytes)
    with suppress(*_LEFT), asyncio.Runner() as runner:
        pipe.send("ready")
        while True:
            name, page = pipe.recv()
            marked = registry.named(name)
            if marked is None:
                parsed = Parsed(error=f"there is no parser {name}")
            else:
                parsed = runner.run(run(marked, page, limits.max_links))
            _send(pipe, name, parsed)


def _bound_memory(max_bytes: int) -> None:
    """Let allocations beyond a bound fail, where the system counts the memory that a process writes to."""
    if max_bytes and sys.platform.startswith("linux"):
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        most = max_bytes if hard == resource.RLIM_INFINITY else min(max_bytes, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (most, hard))


def _send(pipe: Connection, name: str, parsed: Parsed) -> None:
    try:
        result = ForkingPickler.dumps(parsed)
    except (TypeError, AttributeError, ValueError) as error:  # what pickle says of things that cannot be carried
        result = ForkingPickler.dumps(Parsed(error=f"{name}: an item has a field that cannot be kept: {error}"))
    except MemoryError:
        result = ForkingPickler.dumps(Parsed(error=f"{name}: what was made of the page takes too much memory"))
    if len(result) > MAX_RESULT_BYTES:
        result = ForkingPickler.dumps(Parsed(error=f"{name}: more than {MAX_RESULT_BYTES} bytes were made of the page"))
    pipe.send_bytes(result)
