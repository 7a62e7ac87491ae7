"""A response of the wreq library whose body is read piece by piece."""

from collections.abc import AsyncIterator, Callable

import wreq

from longline.drivers.http.failures import RAISED, fetch_failure
from longline.drivers.http.route import Route
from longline.ports.http import Response


class WreqStream:
    """A response with an unread body; `read_whole` is called when the body was read to its end."""

    def __init__(self, answer: wreq.Response, head: Response, route: Route, read_whole: Callable[[], None]) -> None:
        self._answer, self._route, self._read_whole = answer, route, read_whole
        self.head, self.content_length = head, answer.content_length
        self._is_whole = False

    async def pieces(self) -> AsyncIterator[memoryview]:
        """Yield the body as it comes, undecoded; raise `FetchFailed` when it breaks off or nothing comes for long."""
        try:
            async with self._answer.stream() as stream:
                async for piece in stream:
                    if isinstance(piece, memoryview):  # the other kind is trailers
                        yield piece
        except RAISED as error:
            raise fetch_failure(error, self._route) from None
        self._is_whole = True
        self._read_whole()

    async def close(self) -> None:
        """Close the connection, unless the body was read to its end."""
        if not self._is_whole:
            await self._answer.close()
