"""`[retention]` and `[idempotency]`: times for which records are kept."""

from typing import Annotated

from longline.settings.tables.schema import SettingsTable
from longline.settings.values import SIZE, SWITCH, Key, integer

_DAYS = integer(1, 36_500)


class RetentionTable(SettingsTable, frozen=True, kw_only=True):
    """The retention of jobs of manifests and of their streams."""

    job_ttl_days: Annotated[int, Key(_DAYS, "Days for which an ended job is kept after its last change.")] = 30
    ledger_max_bytes: Annotated[int, Key(SIZE, "Size of all jobs above which the oldest ended jobs are deleted.")] = (
        5 * 1024**3
    )
    tasks_ttl_days: Annotated[int, Key(_DAYS, "Days for which the stream `jobs.tasks` is kept.")] = 7
    logs_ttl_days: Annotated[int, Key(_DAYS, "Days for which the stream `jobs.logs` is kept.")] = 30
    dlq_ttl_days: Annotated[int, Key(_DAYS, "Days for which the stream `jobs.dlq` is kept.")] = 90
    status_ttl_days: Annotated[int, Key(_DAYS, "Days for which the stream `jobs.status` is kept.")] = 14


class IdempotencyTable(SettingsTable, frozen=True, kw_only=True):
    """The window in which a repeated request gets the answer of the first."""

    window_hours: Annotated[int, Key(integer(1), "Hours for which an idempotency key is remembered.")] = 24
    strict: Annotated[
        bool, Key(SWITCH, "Answer 409 to a known idempotency key with another body, instead of the first answer.")
    ] = False
