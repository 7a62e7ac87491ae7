"""The short way and the framework give equal answers; the framework takes all requests that the short way leaves."""

import asyncio
import json
from typing import Any

import pytest

from tests.surfaces.bots.running import Door, data, error

ELSEWHERE = {"Origin": "https://page.example"}


async def test_both_ways_give_equal_answers(door: Door):
    for headers in ({}, ELSEWHERE):
        await door.job()
        answer = await door.client.post("/api/crawl/pull/", json={"bot_id": "b"}, headers=headers)
        [job] = data(answer, 200)["jobs"]
        said: dict[str, Any] = {"bot_id": "b", "job_id": job["job_id"], "success": True, "price": 1, "currency": "USD"}
        kept = await door.client.post("/api/crawl/heartbeat", json=said, headers=headers)
        assert data(kept, 200)["status"] == "locked"
        wrong = await door.client.post("/api/crawl/submit/", json={**said, "bot_id": "x"}, headers=headers)
        assert error(wrong) == (403, "not_assigned", "Job locked by b, not x")
        done = await door.client.post("/api/crawl/submit/", json=said, headers=headers)
        assert data(done, 201)["status"] == "done"
        large = await door.client.post("/api/crawl/pull/", content=b" " * 10_000_001, headers=headers)
        assert error(large) == (413, "validation_error", "Request Entity Too Large")
        for one in (answer, kept, wrong, done, large):
            assert one.headers["content-type"] == "application/json"
            assert one.headers["x-request-id"]
            assert ("access-control-allow-origin" in one.headers) == bool(headers)


async def test_requests_are_counted_by_their_route(door: Door):
    await door.pull()
    await door.client.post("/api/crawl/pull", json={})
    figures = (await door.client.get("/metrics")).text
    assert 'longline_http_requests_total{method="POST",route="/api/crawl/pull",status="200"}' in figures
    assert 'longline_http_requests_total{method="POST",route="/api/crawl/pull",status="400"}' in figures


async def test_a_body_in_pieces_and_one_that_never_ends(door: Door):
    where = door.client.base_url
    reader, writer = await asyncio.open_connection(where.host, where.port)
    writer.write(b"POST /api/crawl/pull/ HTTP/1.1\r\nHost: x\r\nContent-Length: 15\r\n\r\n")
    for piece in (b'{"bot_', b'id":"b', b'"} '):
        await writer.drain()
        await asyncio.sleep(0.01)
        writer.write(piece)
    assert (await reader.readline()).startswith(b"HTTP/1.1 200")
    writer.close()
    reader, writer = await asyncio.open_connection(where.host, where.port)
    writer.write(b"POST /api/crawl/pull/ HTTP/1.1\r\nHost: x\r\nContent-Length: 15\r\n\r\n{")
    await writer.drain()
    writer.close()
    await door.pull("and it goes on")


@pytest.mark.parametrize(
    ("head", "status"),
    [
        ("Content-Length: 9999999999999999999999999999999", 413),
        ("Content-Length: x", 400),
        ("Content-Length: 1\r\nContent-Length: 2", 400),
        ("Fi eld: x", 400),
    ],
)
async def test_a_head_that_the_parser_refuses_is_answered_in_the_envelope(door: Door, head: str, status: int):
    where = door.client.base_url
    reader, writer = await asyncio.open_connection(where.host, where.port)
    writer.write(f"POST /api/crawl/pull/ HTTP/1.1\r\nHost: x\r\n{head}\r\n\r\n".encode())
    answer = await reader.read()
    assert answer.startswith(f"HTTP/1.1 {status} ".encode())
    told = json.loads(answer.partition(b"\r\n\r\n")[2])
    assert (told["success"], told["error"], type(told["detail"])) == (False, "validation_error", str)
    writer.close()
