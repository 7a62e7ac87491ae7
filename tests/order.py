"""The order in which tests run: each process begins with its share of the slow ones, and none is left for the end."""

from collections.abc import Callable, Sequence
from typing import TypeVar

Test = TypeVar("Test")


def slow_first(tests: Sequence[Test], slowness: Callable[[Test], int], processes: int) -> list[Test]:
    """Return the tests in an order that xdist cuts into pieces which each begin with the slowest.

    `slowness` is 0 for a test that stays in its place. Slow tests are dealt like cards; a process that has none left
    runs quick ones while others wait.
    """
    slow = sorted((test for test in tests if slowness(test)), key=slowness, reverse=True)
    quick = iter([test for test in tests if not slowness(test)])
    ordered: list[Test] = []
    for process, size in enumerate(piece_sizes(len(tests), processes)):
        dealt = slow[process::processes]
        ordered += dealt
        ordered += [test for _, test in zip(range(size - len(dealt)), quick, strict=False)]
    return [*ordered, *quick]


def piece_sizes(amount: int, processes: int) -> list[int]:
    """Return the number of tests that `--dist worksteal` gives to each process at the start."""
    sizes: list[int] = []
    for process in range(processes):
        sizes.append((amount - sum(sizes)) // (processes - process))
    return sizes
