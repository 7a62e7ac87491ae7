"""Ids: UUIDv7 text for rows that are made one by one, and a UUIDv7 form of a task's integer id.

A task is known by an integer inside and by a UUID at the doors that promise one. The UUID is computed from the
integer and the creation time, so it needs neither a column nor an index, and can be turned back.
"""

from uuid import UUID

from uuid_utils import uuid7

_LOW_62 = (1 << 62) - 1
_CHECK = 0xB5D  # any fixed 12 bits; they let us refuse UUIDs of other makers


def new_id() -> str:
    """Return a fresh UUIDv7; later ids sort after earlier ones."""
    return str(uuid7())


def task_uuid(task_id: int, created_at: int) -> str:
    """Return the UUIDv7 of a task: its creation time in the first 48 bits, its integer id in the last 62."""
    digits = f"{_packed(task_id, created_at):032x}"
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def task_id_of(text: str) -> tuple[int, int] | None:
    """Return (integer id, creation time) of a task's UUID, or None for any other text."""
    try:
        value = UUID(text).int
    except ValueError:
        return None
    task_id, created_at = value & _LOW_62, value >> 80
    return (task_id, created_at) if _packed(task_id, created_at) == value else None


def entry_uuid(run_id: int, number: int, at_us: int) -> str:
    """Return the UUIDv7 of a log entry: its time to the microsecond, then its run and its number in that run.

    The fraction of the millisecond is in the 12 bits that RFC 9562 has for it: ids rise with the times of a run.
    """
    at_ms, micros = divmod(at_us, 1000)
    value = (at_ms & ((1 << 48) - 1)) << 80 | 7 << 76 | (micros * 4096 // 1000) << 64 | 2 << 62
    value |= (run_id & ((1 << 30) - 1)) << 32 | (number & 0xFFFFFFFF)
    return str(UUID(int=value))


def _packed(task_id: int, created_at: int) -> int:
    begin = (created_at & ((1 << 48) - 1)) << 80 | 7 << 76 | (_CHECK ^ (task_id & 0xFFF)) << 64 | 2 << 62
    return begin | (task_id & _LOW_62)
