"""Processor time of a worker, divided between the runs whose tasks it reports."""

from collections.abc import Mapping


def shares_of_cpu_time(cpu_ms: int, tasks_by_run: Mapping[int, int]) -> dict[int, int]:
    """Return the share of each run, by its number of tasks; the shares add up to the whole."""
    total, before, shares = sum(tasks_by_run.values()), 0, dict[int, int]()
    for run_id, tasks in tasks_by_run.items():
        after = before + tasks
        # Differences of rounded sums add up to the whole.
        shares[run_id] = cpu_ms * after // total - cpu_ms * before // total
        before = after
    return shares
