"""Dead letters: downloads that were given up, kept until they are purged."""

import msgspec


class DeadLetter(msgspec.Struct, frozen=True):
    """A download that was given up. `number` rises and is never used again.

    `reason` is a word of `model/frontier/reasons.py`. A letter stays after its task was opened again, with the time in
    `replayed_at`, and outlives its run.
    """

    number: int
    run_id: int
    run_uid: str
    task_id: int
    resource_id: str
    url: str
    kind: str
    tenant: str
    reason: str
    error: str | None
    status: int | None
    attempts: int
    host: str
    proxy: str | None
    failed_at: int
    replayed_at: int | None = None


class DeadLetterFilter(msgspec.Struct, frozen=True):
    """Filters of dead letters, which combine; None admits every letter. Times are milliseconds.

    Letters of a run that is gone are found by `run_uid`. `since` and `before` bound the time of the failure, and
    `replayed` is whether the task was opened again.
    """

    run_id: int | None = None
    reason: str | None = None
    status: int | None = None
    host: str | None = None
    kind: str | None = None
    tenant: str | None = None
    since: int | None = None
    before: int | None = None
    replayed: bool | None = None
    number: int | None = None
    run_uid: str | None = None
