"""What can go wrong, one class for each kind of answer a caller must give.

Every error carries one sentence for a person. Doors turn the class into their contract's status and words; the
command line prints the sentence and exits with `exit_code`.
"""

import errno


class LonglineError(Exception):
    """A failure that we understand and can say in one line."""

    exit_code = 1


class BadInput(LonglineError):
    """What was asked for cannot be right, whatever the state of the world."""

    exit_code = 2


class UnknownSetting(BadInput):
    """A settings key that does not exist; the text names the nearest one that does."""


class NotFound(LonglineError):
    """The thing that was named does not exist."""


class IllegalMove(LonglineError):
    """The move is not in the table for the state the thing is in."""

    def __init__(self, noun: str, move: str, state: str, legal: tuple[str, ...]) -> None:
        self.noun, self.move, self.state, self.legal = noun, move, state, legal
        now = ", ".join(legal) or "nothing"
        super().__init__(f"cannot {move} a {noun} that is {state}; legal now: {now}")


class Conflict(LonglineError):
    """What was asked for is there already, and there can be only one."""


class StaleLease(LonglineError):
    """The lease under which this was reported is no longer held; nothing was changed."""


class Unavailable(LonglineError):
    """An engine (database, objects, signals) cannot be reached or refuses us."""


class NeedsOperator(Unavailable):
    """An engine that cannot be used before a person acts; the text says what to do."""


class DiskFull(NeedsOperator):
    """A disk, or the share of it that this user may have, is full."""


class CorruptDatabase(NeedsOperator):
    """The database file is damaged, or is no database."""


def is_disk_full(error: OSError) -> bool:
    """Return whether a write failed for want of room."""
    return error.errno in (errno.ENOSPC, errno.EDQUOT)
