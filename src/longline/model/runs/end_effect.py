"""Effects that follow the end of a run exactly once."""

from enum import StrEnum

import msgspec

LEASE_MS = 60_000
"""Length of the lease on effects: after a kill an effect waits that long for its next attempt."""

RETRY_DELAY_SECONDS, MAX_RETRY_DELAY_SECONDS = 1.0, 3600.0
"""Pause before the first retry of an effect, and the longest; each is twice the one before."""


class RunEffectKind(StrEnum):
    """The kinds of effects that follow the end of a run, each with one handler."""

    SOURCE_HEALTH = "source_health"
    """The source of the run notes the success or the failure."""

    MANIFEST = "manifest"
    """The hook at the end of the run's manifest is called."""

    SERIES_HEALTH = "series_health"
    """The same in the transaction of the end, with the targets of the run; failing sources are disabled."""


AT_ONCE = frozenset({RunEffectKind.SERIES_HEALTH})
"""Effects that happen in the transaction of the end."""


class PlannedEffect(msgspec.Struct, frozen=True):
    """An effect that follows every end of a run; `detail` is data for the handler of its kind."""

    kind: RunEffectKind
    detail: str = ""


class RunEffect(msgspec.Struct, frozen=True):
    """An effect that waits for its handler, with the facts of the end that it follows.

    `attempt` is the number of this attempt, `token` the fencing token of the lease under which the effect was taken.
    """

    id: int
    kind: RunEffectKind
    detail: str
    run_id: int
    run_uid: str
    source_id: int | None
    state: str
    error: str | None
    ended_at: int
    attempt: int
    token: int
