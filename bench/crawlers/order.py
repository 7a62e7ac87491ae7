"""The order to every contestant, and the words that mark the begin and the end of its crawl.

Standard library only: rivals run this in an environment of their own.
"""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass

READY, DONE = "ready to crawl", "done crawling"


@dataclass(frozen=True)
class Order:
    """One crawl: from the seeds, inside the hosts, with all stored files below the folder."""

    seeds: list[str]
    hosts: list[str]
    folder: str
    concurrency: int
    database: str = ""
    workers: int = 1
    storage: str = "file"

    def text(self) -> str:
        """Return the order as an argument of a command."""
        return json.dumps(asdict(self))


def given() -> Order:
    """Return the order that this process was started with."""
    return Order(**json.loads(sys.argv[1]))


@contextmanager
def lap() -> Iterator[None]:
    """Run the measured part: it waits for the start signal, and after the crawl until the figures are taken.

    Imports are outside of it for all contestants; opening and closing of stores is inside.
    """
    print(READY, flush=True)
    sys.stdin.readline()
    yield
    print(DONE, flush=True)
    sys.stdin.readline()
