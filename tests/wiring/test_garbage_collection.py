"""Thresholds of the garbage collector."""

import gc

from longline.wiring.garbage_collection import GC_GENERATION_RATIO, GC_NEW_OBJECTS, raise_gc_thresholds


def test_the_thresholds_are_raised():
    before = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    try:
        raise_gc_thresholds()
        assert gc.get_threshold()[:2] == (GC_NEW_OBJECTS, GC_GENERATION_RATIO)
    finally:
        gc.unfreeze()
        gc.set_threshold(*before)
