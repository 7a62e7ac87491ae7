"""Items on standard output."""

import asyncio
import os

import pytest

from longline.drivers.exports.item_stream import StandardOutput
from tests.drivers.exports.rows import item


async def test_each_line_is_an_item():
    reader, writer = os.pipe()
    await StandardOutput(writer).write([item(b=1, a="ä"), item(title="T")])
    os.close(writer)
    with os.fdopen(reader, encoding="utf-8") as lines:
        assert lines.read() == '{"b":1,"a":"ä"}\n{"title":"T"}\n'


async def test_more_than_a_pipe_holds_is_written_as_fast_as_it_is_read():
    reader, writer = os.pipe()

    async def write() -> None:
        try:
            await StandardOutput(writer).write([item(text="x" * 300_000)])
        finally:
            os.close(writer)

    writing = asyncio.create_task(write())
    size = 0
    while piece := await asyncio.to_thread(os.read, reader, 65_536):
        size += len(piece)
    await writing
    assert size == 300_012
    os.close(reader)


async def test_a_closed_pipe_is_reported():
    reader, writer = os.pipe()
    os.close(reader)
    with pytest.raises(BrokenPipeError):
        await StandardOutput(writer).write([item(a=1)])
    os.close(writer)
