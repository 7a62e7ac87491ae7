"""The bare framework: the bodies of a pull and of a submit, parsed and answered, without any storage."""

import asyncio
import sys
from typing import Any
from uuid import uuid4

import msgspec
import uvicorn
from litestar import Litestar, Request, Response, post

Ask = Request[Any, Any, Any]


def answered(data: object, status: int) -> Response[bytes]:
    """Return an answer in the envelope of the contract."""
    body = msgspec.json.encode({"success": True, "data": data})
    return Response(body, status_code=status, media_type="application/json")


def echo(jobs: int) -> Litestar:
    """Return an application that hands out that many jobs and accepts every submission."""
    left = jobs

    @post("/api/crawl/pull")
    async def pull(request: Ask) -> Response[bytes]:
        nonlocal left
        asked = msgspec.json.decode(await request.body())
        count = min(asked["max_jobs"], left)
        left -= count
        job = {"url": "https://shop.example/1", "priority": 5, "max_retries": 3, "timeout_seconds": 600}
        job |= {"retry_count": 0, "locked_until": "2025-01-07T07:20:00Z"}
        handed = [{"job_id": str(uuid4()), **job} for _ in range(count)]
        return answered({"jobs": handed, "count": count, "skipped": 0}, 200)

    @post("/api/crawl/submit")
    async def submit(request: Ask) -> Response[bytes]:
        said = msgspec.json.decode(await request.body())
        told = {"result_id": said["job_id"], "status": "done", "policy_next_run": None}
        return answered(told | {"job_id": said["job_id"], "price": 1.0, "currency": said["currency"]}, 201)

    return Litestar([pull, submit], logging_config=None, openapi_config=None)


if __name__ == "__main__":
    config = uvicorn.Config(echo(int(sys.argv[2])), port=int(sys.argv[1]), log_level="warning", http="httptools")
    asyncio.run(uvicorn.Server(config).serve())
