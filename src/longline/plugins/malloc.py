"""Allocator options that keep freed memory for the next page instead of returning it to the system.

Every parsed page allocates and frees a few hundred kilobytes. By default the C library returns freed memory at once,
and the system then clears each memory page anew: half of the time of parsing.
"""

import ctypes
import sys

MAX_KEPT_BYTES = 16 * 1024 * 1024
"""Largest amount of free memory that a process keeps."""

MIN_MAPPED_BYTES = 4 * 1024 * 1024
"""Size from which an allocation is mapped by itself, and returned to the system when freed."""

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3


def keep_freed_memory() -> bool:
    """Set the thresholds by `mallopt`; return whether the C library accepted them, which only glibc does."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        ask = ctypes.CDLL(None).mallopt
    except AttributeError:
        return False
    return bool(ask(_TRIM_THRESHOLD, MAX_KEPT_BYTES) and ask(_MMAP_THRESHOLD, MIN_MAPPED_BYTES))
