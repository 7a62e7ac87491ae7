"""The client against a real server, and against one that fails."""

import asyncio
import math
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import orjson
import pytest

from longline.sdk import ApiClient, Found, Job, RequestRefused, Unreachable
from longline.sdk.client import _seconds
from tests.surfaces.bots.running import Door as Server

JOB = Job("id", "https://example.com/", 5, 3, 600, 0, "2025-01-07T07:20:00Z")
GOOD = orjson.dumps({"success": True, "data": {"locked_until": "later"}})


@asynccontextmanager
async def answering(*answers: tuple[int, bytes] | None) -> AsyncIterator[tuple[str, list[bytes]]]:
    """Run a server that gives these responses in turn, None being no response; yield its address and the requests."""
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
    door = ApiClient(where, "b", token)
    [job], skipped = await door.pull(5, "example.com")
    assert (job.job_id, job.timeout_seconds, skipped) == (job_id, 600, 0)
    assert await door.heartbeat(job) == job.locked_until
    told = await door.submit(job, Found("0.10", "usd", parsed_data={"a": 1}))
    assert (told["status"], told["price"], told["currency"]) == ("done", 0.1, "USD")
    assert await door.submit(job, Found("0.10", "usd")) == told, "a repeat is harmless"
    door.close()


async def test_a_refusal_has_the_error_code_of_the_server(where: str):
    door = ApiClient(where, "b")
    job = Job("018bcfe5-6800-7b5c-8000-000000000001", "https://example.com/", 5, 3, 600, 0, "")
    with pytest.raises(RequestRefused, match="job_not_found") as refused:
        await door.fail(job, "x")
    assert (refused.value.status, refused.value.code) == (404, "job_not_found")


async def test_a_request_to_a_failing_server_is_repeated_with_the_same_key():
    busy = orjson.dumps({"success": False, "error": "rate_limited", "detail": "wait"})
    async with answering(None, (503, b"oh"), (429, busy), (502, b"<html>"), (200, GOOD)) as (where, heard):
        door = ApiClient(where, "b", pause=0.001)
        await door.submit(JOB, Found("1", "USD"))
    keys = {line for head in heard for line in head.split(b"\r\n") if line.lower().startswith(b"idempotency-key")}
    assert (len(heard), len(keys)) == (5, 1)


async def test_a_result_with_a_lost_response_counts_once(server: Server, where: str):
    class Deaf(ApiClient):
        async def _ask(self, path: str, content: bytes, key: str | None) -> dict[str, Any]:
            told = await super()._ask(path, content, key)
            if path == "submit":
                heard.append(told)
            if len(heard) == 1:
                raise Unreachable("the answer got lost")
            return told

    for success in (True, False):
        heard: list[dict[str, Any]] = []
        job_id = await server.job()
        door = Deaf(where, "b", pause=0.001)
        [job], _ = await door.pull()
        told = await (door.submit(job, Found("1", "USD")) if success else door.fail(job, "no price"))
        assert heard == [told, told]
        row = await server.get(f"jobs/{job_id}")
        assert (row["status"], row["retry_count"]) == (("done", 0) if success else ("pending", 1))
    assert len((await server.get("results"))["results"]) == 1


async def test_responses_that_break_the_contract():
    page = b"<html>no</html>"
    for status, kind in (
        (200, Unreachable),
        (404, RequestRefused),
        (413, RequestRefused),
        (401, RequestRefused),
        (504, Unreachable),
    ):
        async with answering((status, page)) as (where, _):
            with pytest.raises(kind, match=f"{where} answered {status} in words that are not this contract's"):
                await ApiClient(where, "b").pull()
    for told in (b'{"success": true, "data": {}}', b'{"success": true, "data": {"jobs": [{}], "skipped": 0}}', b"[]"):
        async with answering((200, told)) as (where, _):
            with pytest.raises(Unreachable):
                await ApiClient(where, "b").pull()


def test_a_pause_that_is_no_number_is_zero():
    for written in (b"Wed, 21 Oct 2026 07:28:00 GMT", b"soon", b"-5", b"nan", b"inf"):
        assert _seconds(written) == 0.0, written
    assert (_seconds(b"20"), _seconds(b""), _seconds(b"999999999")) == (20.0, 0.0, 3600.0)


async def test_fields_that_a_newer_server_adds_are_ignored():
    job = {name: getattr(JOB, name) for name in JOB.__slots__} | {"crawl_config": {}}
    told = orjson.dumps({"success": True, "data": {"jobs": [job], "skipped": 0, "more": 1}})
    async with answering((200, told)) as (where, _):
        assert await ApiClient(where, "b").pull() == ([JOB], 0)


WORDS = [
    ("http://127.0.0.1:9", "the connection was refused"),
    ("http://nowhere.invalid", "its name is not known"),
]


@pytest.mark.parametrize(("where", "said"), WORDS)
async def test_the_reason_for_an_unreachable_server_is_a_sentence(where: str, said: str):
    with pytest.raises(Unreachable) as error:
        await ApiClient(where, "b").pull()
    assert str(error.value) == f"{where} cannot be reached: {said}"


async def test_the_error_of_a_broken_connection_is_a_sentence():
    async def reset(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        linger = struct.pack("ii", 1, 0)
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        writer.close()

    async def cut(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{")
        writer.close()

    async def junk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 mail.example ESMTP\r\n")
        writer.close()

    for serve in (reset, cut, junk):
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        async with server:
            where = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
            with pytest.raises(Unreachable, match=f"^{where} cannot be reached: the connection broke off$"):
                await ApiClient(where, "b").pull()


@pytest.mark.parametrize("where", ["127.0.0.1:8060", "ftp://x", "http://", "", "http://x:y"])
async def test_an_invalid_address_is_refused(where: str):
    with pytest.raises(RequestRefused, match="is not the address of a server"):
        await ApiClient(where, "b").pull()


async def test_a_job_is_submitted_until_its_lock_ends_and_no_longer(server: Server, where: str):
    token = (await server.post("bots", bot_id="b", custom_lock_ttl_seconds=1))["api_token"]
    await server.job()
    door = ApiClient(where, "b", token, pause=0.2)
    [job], _ = await door.pull()
    assert 0 < door.seconds_left(job) <= 1
    door.url = "http://127.0.0.1:9"
    with pytest.raises(Unreachable):
        await asyncio.wait_for(door.fail(job, "x"), 60)
    assert door.seconds_left(job) < 0.5, "the client did not give up before"
    door.forget(job)
    assert door.seconds_left(job) == math.inf


async def test_retries_are_bounded():
    async with answering(None, None, None) as (where, heard):
        with pytest.raises(Unreachable):
            await ApiClient(where, "b", pause=0.001, patience=3).fail(JOB, "x")
    assert len(heard) == 3


async def test_a_pull_is_not_repeated():
    async with answering((500, b"")) as (where, heard):
        with pytest.raises(Unreachable):
            await ApiClient(where, "b").pull()
    assert len(heard) == 1
