"""The socket on which a server listens.

The module imports no framework: `longline doctor` binds the address, and serves nothing.
"""

import errno
import socket

from longline.model.errors import BadInput, LonglineError

BACKLOG = 2048


def bind(host: str, port: int) -> socket.socket:
    """Return a listening socket; raise a `LonglineError` with a one-line reason if that fails."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError as error:
        raise BadInput(f'host "{host}" is not an address of this machine: {error.strerror}') from error
    # Not every machine that resolves localhost to ::1 has IPv6.
    family, kind, protocol, _, where = min(found, key=lambda one: one[0] != socket.AF_INET)
    bound = socket.socket(family, kind, protocol)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(where)
        # With SO_REUSEADDR a second server may bind the same address; only listen() fails.
        bound.listen(BACKLOG)
    except OSError as error:
        bound.close()
        raise _refused(error, host, port) from error
    bound.setblocking(False)
    return bound


def _refused(error: OSError, host: str, port: int) -> LonglineError:
    if error.errno == errno.EADDRINUSE:
        return LonglineError(f"port {port} on {host} is in use; stop what runs there or choose another with --port")
    if error.errno == errno.EACCES:
        return LonglineError(f"port {port} on {host} is not ours to take; choose one above 1023 with --port")
    return LonglineError(f"cannot listen on port {port} of {host}: {error.strerror}")


def address(bound: socket.socket) -> str:
    """Return the URL of a listening socket."""
    host, port = bound.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
