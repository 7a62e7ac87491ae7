"""Errors of the platform, one class for each kind of answer that a caller must give.

Every error carries one sentence for a person. Doors turn the class into their contract's status and words; the
command line prints the sentence and exits with `exit_code`.
"""

import errno


class LonglineError(Exception):
    """An expected failure, described in one line."""

    exit_code = 1


class BadInput(LonglineError):
    """A request that is wrong in any state of the platform."""

    exit_code = 2


class UnknownSetting(BadInput):
    """A settings key that does not exist; the text names the nearest known key."""


class OutOfRange(BadInput):
    """A number that no database stores: it has more than 64 bits."""

    def __init__(self) -> None:
        super().__init__("a number is out of range")


class NotFound(LonglineError):
    """An object that does not exist: its noun and its id. `text` replaces the usual sentence."""

    def __init__(self, noun: str, subject: object = "", text: str | None = None) -> None:
        self.noun, self.subject = noun, subject
        super().__init__(text or f"no such {noun}: {subject}")


class IllegalMove(LonglineError):
    """A move that the table does not allow from the present state."""

    def __init__(self, noun: str, move: str, state: str, legal: tuple[str, ...]) -> None:
        self.noun, self.move, self.state, self.legal = noun, move, state, legal
        now = ", ".join(legal) or "nothing"
        super().__init__(f"cannot {move} a {noun} that is {state}; legal now: {now}")


class Conflict(LonglineError):
    """A request for an object that exists already and must be unique."""


class StaleLease(LonglineError):
    """A report under a lease that is no longer held; the report changed nothing."""


class Unavailable(LonglineError):
    """An engine (database, object store, signals) that cannot be reached or refuses access."""


class NeedsOperator(Unavailable):
    """An engine that cannot be used before a person acts; the text names the action."""


class DiskFull(NeedsOperator):
    """A full disk, or an exhausted disk quota of this user."""


class UploadRefused(LonglineError):
    """An object that its store does not take, while the store works; `is_final` when no further attempt can help."""

    def __init__(self, text: str, *, is_final: bool) -> None:
        super().__init__(text)
        self.is_final = is_final


class SinkFailing(Unavailable):
    """Sinks that have been failing for some time; the sentence names them without their addresses."""


class PoolsFailing(Unavailable):
    """Proxy pools without a working proxy; the sentence names them."""


class RoleUnstaffed(Unavailable):
    """A role that the configuration needs, and that no living worker has."""


class CorruptDatabase(NeedsOperator):
    """A database file that is damaged, or is no database."""


def is_disk_full(error: OSError) -> bool:
    """Return whether a write failed because the disk or the quota is full."""
    return error.errno in (errno.ENOSPC, errno.EDQUOT)
