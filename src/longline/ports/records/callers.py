"""Callers: API keys, the rate limits of all callers, and the audit of their changes."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

from longline.model.callers.api_key import ApiKeyRow, NewApiKey
from longline.model.callers.audit import AuditFilter, AuditRow
from longline.model.callers.console_session import ConsoleSessionRow, NewConsoleSession
from longline.model.callers.door_setting import DoorSettingRow
from longline.model.duration import MINUTE_MS
from longline.model.token_bucket import TokenBucket


class Spending(NamedTuple):
    """Requests of one caller: the name it is counted under, its limit in a period, and the number of requests.

    `returned` is the number of requests that were granted before and not made.
    """

    name: str
    limit: int
    times: int
    returned: int = 0
    period_ms: int = MINUTE_MS


class ApiKeyStore(Protocol):
    """API keys."""

    async def add(self, key: NewApiKey, uid: str, secret: str) -> ApiKeyRow:
        """Store a key; `secret` is the hash."""
        ...

    async def get(self, uids: Sequence[str]) -> dict[str, ApiKeyRow]:
        """Return the keys with these public ids."""
        ...

    async def find(self, *, limit: int = 100, before_id: int | None = None) -> list[ApiKeyRow]:
        """Return keys, newest first; `before_id` continues a list."""
        ...

    async def revoke(self, uid: str) -> ApiKeyRow | None:
        """Revoke a key; a revoked key keeps its time. Return None for an unknown id."""
        ...

    async def touch(self, ids: Sequence[int]) -> None:
        """Write the time of the last use, unless a time of the last minute is written."""
        ...


class ConsoleSessionStore(Protocol):
    """Logins at the console. A login by an API key ends with the key."""

    async def add(self, session: NewConsoleSession) -> ConsoleSessionRow:
        """Store a login."""
        ...

    async def get(self, uid: str) -> ConsoleSessionRow | None:
        """Return a login that has not ended."""
        ...

    async def in_force(self, uids: Iterable[str]) -> set[str]:
        """Return those of these logins that have not ended."""
        ...

    async def find(self, *, limit: int = 100, before_id: int | None = None) -> list[ConsoleSessionRow]:
        """Return logins that have not ended, newest first; `before_id` continues a list."""
        ...

    async def of_subject(self, subject: str, kind: str, *, limit: int = 100) -> list[ConsoleSessionRow]:
        """Return the logins of one caller that have not ended, newest first."""
        ...

    async def choose_time_zone(self, subject: str, kind: str, time_zone: str) -> None:
        """Store the time zone in which one caller reads times."""
        ...

    async def touch(self, uid: str) -> None:
        """Write the time of the last use."""
        ...

    async def remove(self, uid: str) -> bool:
        """Delete a login; return False for an unknown one."""
        ...

    async def forget(self) -> None:
        """Delete the logins that have expired."""
        ...


class RateLimitStore(Protocol):
    """Token buckets of callers."""

    async def spend(self, spendings: Sequence[Spending]) -> dict[str, TokenBucket]:
        """Charge requests to the buckets of callers, each name once; return the buckets."""
        ...

    async def forget(self, age_ms: int) -> None:
        """Delete the buckets of callers that sent no request for so long."""
        ...


class DoorSettingStore(Protocol):
    """Settings of APIs that their admins keep."""

    async def get(self, door: str, key: str) -> DoorSettingRow | None:
        """Return one setting."""
        ...

    async def find(self, door: str, prefix: str, *, limit: int, offset: int) -> list[DoorSettingRow]:
        """Return settings whose keys begin with a prefix, by key."""
        ...

    async def count(self, door: str, prefix: str) -> int:
        """Return the number of settings whose keys begin with a prefix."""
        ...

    async def put(self, door: str, key: str, value: str | None, description: str | None) -> DoorSettingRow:
        """Set a value; without a description, the present one stays."""
        ...

    async def remove(self, door: str, key: str) -> bool:
        """Delete a setting; return False for one that is not set."""
        ...


class AuditStore(Protocol):
    """The audit. Stores write the row of a change themselves, in its transaction; no row is changed or deleted."""

    async def find(
        self, wanted: AuditFilter, *, limit: int = 50, before_id: int | None = None, offset: int = 0
    ) -> list[AuditRow]:
        """Return audit rows, newest first; `before_id` continues a list, and `offset` skips rows."""
        ...

    async def count(self, wanted: AuditFilter) -> int:
        """Return the number of chosen audit rows."""
        ...

    async def get(self, uid: str) -> AuditRow | None:
        """Return one audit row."""
        ...
