"""Streams of manifests in Redis: records are added together with the positions up to which they were copied."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from redis.asyncio import Redis
from redis.exceptions import RedisError, ResponseError, WatchError

from longline.model.errors import Unavailable
from longline.model.manifests.manifest import StreamName
from longline.ports.manifests import StreamRecord

DATA = "data"
"""Field of a record that has its JSON."""

_ANSWER_TIMEOUT_SECONDS = 5.0


class RedisManifestStreams:
    """The streams under their names, each trimmed to its age; `groups` are the consumer groups of their readers."""

    def __init__(
        self,
        url: str,
        names: Mapping[StreamName, str],
        ages_ms: Mapping[StreamName, int],
        groups: Mapping[StreamName, str],
        positions_key: str,
    ) -> None:
        self._client: Any = Redis.from_url(
            url, socket_connect_timeout=_ANSWER_TIMEOUT_SECONDS, socket_timeout=_ANSWER_TIMEOUT_SECONDS
        )
        self._names, self._ages_ms, self._groups, self._key = names, ages_ms, groups, positions_key

    async def positions(self) -> dict[str, int]:
        with _trouble():
            found = await self._client.hgetall(self._key)
            return {name.decode(): int(value) for name, value in found.items()}

    async def append(
        self, records: Sequence[StreamRecord], was: Mapping[str, int], positions: Mapping[str, int | None]
    ) -> bool:
        with _trouble():
            async with self._client.pipeline(transaction=True) as pipe:
                await pipe.watch(self._key)
                now = await pipe.hmget(self._key, list(positions))
                stored = {name: int(value) for name, value in zip(positions, now, strict=True) if value is not None}
                if stored != {name: was[name] for name in positions if name in was}:
                    return False
                pipe.multi()
                for record in records:
                    pipe.xadd(self._names[record.stream], {DATA: record.data})
                for name, value in positions.items():
                    pipe.hdel(self._key, name) if value is None else pipe.hset(self._key, name, value)
                for stream in {record.stream for record in records}:
                    oldest = time.time_ns() // 1_000_000 - self._ages_ms[stream]
                    pipe.xtrim(self._names[stream], minid=oldest, approximate=True)
                try:
                    await pipe.execute()
                except WatchError:
                    return False
        return True

    async def publish(self, data: bytes) -> str:
        with _trouble():
            added: bytes = await self._client.xadd(self._names["tasks"], {DATA: data})
            return added.decode()

    async def set_up(self) -> list[str]:
        with _trouble():
            for stream, name in self._names.items():
                try:
                    await self._client.xgroup_create(name, self._groups[stream], id="0", mkstream=True)
                except ResponseError as error:
                    if "BUSYGROUP" not in str(error):
                        raise
        return list(self._names.values())

    async def close(self) -> None:
        await self._client.aclose()


@contextmanager
def _trouble() -> Iterator[None]:
    try:
        yield
    except (RedisError, OSError) as error:
        raise Unavailable(f"streams of manifests cannot be reached: {str(error).partition(chr(10))[0]}") from error
