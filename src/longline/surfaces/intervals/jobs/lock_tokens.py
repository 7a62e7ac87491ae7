"""Lock tokens of jobs, made from the fencing tokens of their schedules."""

from uuid import UUID, uuid5

from longline.model.schedules.schedule import ScheduleRow


def lock_token(row: ScheduleRow) -> str:
    """Return the lease of a schedule as the contract's UUID, which changes with every lease."""
    return str(uuid5(UUID(row.uid), str(row.token)))
