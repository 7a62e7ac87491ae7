"""What every contestant is told, and the words by which the measurement knows when its crawl begins and ends.

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
    """One crawl: from the seeds, inside the hosts, with everything that is kept below the folder."""

    seeds: list[str]
    hosts: list[str]
    folder: str
    concurrency: int
    database: str = ""
    workers: int = 1
    storage: str = "file"

    def text(self) -> str:
        """The order as an argument of a command."""
        return json.dumps(asdict(self))


def given() -> Order:
    """The order that this process was started with."""
    return Order(**json.loads(sys.argv[1]))


@contextmanager
def lap() -> Iterator[None]:
    """The measured part: waits for the word to go, and after the crawl until it was measured.

    Imports stand before it, for everybody alike; opening and closing what is kept belongs inside.
    """
    print(READY, flush=True)
    sys.stdin.readline()
    yield
    print(DONE, flush=True)
    sys.stdin.readline()
