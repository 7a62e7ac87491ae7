"""The requests of the seed as they are written there, sent with curl to a started server."""

import asyncio
import json
import re
import shutil
from typing import Any

import pytest

from tests.surfaces.bots.running import Door

PULL = """\
curl -X POST http://localhost:8000/api/crawl/pull/ \\
  -H "Content-Type: application/json" \\
  -d '{
    "bot_id": "bot-001",
    "max_jobs": 1
  }'
"""

SUBMIT = """\
curl -X POST http://localhost:8000/api/crawl/submit/ \\
  -H "Content-Type: application/json" \\
  -d '{
    "bot_id": "bot-001",
    "job_id": "550e8400-e29b-41d4-a716-446655440000",
    "success": true,
    "price": 99.99,
    "currency": "USD",
    "title": "Product Name",
    "in_stock": true
  }'
"""

FAIL = """\
curl -X POST http://localhost:8000/api/crawl/submit/ \\
  -H "Content-Type: application/json" \\
  -d '{
    "bot_id": "bot-001",
    "job_id": "550e8400-e29b-41d4-a716-446655440000",
    "success": false,
    "error_msg": "Timeout: page did not load"
  }'
"""

SAMPLE = "550e8400-e29b-41d4-a716-446655440000"
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


@pytest.fixture(autouse=True)
def curl() -> None:
    assert shutil.which("curl"), "these tests send the seed's requests with curl"


async def typed(door: Door, command: str, job: str = SAMPLE) -> Any:
    """Run the command and return its output; the address and the job are this server's, all else is the seed's."""
    address = str(door.client.base_url).replace("127.0.0.1", "localhost").rstrip("/")
    said = command.replace("http://localhost:8000", address).replace(SAMPLE, job)
    shell = await asyncio.create_subprocess_shell(said, stdout=-1, stderr=asyncio.subprocess.DEVNULL)
    printed, _ = await shell.communicate()
    return json.loads(printed)


async def test_pull_and_submit(door: Door):
    await door.policy("https://example.com/product/123", priority=10)
    await door.post("create-jobs", 200)
    told = await typed(door, PULL)
    [job] = told["data"]["jobs"]
    assert told == {
        "success": True,
        "data": {
            "jobs": [
                {
                    "job_id": job["job_id"],
                    "url": "https://example.com/product/123",
                    "priority": 10,
                    "max_retries": 3,
                    "timeout_seconds": 600,
                    "retry_count": 0,
                    "locked_until": door.after(seconds=600),
                }
            ],
            "count": 1,
            "skipped": 0,
        },
    }
    told = await typed(door, SUBMIT, job["job_id"])
    assert told == {
        "success": True,
        "data": {
            "result_id": told["data"]["result_id"],
            "job_id": job["job_id"],
            "status": "done",
            "price": 99.99,
            "currency": "USD",
            "policy_next_run": door.after(hours=24),
        },
    }
    assert TIME.fullmatch(told["data"]["policy_next_run"])


async def test_a_failure_with_a_retry(door: Door):
    job = await door.held()
    assert await typed(door, FAIL, job) == {
        "success": True,
        "data": {
            "job_id": job,
            "status": "pending",
            "retry_count": 1,
            "max_retries": 3,
            "message": "Job marked for retry",
        },
    }


async def test_the_seeds_own_job_is_not_ours(door: Door):
    for command in (SUBMIT, FAIL):
        assert await typed(door, command) == {
            "success": False,
            "error": "job_not_found",
            "detail": f"Job {SAMPLE} not found",
        }
