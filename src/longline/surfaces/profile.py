"""Profiles of CPU time and memory for a local operator: a separate port, measured during the request."""

import asyncio
import cProfile
import io
import pstats
import tracemalloc
from typing import Annotated

from litestar import Litestar, get
from litestar.exceptions import HTTPException
from litestar.params import Parameter

from longline.surfaces.http import ERRORS, RequestMiddleware

LOOPBACK = "127.0.0.1"
MOST_LINES = 100
INDEX = """profile?seconds=10  where the time went, by function
heap?seconds=10     where memory was taken and not given back, by line
tasks               where every task waits now
"""

LONGEST = 300.0

Seconds = Annotated[float, Parameter(gt=0, le=LONGEST)]


def profile_app() -> Litestar:
    """Return the application of the profiling port."""
    measuring = asyncio.Lock()

    def begin() -> asyncio.Lock:
        if measuring.locked():
            raise HTTPException("somebody measures already", status_code=409)
        return measuring

    @get("/debug/pprof", summary="What can be asked for")
    async def index() -> str:
        return INDEX

    @get("/debug/pprof/profile", summary="Where time goes")
    async def profile(seconds: Seconds = 10.0) -> str:
        async with begin():
            return await _profile(seconds)

    @get("/debug/pprof/heap", summary="Where memory goes")
    async def heap(seconds: Seconds = 10.0) -> str:
        async with begin():
            return await _heap(seconds)

    @get("/debug/pprof/tasks", summary="Where tasks wait")
    async def tasks() -> str:
        return _tasks()

    app = Litestar([index, profile, heap, tasks], exception_handlers=ERRORS, openapi_config=None, logging_config=None)
    app.asgi_handler = RequestMiddleware(app.asgi_handler, lambda _: None)
    return app


async def _profile(seconds: float) -> str:
    """Profile the event loop's thread for some seconds; the functions with most cumulative time come first."""
    profile, told = cProfile.Profile(), io.StringIO()
    profile.enable()
    try:
        await asyncio.sleep(seconds)
    finally:
        profile.disable()
    pstats.Stats(profile, stream=told).sort_stats("cumulative").print_stats(MOST_LINES)
    return told.getvalue()


async def _heap(seconds: float) -> str:
    """Return the lines that allocated most of the memory still held after some seconds of tracing."""
    tracemalloc.start()
    try:
        await asyncio.sleep(seconds)
        found = tracemalloc.take_snapshot().statistics("lineno")
    finally:
        tracemalloc.stop()
    return "".join(f"{one}\n" for one in found[:MOST_LINES])


def _tasks() -> str:
    told = io.StringIO()
    for task in sorted(asyncio.all_tasks(), key=asyncio.Task.get_name):
        task.print_stack(file=told)
    return told.getvalue()
