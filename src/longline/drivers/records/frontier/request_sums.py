"""Requests of runs, summed by reason, status and error, in one statement per report."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from longline.drivers.records.database import Transaction
from longline.model.frontier.standing_frontier import SCOPE
from longline.model.frontier.task import Outcome, RequestMade

MAX_ERROR_CHARACTERS = 200
"""Largest number of characters kept of an error, which is part of a key and may not be long."""


@dataclass(slots=True)
class _RequestSum:
    """The sum of one run's requests with the same reason, status and error."""

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
    """Count the requests of runs' tasks; the standing frontier never ends, so its sums would never be read."""
    sums: defaultdict[tuple[int, str, int, str], _RequestSum] = defaultdict(_RequestSum)
    for outcome in outcomes:
        if outcome.task.scope != SCOPE:
            for asked in outcome.asked:
                key = (outcome.task.run_id, asked.reason, asked.status or 0, asked.error[:MAX_ERROR_CHARACTERS])
                sums[key].add(asked, outcome)
    # In one order, after all other writes of a report: two reports never deadlock.
    await tx.batch("count_requests", [(*key, *found.row()) for key, found in sorted(sums.items(), key=lambda s: s[0])])
