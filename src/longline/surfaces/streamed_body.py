"""Bodies of requests that their handler reads piece by piece, because they may be large or compressed."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Generic, TypeVar

import msgspec

Shape = TypeVar("Shape", bound=msgspec.Struct)


class RawBytes(msgspec.Struct, frozen=True):
    """The shape of a body that is no JSON but bytes of any kind."""


@dataclass(frozen=True, slots=True)
class StreamedBody(Generic[Shape]):
    """A body that was not read yet; the shape describes its JSON in the OpenAPI document.

    The headers are those of its content: type, encoding and length.
    """

    pieces: AsyncIterator[bytes]
    content_type: str = ""
    content_encoding: str = ""
    content_length: str = ""


async def no_pieces() -> AsyncIterator[bytes]:
    """Yield nothing: the body of a request without one."""
    nothing: tuple[bytes, ...] = ()
    for piece in nothing:
        yield piece
