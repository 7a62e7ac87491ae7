"""Who is alive on this machine: leases of the dead need not lapse before they are taken back."""

from typing import Protocol


class ProcessLock(Protocol):
    """Marks this process as alive for as long as it lives, and knows whether others are."""

    def enter(self) -> str:
        """Leave a mark that vanishes with this process, however it ends; its name."""
        ...

    def gone(self, mark: str) -> bool:
        """Whether the process of that mark is certainly dead; False when it lives or when nobody here can tell."""
        ...

    def forget(self, mark: str) -> None:
        """Clear away the mark of a dead process."""
        ...

    def leave(self) -> None:
        """Take our own mark away."""
        ...
