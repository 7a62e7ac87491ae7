"""Usage of a process and its descendants, as the kernel counts it."""

import os
from pathlib import Path

_TICK = 1 / os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")
_USER, _WAITED_SYSTEM = 11, 15
"""Places in a line of /proc/PID/stat after the name: time of the process, then that of children it has waited for."""


def processes(pid: int) -> list[int]:
    """Return a process and its living descendants."""
    found = [pid]
    for parent in found:
        for children in Path(f"/proc/{parent}/task").glob("*/children"):
            try:
                found.extend(int(child) for child in children.read_text().split())
            except OSError:  # the thread ended meanwhile
                continue
    return found


def cpu_seconds(pid: int) -> float:
    """Return user and system time of a process and its descendants, also of those that have ended and were reaped."""
    return sum(sum(map(int, _stat(each)[_USER:_WAITED_SYSTEM])) for each in processes(pid)) * _TICK


def resident_bytes(pid: int) -> int:
    """Return the memory of a process and its descendants; shared pages are counted for each."""
    return sum(_resident(each) for each in processes(pid))


def _stat(pid: int) -> list[str]:
    try:
        # The name may have any character, also blanks and parentheses.
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def _resident(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE
    except (OSError, IndexError):
        return 0
