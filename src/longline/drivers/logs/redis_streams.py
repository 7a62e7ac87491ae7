"""Copies of logs in Redis streams, with log marks as entry ids: the server refuses an entry that is there already."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import msgspec
from redis.asyncio import Redis
from redis.exceptions import RedisError, ResponseError

from longline.model.errors import Unavailable
from longline.model.logs.run_log import LogMark, parse_mark

_ANSWER_TIMEOUT_SECONDS = 5.0
_KNOWN = "equal or smaller"


class RedisLogCopies:
    """One stream for each schedule, which expires `ttl_seconds` after its last entry."""

    def __init__(self, url: str, prefix: str, ttl_seconds: int) -> None:
        self._client: Any = Redis.from_url(
            url, socket_connect_timeout=_ANSWER_TIMEOUT_SECONDS, socket_timeout=_ANSWER_TIMEOUT_SECONDS
        )
        self._prefix, self._ttl = prefix, ttl_seconds

    async def last(self, name: str) -> LogMark | None:
        with _trouble():
            newest = await self._client.xrevrange(self._key(name), count=1)
            return parse_mark(newest[0][0].decode()) if newest else None

    async def add(self, name: str, lines: Sequence[tuple[LogMark, dict[str, Any]]]) -> None:
        with _trouble():
            async with self._client.pipeline(transaction=False) as pipe:
                for mark, line in lines:
                    pipe.xadd(self._key(name), _fields(line), id=str(mark))
                pipe.expire(self._key(name), self._ttl)
                for answer in await pipe.execute(raise_on_error=False):
                    # A known entry was copied by another process.
                    if isinstance(answer, ResponseError) and _KNOWN not in str(answer):
                        raise answer

    async def close(self) -> None:
        await self._client.aclose()

    def _key(self, name: str) -> str:
        return f"{self._prefix}:{name}"


def _fields(line: dict[str, Any]) -> dict[str, str]:
    named = {name: str(line[name]) for name in ("timestamp", "level", "category", "message", "job_id")}
    return named | {
        "exec_id": line["execution_id"],
        "fields": msgspec.json.encode(line.get("fields", {})).decode(),
    }


@contextmanager
def _trouble() -> Iterator[None]:
    try:
        yield
    except (RedisError, OSError) as error:
        raise Unavailable(f"copies of logs cannot be written: {str(error).partition(chr(10))[0]}") from error
