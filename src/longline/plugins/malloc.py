"""Memory that was freed is kept for the next page instead of being handed back to the system.

Every parsed page is a few hundred kilobytes that come and go. The C library hands them back as soon as they are freed,
and the system then clears each of those pages of memory anew: half of what parsing takes.
"""

import ctypes
import sys

KEPT_BYTES = 16 * 1024 * 1024
"""How much free memory a process may hold on to."""

LARGE_BYTES = 4 * 1024 * 1024
"""Larger pieces come from the system one by one, and go back to it at once."""

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3


def keep_freed_memory() -> bool:
    """Ask the C library for it; whether it understood, which only glibc's does."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        ask = ctypes.CDLL(None).mallopt
    except AttributeError:
        return False
    return bool(ask(_TRIM_THRESHOLD, KEPT_BYTES) and ask(_MMAP_THRESHOLD, LARGE_BYTES))
