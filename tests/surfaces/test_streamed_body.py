"""A handler may read its body in pieces: the framework neither buffers nor limits it."""

from collections.abc import AsyncIterator

import msgspec

from longline.surfaces.door import PUBLIC, Endpoint, HttpRequest
from longline.surfaces.error_format import ErrorFormat
from longline.surfaces.operation import operation
from longline.surfaces.streamed_body import StreamedBody, no_pieces


class Shape(msgspec.Struct):
    """The JSON of the body."""

    text: str = ""


class Told(msgspec.Struct):
    """The sizes of the pieces, and the type of the content."""

    sizes: list[int]
    content_type: str


@operation("POST", "/pieces", "Measure pieces", access="public")
async def measure(body: StreamedBody[Shape]) -> Told:
    return Told([len(piece) async for piece in body.pieces], body.content_type)


async def two_pieces() -> AsyncIterator[bytes]:
    yield b"abc"
    yield b"de"


async def test_a_handler_gets_the_pieces():
    endpoint = Endpoint(measure, None, ErrorFormat(), PUBLIC)
    request = HttpRequest({}, b"", [(b"content-type", b"text/plain")], pieces=two_pieces())
    assert (await endpoint.answer(request)).body == b'{"sizes":[3,2],"content_type":"text/plain"}'
    assert (await endpoint.answer(HttpRequest({}, b"", []))).body == b'{"sizes":[],"content_type":""}'
    assert measure.body is Shape
    assert [piece async for piece in no_pieces()] == []
