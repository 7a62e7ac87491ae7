import asyncio
import sys

import pytest

from longline.drivers.blobs import open_blobs
from longline.model.errors import Unavailable
from tests.servers.process import free_ports

SHORT_PROGRAM = """
import asyncio
from longline.drivers.blobs import open_blobs

async def main():
    blobs = open_blobs("memory://")
    await blobs.put("a", b"x")
    await asyncio.gather(*(blobs.get("a") for _ in range(12)))

asyncio.run(main())
"""


async def exit_code(program: str) -> int:
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", program)
    return await process.wait()


@pytest.mark.slow(reason="starts 48 processes")
async def test_a_program_that_ends_right_after_its_last_response_exits_with_0():
    codes = []
    for _ in range(12):
        codes += await asyncio.gather(*(exit_code(SHORT_PROGRAM) for _ in range(4)))
    assert set(codes) == {0}


async def test_every_store_in_memory_is_separate():
    first, second = open_blobs("memory://"), open_blobs("memory://")
    await first.put("a", b"x")
    assert [info async for info in second.list()] == []


async def test_a_server_that_is_no_object_store_is_unavailable():
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\nConnection: close\r\n\r\nnope")
        await writer.drain()
        writer.close()

    [port] = free_ports(1)
    async with await asyncio.start_server(answer, "127.0.0.1", port):
        url = f"s3://bucket?endpoint=http://127.0.0.1:{port}&access_key_id=a&secret_access_key=b"
        blobs = open_blobs(url)
        for attempt in (blobs.put("a", b"x"), blobs.check()):
            with pytest.raises(Unavailable, match=r"^S3 bucket 'bucket' at http://127\.0\.0\.1:\d+ failed: "):
                await attempt
