"""A run is one execution: a crawl from its seeds to its last open task."""

import msgspec


class NewRun(msgspec.Struct, frozen=True):
    """A run to be made. `budget` bounds how many URLs it may admit; `plan` is what it was asked to do, as JSON."""

    uid: str
    kind: str
    plan: str
    seed: str = ""
    source_id: int | None = None
    schedule_id: int | None = None
    budget: int | None = None


class RunRow(msgspec.Struct, frozen=True):
    """A run as stored. admitted = open + completed + failed + cancelled + skipped, always."""

    id: int
    uid: str
    kind: str
    state: str
    plan: str
    seed: str
    source_id: int | None
    schedule_id: int | None
    budget: int | None
    admitted: int
    open: int
    completed: int
    failed: int
    cancelled: int
    skipped: int
    error: str | None
    created_at: int
    started_at: int | None
    ended_at: int | None
    owner: int | None
    token: int
    lease_until: int | None


class Fate(msgspec.Struct, frozen=True):
    """How many URLs of a run ended one way for one reason. The fate `refused` counts URLs that were never admitted."""

    fate: str
    reason: str
    count: int
