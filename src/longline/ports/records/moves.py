"""Single moves of a schedule, a run or a task. For `engine/lifecycle.py` alone."""

from typing import Protocol

import msgspec

from longline.model.states import Noun


class Standing(msgspec.Struct, frozen=True):
    """Where a thing stands: its state as others see it, the state its row rests in, and its lease."""

    state: str
    rest: str
    token: int
    owner: int | None
    lease_until: int | None


class Change(msgspec.Struct, frozen=True):
    """One guarded change: it happens only if the row still rests in `was` and, where given, token and deadline fit."""

    noun: Noun
    subject: int
    move: str
    was: str
    became: str
    actor: str
    reason: str | None = None
    token: int | None = None
    lease_seen: int | None = None
    owner: int | None = None
    lease_ms: int | None = None
    due: int | None = None
    error: str | None = None


class Moves(Protocol):
    """Reads where a thing stands and changes it, the event in the same transaction."""

    async def standing(self, noun: Noun, subject: int) -> Standing | None:
        """Where a thing stands now."""
        ...

    async def apply(self, change: Change) -> Standing | None:
        """Make the change; the new standing, or None when the guard did not hold and nothing was changed."""
        ...

    async def renew(self, noun: Noun, subject: int, token: int, ttl_ms: int) -> bool:
        """Extend the lease on a schedule or a run; False when it is no longer held."""
        ...

    async def lapsed(self, noun: Noun, limit: int) -> list[tuple[int, int]]:
        """Schedules, or runs of schedules, whose lease ran out, with the deadline that passed."""
        ...

    async def free_lapsed(self) -> int:
        """Free lapsed runs that belong to no schedule: whoever comes next may adopt them; how many."""
        ...

    async def disown(self, owner: int) -> int:
        """Free every run of an owner who is gone; how many."""
        ...

    async def free(self, noun: Noun, subject: int, token: int) -> bool:
        """Let go of a run's lease while it stays `running`, so that somebody else may adopt it."""
        ...
