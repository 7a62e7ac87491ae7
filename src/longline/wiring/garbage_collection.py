"""Thresholds of Python's garbage collector."""

import gc

GC_NEW_OBJECTS, GC_GENERATION_RATIO = 20_000, 20
"""Thresholds of the garbage collector: new objects per collection, and collections before an older generation's.

The pages of one report are about 17,000 objects: with a lower threshold, most pages would be searched for cycles.
"""


def raise_gc_thresholds() -> None:
    """Raise the garbage collector's thresholds: reference cycles are rare here, and collecting took 3 % of the time."""
    gc.freeze()  # imported modules live as long as the process
    gc.set_threshold(GC_NEW_OBJECTS, GC_GENERATION_RATIO, GC_GENERATION_RATIO)
