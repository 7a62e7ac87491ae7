"""Tasks of a run by host: a row for each host, with its counts by fate and the reasons of its failures."""

from collections import Counter
from collections.abc import Sequence

import msgspec

from longline.model.runs.run_view import HostTasks
from longline.model.states import ENDED

MAX_HOSTS = 10


class HostRow(msgspec.Struct, frozen=True):
    """The tasks of one host. open + completed + skipped + failed + cancelled = all."""

    host: str
    counts: dict[str, int]
    reasons: list[tuple[str, int]]

    @property
    def total(self) -> int:
        """The number of all counted tasks of the host."""
        return sum(self.counts.values())


class HostTable(msgspec.Struct, frozen=True):
    """The hosts with most tasks; `others` is the number of hosts that are left out."""

    rows: list[HostRow]
    others: int
    counted: int


def host_table(tasks: Sequence[HostTasks]) -> HostTable:
    """Return the table; tasks in hand and at rest count as open."""
    counts: dict[str, Counter[str]] = {}
    reasons: dict[str, Counter[str]] = {}
    for one in tasks:
        counts.setdefault(one.host, Counter())[one.state if one.state in ENDED else "open"] += one.count
        if one.state == "failed":
            reasons.setdefault(one.host, Counter())[one.reason or "unknown"] += one.count
    rows = [HostRow(host, dict(found), reasons.get(host, Counter()).most_common(3)) for host, found in counts.items()]
    rows.sort(key=lambda row: (-row.counts.get("failed", 0), -row.total, row.host))
    return HostTable(rows[:MAX_HOSTS], max(0, len(rows) - MAX_HOSTS), sum(one.count for one in tasks))
