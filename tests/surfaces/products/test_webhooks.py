"""Webhooks of tasks: signed by Standard Webhooks, three tries, a log, no private addresses (§9.4)."""

import asyncio
import base64
import hashlib
import hmac
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import msgspec

from longline.model.ids import new_id
from longline.model.states import TaskState
from longline.settings import webhook_secret
from longline.wiring.doors.products import webhook_sender
from tests.drivers.records.peek import Peek
from tests.surfaces.products.running import Door, Json, error
from tests.surfaces.products.tasks.crawling import submit, work

Received = list[tuple[dict[str, str], bytes]]


@asynccontextmanager
async def receiver(*statuses: int) -> AsyncIterator[tuple[str, Received]]:
    """Yield the URL and the requests of a receiver that answers with these statuses in turn, then with the last one."""
    received: Received = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        pairs = (line.partition(": ") for line in head.split("\r\n")[1:] if line)
        headers = {name.lower(): value for name, _, value in pairs}
        received.append((headers, await reader.readexactly(int(headers["content-length"]))))
        status = statuses[min(len(received), len(statuses)) - 1]
        writer.write(f"HTTP/1.1 {status} X\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode())
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/hook", received


async def put(door: Door, url: str, outcome: str = "completed") -> None:
    """Store a pending webhook."""
    looking = Peek(door.stage.settings.database)
    columns = "uid, task_id, task_url, url, outcome, due, created_at, updated_at"
    values = f"'{new_id()}', 7, 'https://shop.example/p', '{url}', '{outcome}', 0, 1764410400000, 1764410400000"
    await looking.rows(f"INSERT INTO webhooks ({columns}) VALUES ({values}) RETURNING id")
    await looking.close()


async def send(door: Door) -> int:
    """Send the due webhooks as the loop does, with no delay between two attempts, and return their number."""
    platform = door.platform
    eager = msgspec.structs.replace(platform.settings, webhook_retry=0.0)

    async def work() -> int:
        return await webhook_sender(replace(platform, settings=eager)).once()

    return await asyncio.to_thread(door.call, work())


async def log(door: Door, **params: object) -> list[Json]:
    return (await door.list("admin/webhooks", **params))[0]


def is_signed(door: Door, headers: dict[str, str], body: bytes) -> bool:
    """Return true if a request is signed as Standard Webhooks require; the signature is computed independently."""
    key = base64.b64decode(webhook_secret(door.stage.settings).removeprefix("whsec_"))
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    wanted = base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()
    return headers["webhook-signature"] == f"v1,{wanted}"


async def test_a_receiver_that_fails_twice_gets_the_event_once_with_a_good_signature(door: Door):
    async with receiver(500, 503, 204) as (url, received):
        await put(door, url)
        assert await send(door) == 3
        assert await send(door) == 0
    assert len(received) == 3
    assert all(is_signed(door, *one) for one in received)
    assert len({headers["webhook-id"] for headers, _ in received}) == 1
    assert json.loads(received[-1][1]) == {
        "event": "task.completed",
        "timestamp": "2025-11-29T10:00:00.000Z",
        "data": {"task_id": 7, "url": "https://shop.example/p", "status": "completed", "product_id": None},
    }
    [delivery] = await log(door)
    assert delivery["id"] == received[0][0]["webhook-id"]
    assert (delivery["status"], delivery["event"]) == ("delivered", "task.completed")
    assert [(one["number"], one["http_status_code"]) for one in delivery["attempts"]] == [(1, 500), (2, 503), (3, 204)]


async def test_after_three_tries_a_webhook_has_failed(door: Door):
    async with receiver(500) as (url, received):
        await put(door, url, "failed")
        assert await send(door) == 3
        assert await send(door) == 0
    assert len(received) == 3
    [delivery] = await log(door, status="failed")
    assert (delivery["event"], len(delivery["attempts"])) == ("task.failed", 3)


async def test_a_private_address_is_refused_without_a_request(door: Door):
    for url in ("http://10.0.0.1/hook", "http://169.254.169.254/latest", "http://[::1]/hook"):
        await put(door, url)
    assert await send(door) == 3
    rows = await log(door)
    assert [row["status"] for row in rows] == ["refused"] * 3
    assert all(row["attempts"][0]["http_status_code"] is None for row in rows)
    assert all(row["attempts"][0]["error_message"].startswith("egress") for row in rows)


async def test_two_senders_do_not_send_a_webhook_twice(door: Door):
    async with receiver(204) as (url, received):
        for _ in range(10):
            await put(door, url)
        sent = await asyncio.gather(send(door), send(door))
    assert sum(sent) == 10
    assert len({headers["webhook-id"] for headers, _ in received}) == len(received) == 10


async def test_the_log_is_filtered(door: Door):
    await put(door, "http://10.0.0.1/")
    assert [row["status"] for row in await log(door, task_id=7)] == ["waiting"]
    assert await log(door, task_id=8) == []
    assert error(await door.ask("GET", "admin/webhooks", status="lost"))[:2] == (400, "INVALID_STATUS")


async def test_the_end_of_a_task_is_told_and_each_end_once(door: Door):
    domain_id = (await door.domain())["id"]
    async with receiver(204) as (url, received):
        told = await submit(door, domain_id, "/told", webhook_url=url)
        failed = await submit(door, domain_id, "/failed", webhook_url=url)
        await submit(door, domain_id, "/silent")
        await door.write("POST", f"admin/tasks/{failed['task_id']}/pause")
        work(door)
        assert await send(door) == 1
        await door.write("POST", f"admin/tasks/{failed['task_id']}/resume")
        work(door, TaskState.FAILED, "http_4xx", error="HTTP 404")
        assert await send(door) == 1
    events = [json.loads(body) for _, body in received]
    assert [(event["event"], event["data"]["task_id"]) for event in events] == [
        ("task.completed", told["task_id"]),
        ("task.failed", failed["task_id"]),
    ]
    assert [event["data"]["url"] for event in events] == ["https://shop.example/told", "https://shop.example/failed"]
