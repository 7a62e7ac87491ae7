"""Paths that misbehave, or only look as if they did. None of them is linked from a page.

/status/NNN           an answer with that status
/slow?seconds=S       a good answer, S seconds late
/redirect/N           N redirects, the last of them to "/"
/loop                 a redirect to itself
/truncated            a connection closed before the promised length is reached
/big?bytes=N          N bytes
/gzip                 a compressed page
/hang                 no answer at all
/reset                a broken connection
/latin1               a page in ISO-8859-1, said so in its header only
"""

import asyncio
import gzip
from collections.abc import Awaitable, Callable, Iterator

from tests.web.wire import BODILESS, Answer, Closed, Connection, Request

Trouble = Callable[[Request, Connection], Awaitable[None]]

PIECE = b"longline " * 7282


def trouble_at(path: str) -> Trouble | None:
    """Who answers for a path, by its first word."""
    return TROUBLES.get(path.split("/")[1])


async def status(request: Request, connection: Connection) -> None:
    code = int(request.path.removeprefix("/status/"))
    # A body where there can be none would be read as the start of the next answer.
    body = b"" if code in BODILESS else f"<title>{code}</title>".encode()
    await connection.send(Answer(code, body), request.method)


async def slow(request: Request, connection: Connection) -> None:
    await asyncio.sleep(float(request.query("seconds", "1")))
    await connection.send(Answer(body=b"<title>Slow</title>"), request.method)


async def redirect(request: Request, connection: Connection) -> None:
    left = int(request.path.removeprefix("/redirect/")) - 1
    await connection.send(moved(f"/redirect/{left}" if left > 0 else "/"), request.method)


async def loop(request: Request, connection: Connection) -> None:
    await connection.send(moved("/loop"), request.method)


async def truncated(request: Request, connection: Connection) -> None:
    await connection.send(Answer(body=b"<title>Half", headers=(("Content-Length", "1000"),)), request.method)
    raise Closed


async def big(request: Request, connection: Connection) -> None:
    size = int(request.query("bytes", "1000000"))
    answer = Answer(headers=(("Content-Length", str(size)),), content_type="application/octet-stream")
    await connection.send_pieces(answer, () if request.method == "HEAD" else pieces(size))


async def compressed(request: Request, connection: Connection) -> None:
    body = gzip.compress(b"<title>Compressed</title>" + PIECE, mtime=0)
    await connection.send(Answer(body=body, headers=(("Content-Encoding", "gzip"),)), request.method)


async def hang(request: Request, connection: Connection) -> None:
    await connection.wait_for_goodbye()
    raise Closed


async def reset(request: Request, connection: Connection) -> None:
    connection.reset()
    raise Closed


async def latin1(request: Request, connection: Connection) -> None:
    body = "<title>Crème brûlée</title><p>Größe, señor, façade</p>".encode("latin-1")
    await connection.send(Answer(body=body, content_type="text/html; charset=iso-8859-1"), request.method)


def moved(location: str) -> Answer:
    """A temporary redirect."""
    return Answer(302, b"", (("Location", location),))


def pieces(size: int) -> Iterator[bytes]:
    """So many bytes, without ever holding them all."""
    while size > 0:
        yield PIECE[:size]
        size -= len(PIECE)


TROUBLES: dict[str, Trouble] = {
    "status": status,
    "slow": slow,
    "redirect": redirect,
    "loop": loop,
    "truncated": truncated,
    "big": big,
    "gzip": compressed,
    "hang": hang,
    "reset": reset,
    "latin1": latin1,
}
