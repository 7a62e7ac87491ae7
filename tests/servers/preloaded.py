"""A process that has imported the program, and makes a copy of itself for each start of the program.

Importing takes a second of a processor, a copy a hundredth of a second. Orders arrive by a socket, one each: the
module, the words of the command line, the folder, the environment, and the three standard streams. The answer is the
process id of the copy.
"""

import atexit
import gc
import json
import os
import random
import runpy
import signal
import socket
import sys
import threading
import time
from importlib import import_module
from io import TextIOWrapper
from typing import Any

from litestar import Litestar, get

from longline.cli.main import build
from longline.parsers.built_in_parsers import BUILT_IN

MAX_ORDER_BYTES = 200_000
"""More than one packet of a Unix socket holds."""

IMPORTED_LATE = ("typer._adapters", "rich._emoji_codes", "encodings.idna", "uvicorn.lifespan.off", *BUILT_IN)
"""Modules that the program imports when it needs them: typer's reader of arguments with pydantic, parsers and more."""


async def nothing() -> None:
    """Answer nothing, as the one route of an application."""


def serve(orders: socket.socket) -> dict[str, Any] | None:
    """Make a copy for each order; return the order in each copy, and None in the first process after the last order."""
    while True:
        data, streams, _, _ = socket.recv_fds(orders, MAX_ORDER_BYTES, 3)
        if not data:
            return None
        read, write = os.pipe()
        between = os.fork()
        if not between:
            copy = os.fork()
            if copy:
                # The copy is left to the process that gave the order, which adopts orphans meanwhile.
                os.write(write, str(copy).encode())
                os._exit(0)
            _take(streams)
            os.closerange(3, max(read, write, orders.fileno(), *streams) + 1)
            orders.detach()
            found: dict[str, Any] = json.loads(data)
            return found
        os.waitpid(between, 0)
        orders.send(os.read(read, 32))
        for each in (read, write, *streams):
            os.close(each)


def _take(streams: list[int]) -> None:
    for number, stream in enumerate(streams):
        os.dup2(stream, number)


def become(order: dict[str, Any]) -> None:
    """Run the module, as if it had been started with these words, in this folder and environment."""
    os.chdir(order["folder"])
    os.environ.clear()
    os.environ.update(order["environment"])
    time.tzset()
    random.seed()
    if order["new_session"]:
        os.setsid()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    at_once = bool(order["environment"].get("PYTHONUNBUFFERED"))
    for stream in (sys.stdout, sys.stderr):
        assert isinstance(stream, TextIOWrapper)
        stream.reconfigure(line_buffering=stream.isatty() or stream is sys.stderr, write_through=at_once)
    sys.argv[1:] = order["words"]
    sys.path[0] = order["folder"]
    try:
        runpy.run_module(order["module"], run_name="__main__", alter_sys=True)
    except SystemExit as ended:
        end(ended)


def end(ended: SystemExit) -> None:
    """Exit as the interpreter does, but leave the memory alone: to free it would be to copy all of it first."""
    threading._shutdown()  # type: ignore[attr-defined]  # not in the stubs
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        raise ended from None
    os._exit(ended.code if isinstance(ended.code, int) else 0)


if __name__ == "__main__":
    build()
    for name in IMPORTED_LATE:
        import_module(name)
    # The first application imports plugins for every library of types that is installed.
    Litestar([get("/")(nothing)], openapi_config=None, logging_config=None)
    gc.collect()
    gc.freeze()
    # Ctrl-C is for the tests; they end this process by closing the socket.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    order = serve(socket.socket(fileno=int(sys.argv[1])))
    if order is not None:
        become(order)
