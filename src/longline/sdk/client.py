"""Client of the bots' HTTP API: one method for each endpoint, with retries while the server is away."""

import asyncio
import math
import random
import time
from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

import orjson
import wreq

from longline.sdk.job import Found, Job, encoded, failure

FIRST_PAUSE_SECONDS = 1.0
MAX_PAUSE_SECONDS = 60.0
MIN_LOCK_SECONDS = 0.1
"""Least time left of a lock for another attempt to submit a result."""

MAX_RETRY_AFTER_SECONDS = 3600.0
TIMEOUT_SECONDS = 30.0

_RETRIED_STATUSES = frozenset({408, 425, 429})
_CONNECTION_ERRORS = (
    wreq.BuilderError,
    wreq.RequestError,
    wreq.ConnectionError,
    wreq.ConnectionResetError,
    wreq.ProxyConnectionError,
    wreq.TlsError,
    wreq.BodyError,
    wreq.DecodingError,
    wreq.RedirectError,
    OSError,
)


class RequestRefused(Exception):
    """The server refused a request; `code` is the error code of its answer."""

    def __init__(self, status: int, code: str, detail: Any) -> None:
        super().__init__(f"{code}: {_sentence(detail)}")
        self.status, self.code, self.detail = status, code, detail


class Unreachable(Exception):
    """The server did not answer, or not as this API does; `pause` is its Retry-After in seconds."""

    def __init__(self, text: str, pause: float = 0.0) -> None:
        super().__init__(text)
        self.pause = pause


class RateLimited(Unreachable):
    """This bot exceeded its rate limit; the server accepts its next request after `pause` seconds."""


