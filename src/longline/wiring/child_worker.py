"""Worker processes that `longline up` and `longline worker` start beside their own worker."""

import asyncio
import os
import sys
from contextlib import suppress
from functools import partial

from longline.engine.loop_supervisor import Loop, run_loops, run_until
from longline.model.frontier.worker import UPKEEP
from longline.settings import Settings
from longline.settings.child_process import child_environment


def child_workers(settings: Settings, roles: frozenset[str]) -> Loop:
    """Return a loop that runs all worker processes but the first, which is this process; one does the upkeep."""
    shared = ",".join(sorted(roles - {UPKEEP}))
    return partial(run_loops, {f"worker {n}": _child(settings, shared) for n in range(2, settings.workers + 1)})


def _child(settings: Settings, roles: str) -> Loop:
    """Return a loop that runs one more worker process, which stops when its standard input ends with this process."""

    async def loop(stop: asyncio.Event) -> None:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "longline.cli", "worker", "--roles", roles, "--leashed"),
            stdin=asyncio.subprocess.PIPE,
            env=child_environment(settings, os.environ),
        )
        await run_until(stop, process.wait())
        with suppress(ProcessLookupError):
            process.terminate()
        code = await process.wait()
        if not stop.is_set():
            raise RuntimeError(f"a worker process ended with code {code}")

    return loop
