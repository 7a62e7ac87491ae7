"""Numbers of the advisory locks of PostgreSQL, one for each thing that one process may do at a time."""

SLOT_LOCK_ID = 0x736C6F74
"""The lock of processes that place schedules: two at once must not choose the same slot."""

MIGRATION_LOCK_ID = 0x6C6F6E67
"""The lock of processes that migrate the same database."""
