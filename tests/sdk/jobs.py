"""Jobs for bots, and handlers for them."""

import pytest

from longline.sdk import Found, Job
from tests.surfaces.bots.running import Door as Server

GOOD = Found("1", "USD")


async def easy(job: Job) -> Found:
    return GOOD


async def never(job: Job) -> Found:
    pytest.fail(f"nobody should work on {job.url}")


async def some(server: Server, count: int, host: str = "example.com", **more: int) -> list[str]:
    return [await server.job(f"https://{host}/{n}", **more) for n in range(count)]
