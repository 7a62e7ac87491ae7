"""Page changes in Redis, which other services of the interval contract read too; intervals are nanoseconds there."""

from datetime import UTC, datetime
from typing import Any

import msgspec
from redis.asyncio import Redis
from redis.exceptions import RedisError

from longline.model.errors import Unavailable
from longline.ports.records.schedules import PageChanges

PREFIX = "crawler:adaptive:"
_HASH = "sha256:"
_NANOSECONDS_PER_MS = 1_000_000
_ANSWER_TIMEOUT_SECONDS = 5.0


class RedisPageChanges:
    """One JSON text for each source, without expiry."""

    def __init__(self, url: str) -> None:
        self._client = Redis.from_url(
            url, socket_connect_timeout=_ANSWER_TIMEOUT_SECONDS, socket_timeout=_ANSWER_TIMEOUT_SECONDS
        )

    async def get(self, source_ref: str) -> PageChanges | None:
        text = await self._ask("GET", PREFIX + source_ref)
        try:
            return _read(msgspec.json.decode(text)) if text else None
        except (msgspec.DecodeError, KeyError, TypeError, ValueError):
            return None  # text of another program; the next run overwrites it

    async def save(self, source_ref: str, page_changes: PageChanges) -> None:
        changed = datetime.fromtimestamp(page_changes.changed_at / 1000, UTC).isoformat()
        state = {
            "last_hash": page_changes.digest.removeprefix(_HASH),
            "last_change_at": changed,
            "unchanged_count": page_changes.unchanged,
            "current_interval": page_changes.interval_ms * _NANOSECONDS_PER_MS,
        }
        await self._ask("SET", PREFIX + source_ref, msgspec.json.encode(state))

    async def forget(self, source_ref: str) -> None:
        await self._ask("DEL", PREFIX + source_ref)

    async def close(self) -> None:
        """Close all connections."""
        await self._client.aclose()

    async def _ask(self, *words: Any) -> Any:
        try:
            return await self._client.execute_command(*words)  # type: ignore[no-untyped-call]  # the library leaves it so
        except (RedisError, OSError, TimeoutError) as error:
            raise Unavailable(f"Redis cannot be asked: {error}") from error


def _read(state: dict[str, Any]) -> PageChanges:
    changed = datetime.fromisoformat(state["last_change_at"])
    interval = int(state["current_interval"]) // _NANOSECONDS_PER_MS
    digest = _HASH + str(state["last_hash"])
    return PageChanges(digest, round(changed.timestamp() * 1000), int(state["unchanged_count"]), interval)
