"""Tasks that are leased one by one, without their host: for parsers and bots. For `engine/lifecycle.py` alone."""

from collections.abc import Sequence
from typing import Protocol

import msgspec

from longline.model.task import ClaimedTask, Outcome
from longline.ports.records.frontier import Batch, Reported


class TaskLease(msgspec.Struct, frozen=True):
    """The right to work on one task, until `until` or until the token moves."""

    task: ClaimedTask
    token: int
    until: int


class Hands(Protocol):
    """Offers tasks to whoever takes them. Each call is one transaction."""

    async def take(self, executor: str, owner: int, limit: int, ttl_ms: int) -> list[TaskLease]:
        """Lease ready tasks of an executor, best priority first."""
        ...

    async def renew(self, owner: int, held: Sequence[tuple[int, int]], ttl_ms: int) -> set[int]:
        """Extend leases named by (task, token); the tasks still held."""
        ...

    async def give(self, outcomes: Sequence[tuple[int, Outcome]], batch: Batch) -> Reported:
        """Write how taken tasks ended, each under its token, and admit what they brought; all or nothing."""
        ...

    async def reap(self, limit: int) -> int:
        """Make lapsed and newly due tasks ready again; how many."""
        ...

    async def disown(self, owner: int) -> int:
        """Take back every task of an owner who is gone; how many."""
        ...
