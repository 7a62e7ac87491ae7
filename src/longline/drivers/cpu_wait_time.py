"""Run delay of a thread: the time for which it was ready to run while the operating system ran other threads."""

from pathlib import Path

_SCHEDSTAT = Path("/proc/thread-self/schedstat")
"""Three numbers: nanoseconds on a processor, nanoseconds of run delay, and how often the thread was run."""


def run_delay() -> float:
    """Return the run delay of the calling thread in seconds since its start; 0 where the system does not report it."""
    try:
        with _SCHEDSTAT.open("rb", buffering=0) as file:
            return int(file.read(200).split()[1]) / 1e9
    except (OSError, IndexError, ValueError):
        return 0.0
