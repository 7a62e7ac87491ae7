"""Worker processes that `longline up` and `longline worker` start beside their own worker."""

import asyncio
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from functools import partial

import msgspec

from longline.engine.loop_supervisor import Loop, run_loops, run_until
from longline.settings import Settings
from longline.settings.child_process import environment


def child_workers(settings: Settings, roles: frozenset[str]) -> Loop:
    """Return a loop that runs all worker processes but the first, which is this process; one does the upkeep."""
    shared = ",".join(sorted(roles - {"upkeep"}))
    return partial(run_loops, {f"worker {n}": _child(settings, shared) for n in range(2, settings.workers + 1)})


def _child(settings: Settings, roles: str) -> Loop:
    """Return a loop that runs one more worker process, which stops when its standard input ends with this process."""

    async def loop(stop: asyncio.Event) -> None:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "longline.cli", "worker", "--roles", roles, "--leashed"),
            stdin=asyncio.subprocess.PIPE,
            env=_child_environment(settings),
        )
        await run_until(stop, process.wait())
        with suppress(ProcessLookupError):
            process.terminate()
        code = await process.wait()
        if not stop.is_set():
            raise RuntimeError(f"a worker process ended with code {code}")

    return loop


def _child_environment(settings: Settings) -> Mapping[str, str]:
    others = {name: value for name, value in os.environ.items() if not name.startswith("LONGLINE_")}
    # A port cannot be bound twice, and a child starts no children.
    return others | environment(msgspec.structs.replace(settings, profile_port=0, workers=1))
