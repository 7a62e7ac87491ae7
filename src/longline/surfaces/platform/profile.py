"""Profiles of CPU time and memory for a local operator: a separate port, measured during the request."""

import asyncio
import cProfile
import io
import pstats
import tracemalloc
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Annotated, Any

import msgspec
from litestar import Litestar
from msgspec import Meta

from longline.surfaces.door import PUBLIC, Door, OperationGroup
from longline.surfaces.error_format import ErrorFormat, error
from longline.surfaces.middleware import RequestMiddleware, error_handlers
from longline.surfaces.operation import ApiFailure, Content, operation
from longline.surfaces.request_reader import RequestReader
from longline.surfaces.routing import route_of

LOOPBACK = "127.0.0.1"
MAX_LINES = 100
MAX_SECONDS = 300.0
INDEX = """profile?seconds=10  time by function
heap?seconds=10     memory that was taken and not given back, by line
tasks               the present place of every task
"""
BUSY = error(409, "another measurement is running")
_TEXT = "text/plain; charset=utf-8"
_ANSWERS = {200: Content(_TEXT)}


@dataclass(frozen=True, slots=True)
class ProfileServices:
    """The lock that keeps measurements apart: two at once would measure each other."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    @asynccontextmanager
    async def measuring(self) -> AsyncIterator[None]:
        """Hold the lock; raise for a measurement while another runs."""
        if self.lock.locked():
            raise ApiFailure(BUSY)
        async with self.lock:
            yield


class ProfileQuery(msgspec.Struct, frozen=True):
    """The length of a measurement."""

    seconds: Annotated[float, Meta(ge=0.01, le=MAX_SECONDS)] = 10.0


class ProfileFormat(ErrorFormat):
    """The usual format, but wrong values of a query are refused."""

    def read_query(self, reader: RequestReader[Any], sent: Sequence[tuple[str, str]]) -> msgspec.Struct:
        """Return a query; raise `InvalidRequest` for wrong values."""
        found: msgspec.Struct = reader.text(dict(sent))
        return found


@operation("GET", "/debug/pprof", "List the profiles", access="public", answers=_ANSWERS)
async def show_index() -> Content:
    return Content(_TEXT, INDEX.encode())


@operation("GET", "/debug/pprof/profile", "Measure CPU time", access="public", answers=_ANSWERS, errors=(BUSY,))
async def show_profile(services: ProfileServices, query: ProfileQuery) -> Content:
    async with services.measuring():
        return Content(_TEXT, (await _profile(query.seconds)).encode())


@operation("GET", "/debug/pprof/heap", "Measure memory", access="public", answers=_ANSWERS, errors=(BUSY,))
async def show_heap(services: ProfileServices, query: ProfileQuery) -> Content:
    async with services.measuring():
        return Content(_TEXT, (await _heap(query.seconds)).encode())


@operation("GET", "/debug/pprof/tasks", "List the tasks of the event loop", access="public", answers=_ANSWERS)
async def show_tasks() -> Content:
    return Content(_TEXT, _tasks().encode())


def profile_door() -> Door:
    """Return the API of the profiling port."""
    operations = (show_index, show_profile, show_heap, show_tasks)
    group = OperationGroup("profile", "Profiles of the process.", operations, ProfileServices())
    return Door("profile", "Profiles", ("/",), ProfileFormat(), (group,), {"public": PUBLIC})


def profile_app() -> Litestar:
    """Return the application of the profiling port."""
    door = profile_door()
    routes = [route_of(endpoint) for endpoint in door.endpoints()]
    app = Litestar(routes, exception_handlers=error_handlers([door]), openapi_config=None, logging_config=None)
    app.asgi_handler = RequestMiddleware(app.asgi_handler, lambda _: None, [door])
    return app


async def _profile(seconds: float) -> str:
    """Profile the event loop's thread for some seconds; the functions with most cumulative time come first."""
    profile, printed = cProfile.Profile(), io.StringIO()
    profile.enable()
    try:
        await asyncio.sleep(seconds)
    finally:
        profile.disable()
    pstats.Stats(profile, stream=printed).sort_stats("cumulative").print_stats(MAX_LINES)
    return printed.getvalue()


async def _heap(seconds: float) -> str:
    """Return the lines that allocated most of the memory still held after some seconds of tracing."""
    tracemalloc.start()
    try:
        await asyncio.sleep(seconds)
        found = tracemalloc.take_snapshot().statistics("lineno")
    finally:
        tracemalloc.stop()
    return "".join(f"{one}\n" for one in found[:MAX_LINES])


def _tasks() -> str:
    printed = io.StringIO()
    for task in sorted(asyncio.all_tasks(), key=asyncio.Task.get_name):
        task.print_stack(file=printed)
    return printed.getvalue()
