"""Runs a command's asynchronous part."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

import uvloop

from longline.plugins.memory import keep_freed_memory

T = TypeVar("T")


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run to the end on a fast loop; Ctrl-C cancels the work and lets it clean up."""
    keep_freed_memory()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(work)
