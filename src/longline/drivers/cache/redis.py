"""A cache in Redis, which all processes share."""

from collections.abc import Iterable
from typing import Any

from redis.asyncio import Redis
from redis.exceptions import RedisError

from longline.model.errors import Unavailable

_ANSWER_TIMEOUT_SECONDS = 1.0  # a reader has the database instead


class RedisCache:
    """Values as keys of Redis that expire."""

    def __init__(self, url: str) -> None:
        self._client = Redis.from_url(
            url, socket_connect_timeout=_ANSWER_TIMEOUT_SECONDS, socket_timeout=_ANSWER_TIMEOUT_SECONDS
        )

    async def get(self, key: str) -> bytes | None:
        value: bytes | None = await self._ask("GET", key)
        return value

    async def put(self, key: str, value: bytes, ttl_seconds: float | None = None) -> None:
        await self._ask("SET", key, value, *(() if ttl_seconds is None else ("PX", round(1000 * ttl_seconds))))

    async def delete(self, keys: Iterable[str]) -> None:
        if found := list(keys):
            await self._ask("DEL", *found)

    async def close(self) -> None:
        await self._client.aclose()

    async def _ask(self, *words: Any) -> Any:
        try:
            return await self._client.execute_command(*words)  # type: ignore[no-untyped-call]  # the library leaves it so
        except (RedisError, OSError, TimeoutError) as error:
            raise Unavailable(f"Redis cannot be asked: {error}") from error
