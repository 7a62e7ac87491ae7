from typing import Any

from longline.services.metrics.task_and_run_counts import Counts


class Counted:
    """Tasks or runs of a records engine, by their counts."""

    def __init__(self, **found: int) -> None:
        self.found = found

    async def counts(self) -> dict[str, int]:
        return self.found


async def test_totals_name_every_fate():
    tasks: Any = Counted(open=3, completed=1)
    runs: Any = Counted(running=2)
    totals = await Counts(tasks, runs).take()
    assert totals.tasks == {"open": 3, "completed": 1, "failed": 0, "cancelled": 0, "skipped": 0}
    assert totals.runs == {"queued": 0, "running": 2, "completed": 0, "failed": 0, "cancelled": 0}
