"""Properties that are computed once, without blocking other threads."""

import threading

from longline.model.cached_property import cached_property


class Slow:
    """An object with a property that waits for a signal."""

    def __init__(self) -> None:
        self.begun, self.go_on, self.computed = threading.Event(), threading.Event(), 0

    @cached_property
    def value(self) -> int:
        """A number."""
        self.computed += 1
        self.begun.set()
        assert self.go_on.wait(60)
        return 42


def test_a_value_is_computed_once():
    thing = Slow()
    thing.go_on.set()
    assert (thing.value, thing.value, thing.computed) == (42, 42, 1)
    assert Slow.value.__doc__ == "A number."


def test_a_computation_for_one_object_does_not_block_that_for_another():
    slow, quick = Slow(), Slow()
    quick.go_on.set()
    thread = threading.Thread(target=lambda: slow.value)
    thread.start()
    assert slow.begun.wait(60)
    other = threading.Thread(target=lambda: quick.value)
    other.start()
    other.join(10)
    stopped = other.is_alive()
    slow.go_on.set()
    thread.join(60)
    assert not stopped
