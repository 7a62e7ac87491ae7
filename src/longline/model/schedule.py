"""A schedule says what is crawled again, and when."""

import msgspec


class NewSchedule(msgspec.Struct, frozen=True):
    """A schedule to be made; `interval_ms` None means once."""

    uid: str
    url: str
    source_id: int | None = None
    interval_ms: int | None = None
    next_due: int | None = None


class ScheduleRow(msgspec.Struct, frozen=True):
    """A schedule as stored."""

    id: int
    uid: str
    source_id: int | None
    url: str
    state: str
    interval_ms: int | None
    next_due: int | None
    created_at: int
    updated_at: int
    owner: int | None
    token: int
    lease_until: int | None
