"""Runs a command's asynchronous part."""

import asyncio
import gc
from collections.abc import Coroutine
from typing import Any, TypeVar

import uvloop

from longline.plugins.malloc import keep_freed_memory

T = TypeVar("T")


SOME_OBJECTS, SOME_TIMES = 10_000, 20
"""Objects made before rings of them are looked for, and looks before older objects are looked at too."""


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run to the end on a fast loop; Ctrl-C cancels the work and lets it clean up."""
    keep_freed_memory()
    _collect_seldom()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(work)


def _collect_seldom() -> None:
    """Look for rings of objects seldom: hardly any are made here, and looking took a thirtieth of the time."""
    gc.freeze()  # what was imported stays
    gc.set_threshold(SOME_OBJECTS, SOME_TIMES, SOME_TIMES)
