"""The event loop for a command's asynchronous part."""

import asyncio
import os
from collections.abc import Coroutine
from typing import Any, TypeVar

import uvloop

from longline.plugins.malloc import keep_freed_memory
from longline.plugins.started_threads import started_threads
from longline.wiring.garbage_collection import raise_gc_thresholds

T = TypeVar("T")

MAX_THREADS = min(32, (os.cpu_count() or 1) + 4)
"""Number of threads for calls beside the event loop, as `asyncio` has it."""


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run `work` to its end on uvloop; Ctrl-C cancels the task, and its cleanup runs."""
    keep_freed_memory()
    raise_gc_thresholds()
    with asyncio.Runner(loop_factory=_new_event_loop) as runner:
        return runner.run(work)


def _new_event_loop() -> asyncio.AbstractEventLoop:
    loop = uvloop.new_event_loop()
    loop.set_default_executor(started_threads(MAX_THREADS, "asyncio"))
    return loop
