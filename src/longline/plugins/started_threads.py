"""Pools whose threads run from the start.

A pool starts a thread at the first call that needs it, and the start waits until the thread runs. On a busy machine the
wait takes up to a tenth of a second, and the caller is the event loop.
"""

from concurrent.futures import ThreadPoolExecutor, wait
from threading import Barrier


def started_threads(count: int, name: str) -> ThreadPoolExecutor:
    """Return a pool of `count` threads that all run."""
    pool = ThreadPoolExecutor(count, thread_name_prefix=name)
    # No thread is free for the next call before all have been started.
    meeting = Barrier(count)
    wait([pool.submit(meeting.wait) for _ in range(count)])
    return pool
