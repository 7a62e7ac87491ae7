"""Requests of runs: what crawls took, summed by how each request went, in one statement a report."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from longline.drivers.records.database import Transaction
from longline.model.frontier.standing_frontier import SCOPE
from longline.model.frontier.task import Outcome, RequestMade

LONGEST_ERROR = 200
"""Characters of an error that tell it from others: it is part of a key, which may not be long."""


@dataclass(slots=True)
class _RequestSum:
    """Requests of one run that went the same way."""

    count: int = 0
    bytes: int = 0
    ms: int = 0
    least_ms: int = 0
    most_ms: int = 0
    last_at: int = 0
    last_url: str = ""

    def add(self, asked: RequestMade, outcome: Outcome) -> None:
        self.least_ms = min(self.least_ms, asked.ms) if self.count else asked.ms
        self.most_ms = max(self.most_ms, asked.ms)
        self.count, self.bytes, self.ms = self.count + 1, self.bytes + asked.bytes, self.ms + asked.ms
        if outcome.at >= self.last_at:
            self.last_at, self.last_url = outcome.at, outcome.task.url

    def row(self) -> tuple[int | str, ...]:
        return self.count, self.bytes, self.ms, self.least_ms, self.most_ms, self.last_at, self.last_url


async def count_requests(tx: Transaction, outcomes: Iterable[Outcome]) -> None:
    """Count what tasks of runs took; the standing frontier has no end at which somebody would ask for it."""
    sums: defaultdict[tuple[int, str, int, str], _RequestSum] = defaultdict(_RequestSum)
    for outcome in outcomes:
        if outcome.task.scope != SCOPE:
            for asked in outcome.asked:
                key = (outcome.task.run_id, asked.reason, asked.status or 0, asked.error[:LONGEST_ERROR])
                sums[key].add(asked, outcome)
    # In one order, behind everything else that a report writes: two reports never wait for each other.
    await tx.batch("count_requests", [(*key, *found.row()) for key, found in sorted(sums.items(), key=lambda s: s[0])])
