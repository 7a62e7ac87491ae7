"""Liveness of processes on this machine: leases of a dead process can be taken back before they lapse."""

from typing import Protocol


class ProcessLock(Protocol):
    """A mark of this process that lasts as long as the process, and a check for the marks of others."""

    def enter(self) -> str:
        """Create a mark that vanishes with this process, however the process ends; return the mark's name."""
        ...

    def gone(self, mark: str) -> bool:
        """Return True when the mark's process is certainly dead, False when alive or unknown on this machine."""
        ...

    def forget(self, mark: str) -> None:
        """Remove the mark of a dead process."""
        ...

    def release(self) -> None:
        """Remove this process's own mark."""
        ...
