"""The ids of queued runs as a list in Redis, as the contract of catalogues has it; none of our processes reads it."""

from typing import Any

from redis.asyncio import Redis
from redis.exceptions import RedisError

from longline.model.errors import Unavailable

KEY = "crawler:queue"
MAX_LENGTH = 10_000
"""Largest number of ids in the list: where no program takes them, the oldest ones go."""

_ANSWER_TIMEOUT_SECONDS = 1.0


class RedisRunQueue:
    """A list to which ids are added from the left."""

    def __init__(self, url: str) -> None:
        self._client: Any = Redis.from_url(
            url, socket_connect_timeout=_ANSWER_TIMEOUT_SECONDS, socket_timeout=_ANSWER_TIMEOUT_SECONDS
        )

    async def push(self, uid: str) -> None:
        try:
            async with self._client.pipeline(transaction=True) as pipe:
                pipe.lpush(KEY, uid)
                pipe.ltrim(KEY, 0, MAX_LENGTH - 1)
                await pipe.execute()
        except (RedisError, OSError, TimeoutError) as error:
            raise Unavailable(f"the queue in Redis cannot be written: {error}") from error

    async def close(self) -> None:
        await self._client.aclose()