class ApiClient:
    """A client that talks to one server as one bot.

    Submits and heartbeats are retried until the job's lock ends; for a job that this client did not pull, up to
    `patience` times.
    """

    def __init__(
        self, url: str, bot_id: str, token: str | None = None, *, patience: int = 8, pause: float = FIRST_PAUSE_SECONDS
    ) -> None:
        self.url, self.bot_id = url.rstrip("/"), bot_id
        self._patience, self._pause = patience, pause
        self._who = {"bot_id": bot_id, **({"api_token": token} if token else {})}
        self._client = wreq.Client(no_proxy=True, timeout=timedelta(seconds=TIMEOUT_SECONDS))
        self._lock_ends: dict[str, float] = {}

    async def pull(self, max_jobs: int = 10, domain: str = "", *, hosts: Sequence[str] = ()) -> tuple[list[Job], int]:
        """Pull jobs; return them, and how many matching jobs other bots hold. Never retries: bots pull again anyway.

        `domain` is part of a host's name; `hosts` are whole names, and `*.name` means every host below `name`.
        """
        begun = time.monotonic()
        scope = {"domain": domain, **({"hosts": list(hosts)} if hosts else {})}
        data = await self._ask("pull", encoded({**self._who, "max_jobs": max_jobs, **scope}), None)
        try:
            jobs, skipped = [Job.read(job) for job in data["jobs"]], int(data["skipped"])
        except (KeyError, TypeError, ValueError) as error:
            raise Unreachable(f"{self.url} answered a pull without {error}") from error
        self._lock_ends |= {job.job_id: begun + job.timeout_seconds for job in jobs}
        return jobs, skipped

    async def submit(self, job: Job, found: Found) -> dict[str, Any]:
        """Submit a result; a repeat gets the same answer. Raises `Unsendable` for data that cannot be sent."""
        return await self._insist("submit", job, found.body(), _key(job))

    async def fail(self, job: Job, error: BaseException | str) -> dict[str, Any]:
        """Submit a job as failed."""
        return await self._insist("submit", job, failure(error), _key(job))

    async def heartbeat(self, job: Job) -> str:
        """Renew a job's lock for its full time from now; return its new end by the server's clock."""
        begun = time.monotonic()
        data = await self._insist("heartbeat", job, {})
        # The server renewed the lock after the request was sent, so this end is never too late.
        if job.job_id in self._lock_ends:
            self._lock_ends[job.job_id] = max(self._lock_ends[job.job_id], begun + job.timeout_seconds)
        return str(data["locked_until"])

    def seconds_left(self, job: Job) -> float:
        """Return for how long a job stays locked at least, by the local clock; infinity for jobs not pulled here."""
        return self._lock_ends.get(job.job_id, math.inf) - time.monotonic()

    def forget(self, job: Job) -> None:
        """Forget the end of a job's lock."""
        self._lock_ends.pop(job.job_id, None)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    async def _insist(self, path: str, job: Job, body: dict[str, Any], key: str | None = None) -> dict[str, Any]:
        """Retry a request until it is answered: pauses double, with jitter so that bots do not retry in step."""
        content = encoded({**self._who, "job_id": job.job_id, **body})
        pause, attempts = self._pause, 0
        while True:
            try:
                return await self._ask(path, content, key)
            except Unreachable as error:
                attempts += 1
                left = self.seconds_left(job)
                over = max(error.pause, MIN_LOCK_SECONDS) > left
                if over or (left == math.inf and attempts >= self._patience):
                    raise
                # Shorter pauses near the lock's end leave room for another attempt.
                wait = max(error.pause, min(pause * random.uniform(0.5, 1.0), left / 2))
            await asyncio.sleep(wait)
            pause = min(pause * 2, MAX_PAUSE_SECONDS)

    async def _ask(self, path: str, content: bytes, key: str | None) -> dict[str, Any]:
        if not _is_address(self.url):
            raise RequestRefused(0, "bad_address", f"{self.url!r} is not the address of a server")
        headers = {"Content-Type": "application/json", **({"Idempotency-Key": key} if key else {})}
        try:
            answer = await self._client.post(f"{self.url}/api/crawl/{path}/", headers=headers, body=content)
            status, text = answer.status.as_int(), bytes(await answer.bytes())
        except wreq.TimeoutError as error:
            raise Unreachable(f"{self.url} did not answer within {TIMEOUT_SECONDS:.0f} seconds") from error
        except _CONNECTION_ERRORS as error:
            raise Unreachable(f"{self.url} cannot be reached: {_reason(str(error))}") from error
        return self._data(status, text, bytes(answer.headers.get("retry-after") or b""))

    def _data(self, status: int, text: bytes, retry_after: bytes) -> dict[str, Any]:
        try:
            answer_body = orjson.loads(text)
            if answer_body["success"]:
                data: dict[str, Any] = answer_body["data"]
                return data
            code, detail = str(answer_body["error"]), answer_body["detail"]
        except (ValueError, KeyError, TypeError):
            code, detail = "bad_answer", f"{self.url} answered {status} in words that are not this contract's"
            if status < 400:
                raise Unreachable(detail) from None
        if status == 429:
            raise RateLimited(_sentence(detail), _seconds(retry_after))
        if status in _RETRIED_STATUSES or status >= 500:
            raise Unreachable(f"{code}: {_sentence(detail)}", _seconds(retry_after))
        raise RequestRefused(status, code, detail)


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def _reason(text: str) -> str:
    """Return in plain words why a connection failed; the client's own text is a dump of its structures."""
    known = {
        "Connection refused": "the connection was refused",
        "dns error": "its name is not known",
        "SSL": "the TLS handshake failed",
        "CERTIFICATE": "its certificate is not trusted",
        "unreachable": "there is no route to it",
    }
    return next((said for part, said in known.items() if part in text), "the connection broke off")


def _sentence(detail: Any) -> str:
    """Return an error's detail as text; a mapping of fields to messages names each field."""
    if not isinstance(detail, dict):
        return str(detail)
    return "; ".join(f"{name}: {' '.join(map(str, said))}" for name, said in detail.items())


def _seconds(retry_after: bytes) -> float:
    """Return the seconds of a Retry-After header; 0 for a date and for any text that is not a number."""
    try:
        seconds = float(retry_after or 0)
    except ValueError:
        return 0.0
    return min(max(seconds, 0.0), MAX_RETRY_AFTER_SECONDS) if math.isfinite(seconds) else 0.0


def _key(job: Job) -> str:
    # A job that is pulled again needs another idempotency key: its lock ends at another time.
    return f"{job.job_id}/{job.retry_count}/{job.locked_until}"
