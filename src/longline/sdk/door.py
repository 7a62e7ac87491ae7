"""The bots' door as a client sees it: one call for each endpoint, with patience for a server that is away."""

import asyncio
import random
from datetime import timedelta
from typing import Any

import orjson
import wreq

from longline.sdk.work import Found, Job, failure

FIRST_PAUSE = 1.0
LONGEST_PAUSE = 60.0
TIMEOUT = 30.0

_AGAIN = frozenset({429, 500, 502, 503, 504})


class Refused(Exception):
    """The server's answer is no; `code` is its word for why."""

    def __init__(self, status: int, code: str, detail: Any) -> None:
        super().__init__(f"{code}: {detail}")
        self.status, self.code, self.detail = status, code, detail


class Unreachable(Exception):
    """The server did not answer, or not in the way of this contract; `pause` is how long it asks to wait."""

    def __init__(self, text: str, pause: float = 0.0) -> None:
        super().__init__(text)
        self.pause = pause


class Door:
    """Asks one server in the name of one bot; an answer is handed in up to `patience` times before it is given up."""

    def __init__(
        self, url: str, bot_id: str, token: str | None = None, *, patience: int = 8, pause: float = FIRST_PAUSE
    ) -> None:
        self._url, self._patience, self._pause = url.rstrip("/"), patience, pause
        self._who = {"bot_id": bot_id, **({"api_token": token} if token else {})}
        self._client = wreq.Client(no_proxy=True, timeout=timedelta(seconds=TIMEOUT))

    async def pull(self, max_jobs: int = 10, domain: str = "") -> tuple[list[Job], int]:
        """Jobs that are ours now, and how many others hold where we looked. Asked once: there is always a next time."""
        data = await self._ask("pull", {"max_jobs": max_jobs, "domain": domain}, None)
        return [Job(**job) for job in data["jobs"]], data["skipped"]

    async def submit(self, job: Job, found: Found) -> dict[str, Any]:
        """Hand in what was found; may be repeated, the server answers the same."""
        return await self._insist("submit", {"job_id": job.job_id, **found.body()}, _key(job))

    async def fail(self, job: Job, error: BaseException | str) -> dict[str, Any]:
        """Say that a job could not be done."""
        return await self._insist("submit", {"job_id": job.job_id, **failure(error)}, _key(job))

    async def heartbeat(self, job: Job) -> str:
        """Keep a job for as long again; until when, by the server's clock."""
        data = await self._insist("heartbeat", {"job_id": job.job_id})
        return str(data["locked_until"])

    def close(self) -> None:
        """Let go of connections."""
        self._client.close()

    async def _insist(self, path: str, body: dict[str, Any], key: str | None = None) -> dict[str, Any]:
        """Ask until there is an answer: pauses double, with a little chance so that bots do not come in step."""
        pause = self._pause
        for attempt in range(1, self._patience + 1):
            try:
                return await self._ask(path, body, key)
            except Unreachable as error:
                if attempt == self._patience:
                    raise
                await asyncio.sleep(max(error.pause, pause * random.uniform(0.5, 1.0)))
                pause = min(pause * 2, LONGEST_PAUSE)
        raise AssertionError("unreachable")

    async def _ask(self, path: str, body: dict[str, Any], key: str | None) -> dict[str, Any]:
        headers = {"Content-Type": "application/json", **({"Idempotency-Key": key} if key else {})}
        content = orjson.dumps({**self._who, **body})
        try:
            answer = await self._client.post(f"{self._url}/api/crawl/{path}/", headers=headers, body=content)
            status, text = answer.status.as_int(), bytes(await answer.bytes())
        except (wreq.RequestError, wreq.ConnectionError, wreq.TimeoutError, OSError) as error:
            raise Unreachable(f"{self._url} does not answer: {error}") from error
        return _data(status, text, bytes(answer.headers.get("retry-after") or b""))


def _data(status: int, text: bytes, wait: bytes) -> dict[str, Any]:
    try:
        told = orjson.loads(text)
        if told["success"]:
            data: dict[str, Any] = told["data"]
            return data
        code, detail = told["error"], told["detail"]
    except (ValueError, KeyError, TypeError):
        raise Unreachable(f"an answer with status {status} that is not this contract's") from None
    if status in _AGAIN:
        raise Unreachable(f"{code}: {detail}", float(wait or 0))
    raise Refused(status, code, detail)


def _key(job: Job) -> str:
    # A job that is pulled again is another piece of work: its lock ends at another time.
    return f"{job.job_id}/{job.retry_count}/{job.locked_until}"
