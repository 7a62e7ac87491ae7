"""Parsing aside from the loop: a few processes, each with a deadline for every page.

A thread holds each of them by a pipe, so that the loop only ever waits for a future. What hangs is killed, what dies is
replaced; a page that was lost with its process is tried once more.
"""

import asyncio
import logging
import multiprocessing
import os
import signal
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

from longline.engine.parse import Parsed, run
from longline.plugins import Page
from longline.plugins.memory import keep_freed_memory
from longline.plugins.registry import Shelf

log = logging.getLogger(__name__)

STARTING = 60.0
"""Seconds that a process may take to import everything; a machine may be busy."""

GIVE_WAY = 5
"""How far parsing stands back where the machine has too much to do: fetches and leases cannot wait."""

_PROCESSES = multiprocessing.get_context("spawn")
"""A fork would copy locks that threads of ours hold at that moment."""

_GONE = (EOFError, OSError)

_LEFT = (EOFError, ConnectionResetError, BrokenPipeError)
"""How a process hears that whoever asked is gone: at rest, killed in mid-word, or before the answer."""


class Overdue(Exception):
    """A page was not parsed in time."""


class Aside:
    """Processes that parse, at most `count` of them, started when they are first needed."""

    def __init__(self, shelf: Shelf, count: int, deadline: float) -> None:
        self._shelf, self._deadline = shelf, deadline
        self._threads = ThreadPoolExecutor(count, thread_name_prefix="parsing")
        self._idle: list[_Child] = []
        self._all: set[_Child] = set()
        self._closed = False

    async def parse(self, parser: str, page: Page) -> Parsed:
        """What the parser of that name makes of the page; its failures are the page's error, whatever they are."""
        try:
            parsed = await asyncio.get_running_loop().run_in_executor(self._threads, self._parse, parser, page)
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
        """End every process; whatever is under way fails."""
        self._closed = True
        for child in list(self._all):
            child.kill()
        self._threads.shutdown(cancel_futures=True)
        for child in self._idle:
            child.let_go()

    def _parse(self, parser: str, page: Page) -> Parsed:
        """Runs in a thread of ours."""
        try:
            return self._ask(parser, page)
        except _GONE:
            if self._closed:
                raise
            # Killed while it was idle, or by somebody who wanted its memory: that need not be this page's doing.
            return self._ask(parser, page)

    def _ask(self, parser: str, page: Page) -> Parsed:
        child = self._idle.pop() if self._idle else self._start()
        try:
            parsed = child.ask((parser, page), self._deadline)
        except BaseException:
            self._all.discard(child)
            child.kill()
            child.let_go()
            raise
        self._idle.append(child)
        return parsed

    def _start(self) -> "_Child":
        child = _Child(self._shelf)
        self._all.add(child)
        if self._closed:  # it came too late to be ended with the others
            child.kill()
        return child


class _Child:
    """One process, seen from ours."""

    def __init__(self, shelf: Shelf) -> None:
        self._pipe, theirs = _PROCESSES.Pipe()
        self._process = _PROCESSES.Process(target=_serve, args=(theirs, shelf), daemon=True, name="longline-parsing")
        self._process.start()
        theirs.close()
        self._ready = False

    def ask(self, order: tuple[str, Page], deadline: float) -> Parsed:
        if not self._ready:
            self._answer(STARTING)
            self._ready = True
        self._pipe.send(order)
        parsed: Parsed = self._answer(deadline)
        return parsed

    def kill(self) -> None:
        self._process.kill()
        self._process.join()

    def let_go(self) -> None:
        self._pipe.close()

    def _answer(self, deadline: float) -> Any:
        if not self._pipe.poll(deadline):
            raise Overdue
        return self._pipe.recv()


def _serve(pipe: Connection, shelf: Shelf) -> None:
    """What a process does until the other end of its pipe is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches us too, and it is not for us to decide
    os.nice(GIVE_WAY)
    keep_freed_memory()
    # Whoever asked tells of failures, where logs are set up; what parsers themselves say is theirs to say.
    logging.getLogger("longline").setLevel(logging.CRITICAL)
    registry = shelf.open()
    with suppress(*_LEFT), asyncio.Runner() as runner:
        pipe.send("ready")
        while True:
            name, page = pipe.recv()
            marked = registry.named(name)
            parsed = runner.run(run(marked, page)) if marked else Parsed(error=f"there is no parser {name}")
            _send(pipe, name, parsed)


def _send(pipe: Connection, name: str, parsed: Parsed) -> None:
    try:
        pipe.send(parsed)
    except (TypeError, AttributeError, ValueError) as error:  # what pickle says of things that cannot be carried
        pipe.send(Parsed(error=f"{name}: an item has a field that cannot be kept: {error}"))
