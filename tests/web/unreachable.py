"""Ports of loopback without a server."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def closed_port() -> Iterator[int]:
    """Yield a port that refuses connections: it is bound, so that no other process gets it, but does not listen."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        yield unused.getsockname()[1]


@contextmanager
def full_port() -> Iterator[int]:
    """Yield a port that neither accepts nor refuses connections: its queue is full, and no process accepts.

    Linux drops further connections, so that connecting takes until the client's timeout; other systems may refuse.
    """
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(0)
    guests = [socket.socket() for _ in range(4)]
    for guest in guests:
        guest.setblocking(False)
        guest.connect_ex(listener.getsockname())
    try:
        yield listener.getsockname()[1]
    finally:
        for each in (listener, *guests):
            each.close()
