"""The client against a real server, and against one that is in trouble."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import orjson
import pytest

from longline.sdk import Door, Found, Job, Refused, Unreachable
from tests.surfaces.bots.running import Door as Server

JOB = Job("id", "https://example.com/", 5, 3, 600, 0, "2025-01-07T07:20:00Z")
GOOD = orjson.dumps({"success": True, "data": {"locked_until": "later"}})


@asynccontextmanager
async def answering(*answers: tuple[int, bytes] | None) -> AsyncIterator[tuple[str, list[bytes]]]:
    """A server that gives these answers in turn, None being none at all; its address, and what it was sent."""
    heard: list[bytes] = []
    left = list(answers)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked = await reader.readuntil(b"\r\n\r\n")
        size = int(asked.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
        heard.append(asked + await reader.readexactly(size))
        answer = left.pop(0)
        if answer is not None:
            status, body = answer
            writer.write(
                b"HTTP/1.1 %d X\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%b" % (status, len(body), body)
            )
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", heard


async def test_a_job_from_pull_to_submit(server: Server, where: str):
    token = (await server.post("bots", bot_id="b"))["api_token"]
    job_id = await server.job()
    door = Door(where, "b", token)
    [job], skipped = await door.pull(5, "example.com")
    assert (job.job_id, job.timeout_seconds, skipped) == (job_id, 600, 0)
    assert await door.heartbeat(job) == job.locked_until
    told = await door.submit(job, Found("0.10", "usd", parsed_data={"a": 1}))
    assert (told["status"], told["price"], told["currency"]) == ("done", 0.1, "USD")
    assert await door.submit(job, Found("0.10", "usd")) == told, "a repeat is harmless"
    door.close()


async def test_a_refusal_has_the_servers_word(where: str):
    door = Door(where, "b")
    job = Job("018bcfe5-6800-7b5c-8000-000000000001", "https://example.com/", 5, 3, 600, 0, "")
    with pytest.raises(Refused, match="job_not_found") as refused:
        await door.fail(job, "x")
    assert (refused.value.status, refused.value.code) == (404, "job_not_found")


async def test_a_server_in_trouble_is_asked_again_with_the_same_key():
    busy = orjson.dumps({"success": False, "error": "rate_limited", "detail": "wait"})
    async with answering(None, (503, b"oh"), (429, busy), (502, b"<html>"), (200, GOOD)) as (where, heard):
        door = Door(where, "b", pause=0.001)
        await door.submit(JOB, Found("1", "USD"))
    keys = {line for head in heard for line in head.split(b"\r\n") if line.lower().startswith(b"idempotency-key")}
    assert (len(heard), len(keys)) == (5, 1)


async def test_patience_has_an_end():
    async with answering(None, None, None) as (where, heard):
        with pytest.raises(Unreachable):
            await Door(where, "b", pause=0.001, patience=3).fail(JOB, "x")
    assert len(heard) == 3


async def test_a_pull_is_not_insisted_upon():
    async with answering((500, b"")) as (where, heard):
        with pytest.raises(Unreachable):
            await Door(where, "b").pull()
    assert len(heard) == 1
