"""Items as JSON lines on standard output."""

import asyncio
import os
from collections.abc import Sequence

import orjson

from longline.model.search.item import ItemRow, own_fields


class StandardOutput:
    """Standard output of this process: each line is an item with the fields that its parser gave it."""

    def __init__(self, descriptor: int = 1) -> None:
        self._descriptor = descriptor

    async def write(self, items: Sequence[ItemRow]) -> None:
        lines = b"".join(orjson.dumps(own_fields(item), option=orjson.OPT_APPEND_NEWLINE) for item in items)
        # In a thread: a slow reader of the pipe must not hold back the crawl.
        await asyncio.to_thread(self._write_all, lines)

    def _write_all(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(self._descriptor, rest) :]
