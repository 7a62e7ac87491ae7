"""Paths that misbehave, or only look as if they did. None of them is linked from a page.

/status/NNN?after=S   an answer with that status; S is its Retry-After, if given
/slow?seconds=S       a good answer, S seconds late
/redirect/N           N redirects, the last of them to "/"
/loop                 a redirect to itself
/to?url=URL           a redirect to the given URL
/truncated            a connection closed before the promised length is reached
/stall                half a body, and then no more bytes
/drip                 a body that never ends, a byte at a time
/big?bytes=N          N bytes
/gzip                 a compressed page
/bomb?bytes=N         N bytes, compressed to next to nothing
/garbled              a page that is declared to be compressed, and is not
/compress             a page in an encoding that was not requested
/hang                 no answer at all
/reset                a broken connection
/gibberish            an answer that is not HTTP
/intricate            a tag with far too many attributes
/latin1               a page in ISO-8859-1, declared in its header only
/challenge            a challenge page that checks for a human visitor
"""

import asyncio
import gzip
from collections.abc import Awaitable, Callable, Iterator

from tests.web.wire import BODILESS, Answer, Closed, Connection, Request

Trouble = Callable[[Request, Connection], Awaitable[None]]

PIECE = b"longline " * 7282
HALF = Answer(body=b"<title>Half", headers=(("Content-Length", "1000"),))


def trouble_at(path: str) -> Trouble | None:
    """Return the handler of a path, by its first segment."""
    return TROUBLES.get(path.split("/")[1])


async def status(request: Request, connection: Connection) -> None:
    code = int(request.path.removeprefix("/status/"))
    # A body where there can be none would be read as the start of the next answer.
    body = b"" if code in BODILESS else f"<title>{code}</title>".encode()
    after = request.query("after", "")
    await connection.send(Answer(code, body, (("Retry-After", after),) if after else ()), request.method)


async def slow(request: Request, connection: Connection) -> None:
    await asyncio.sleep(float(request.query("seconds", "1")))
    await connection.send(Answer(body=b"<title>Slow</title>"), request.method)


async def redirect(request: Request, connection: Connection) -> None:
    left = int(request.path.removeprefix("/redirect/")) - 1
    await connection.send(moved(f"/redirect/{left}" if left > 0 else "/"), request.method)


async def loop(request: Request, connection: Connection) -> None:
    await connection.send(moved("/loop"), request.method)


async def lead_to(request: Request, connection: Connection) -> None:
    await connection.send(moved(request.query("url", "/")), request.method)


async def truncated(request: Request, connection: Connection) -> None:
    await connection.send(HALF, request.method)
    raise Closed


async def stall(request: Request, connection: Connection) -> None:
    await connection.send(HALF, request.method)
    await hang(request, connection)


async def drip(request: Request, connection: Connection) -> None:
    await connection.send(Answer(body=b"<title>Drip", headers=(("Content-Length", "100000"),)), request.method)
    while True:
        await asyncio.sleep(0.05)
        await connection.send_raw(b".")


async def big(request: Request, connection: Connection) -> None:
    size = int(request.query("bytes", "1000000"))
    answer = Answer(headers=(("Content-Length", str(size)),), content_type="application/octet-stream")
    await connection.send_pieces(answer, () if request.method == "HEAD" else pieces(size))


async def compressed(request: Request, connection: Connection) -> None:
    body = gzip.compress(b"<title>Compressed</title>" + PIECE, mtime=0)
    await connection.send(encoded("gzip", body), request.method)


async def bomb(request: Request, connection: Connection) -> None:
    size = int(request.query("bytes", "1000000"))
    await connection.send(encoded("gzip", gzip.compress(bytes(size), mtime=0)), request.method)


async def garbled(request: Request, connection: Connection) -> None:
    await connection.send(encoded("gzip", b"<title>Plain</title>"), request.method)


async def compress(request: Request, connection: Connection) -> None:
    await connection.send(encoded("compress", b"\x1f\x9d\x90<title>Old</title>"), request.method)


async def hang(request: Request, connection: Connection) -> None:
    await connection.wait_for_goodbye()
    raise Closed


async def reset(request: Request, connection: Connection) -> None:
    connection.reset()
    raise Closed


async def gibberish(request: Request, connection: Connection) -> None:
    await connection.send_raw(b"220 mail.example ready\r\n\r\n")
    raise Closed


async def intricate(request: Request, connection: Connection) -> None:
    attributes = " ".join(f"data-{number}" for number in range(10_000))
    await connection.send(Answer(body=f"<title>Intricate</title><p {attributes}>".encode()), request.method)


async def latin1(request: Request, connection: Connection) -> None:
    body = "<title>Crème brûlée</title><p>Größe, señor, façade</p>".encode("latin-1")
    await connection.send(Answer(body=body, content_type="text/html; charset=iso-8859-1"), request.method)


def moved(location: str) -> Answer:
    """Return a temporary redirect."""
    return Answer(302, b"", (("Location", location),))


def encoded(coding: str, body: bytes) -> Answer:
    """Return a page that is declared to be encoded."""
    return Answer(body=body, headers=(("Content-Encoding", coding),))


async def challenge(request: Request, connection: Connection) -> None:
    headers = (("Server", "cloudflare"), ("CF-Ray", "1"), ("CF-Mitigated", "challenge"))
    await connection.send(Answer(403, b"<title>Just a moment...</title>", headers), request.method)


def pieces(size: int) -> Iterator[bytes]:
    """Yield that many bytes, without ever holding them all."""
    while size > 0:
        yield PIECE[:size]
        size -= len(PIECE)


TROUBLES: dict[str, Trouble] = {
    "status": status,
    "slow": slow,
    "redirect": redirect,
    "loop": loop,
    "to": lead_to,
    "truncated": truncated,
    "stall": stall,
    "drip": drip,
    "big": big,
    "gzip": compressed,
    "bomb": bomb,
    "garbled": garbled,
    "compress": compress,
    "hang": hang,
    "reset": reset,
    "gibberish": gibberish,
    "intricate": intricate,
    "latin1": latin1,
    "challenge": challenge,
}
