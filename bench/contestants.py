"""The contestants: a program, its interpreter, and its description in the table."""

import sys
from dataclasses import dataclass
from pathlib import Path

from bench.crawlers.order import Order
from bench.web import RIVALS

HOUSE = sys.executable
RIVAL = str(RIVALS / "python")


@dataclass(frozen=True)
class Contestant:
    """One program that crawls the site."""

    name: str
    label: str
    program: str
    python: str = HOUSE
    postgres: bool = False
    workers: int = 1
    storage: str = "file"

    @property
    def available(self) -> bool:
        """Return true if its interpreter is installed."""
        return Path(self.python).exists()

    def command(self, order: Order) -> list[str]:
        """Return the command and settings of a contestant."""
        return [self.python, "-m", f"bench.crawlers.{self.program}", order.text()]


CONTESTANTS = (
    Contestant("ours", "Longline, SQLite", "ours"),
    Contestant("postgres", "Longline, PostgreSQL, 2 workers", "ours", postgres=True, workers=2),
    Contestant("postgres-1", "Longline, PostgreSQL, 1 worker", "ours", postgres=True),
    Contestant("scrapy", "Scrapy, JOBDIR, bodies", "scrapy_jobdir", RIVAL),
    Contestant("crawlee-file", "Crawlee, file storage", "crawlee_parsel", RIVAL),
    Contestant("crawlee-memory", "Crawlee, memory storage", "crawlee_parsel", RIVAL, storage="memory"),
    Contestant("bare", "bare loop", "bare"),
)


def chosen(names: str) -> list[Contestant]:
    """Return the contestants of a comma-separated list, in the table's order; a name may be a prefix of several."""
    wanted = [name.strip() for name in names.split(",") if name.strip()]
    known = {contestant.name for contestant in CONTESTANTS}
    for name in wanted:
        if name not in known and not any(each.startswith(f"{name}-") for each in known):
            raise SystemExit(f"no contestant {name!r}; there are {', '.join(sorted(known))}")
    exact = {name for name in wanted if name in known}
    groups = tuple(f"{name}-" for name in wanted if name not in known)
    return [each for each in CONTESTANTS if each.name in exact or (groups and each.name.startswith(groups))]
