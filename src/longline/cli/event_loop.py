"""The event loop for a command's asynchronous part."""

import asyncio
import gc
from collections.abc import Coroutine
from typing import Any, TypeVar

import uvloop

from longline.plugins.malloc import keep_freed_memory

T = TypeVar("T")


GC_NEW_OBJECTS, GC_GENERATION_RATIO = 20_000, 20
"""Thresholds of the garbage collector: new objects per collection, and collections before an older generation's.

The pages of one report are about 17,000 objects: with a lower threshold, most pages would be searched for cycles.
"""


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run `work` to its end on uvloop; Ctrl-C cancels the task, and its cleanup runs."""
    keep_freed_memory()
    _raise_gc_thresholds()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(work)


def _raise_gc_thresholds() -> None:
    """Raise the garbage collector's thresholds: reference cycles are rare here, and collecting took 3 % of the time."""
    gc.freeze()  # imported modules live as long as the process
    gc.set_threshold(GC_NEW_OBJECTS, GC_GENERATION_RATIO, GC_GENERATION_RATIO)
