"""Adoption of runs whose process was killed or stopped: which runs are accused of the kills, and which are given up."""

from collections import Counter
from collections.abc import Sequence

from longline.ports.records.schedules import Tick

STALE_LOCK_REASON = "recovered: stale lock"

MAX_ADOPTIONS = 3
"""Largest number of adoptions after a kill without a finished URL in between; the run may kill its processes."""


def has_lapsed(tick: Tick) -> bool:
    """Return whether no process holds the schedule any more."""
    return (tick.schedule.lease_until or 0) < tick.at


def accused_runs(ticks: Sequence[Tick], owner: int, url_ms: int) -> frozenset[int]:
    """Return the runs that may have killed the process that held them.

    A process that held several runs accuses none of them if it was killed before a URL could have ended, or if no URL
    of any of them has ended since their last adoption: the cause is then the machine rather than all of its runs. A
    scheduler that takes back its own lapsed lease was not killed.
    """
    left = [tick for tick in ticks if has_lapsed(tick) and tick.schedule.owner not in (None, owner)]
    held = Counter(tick.schedule.owner for tick in left)
    able = {tick.schedule.owner for tick in left if tick.run.ended_urls > tick.run.adopted_ended}
    return frozenset(
        tick.run.id
        for tick in left
        if held[tick.schedule.owner] == 1 or (tick.schedule.owner in able and _held_ms(tick) >= url_ms)
    )


def _held_ms(tick: Tick) -> int:
    return (tick.schedule.lease_until or 0) - tick.schedule.updated_at


def given_up(tick: Tick, longest_ms: int, accused: frozenset[int]) -> str | None:
    """Return the reason to give up an open run, else None: it took too long, or its adoptions ended no URL."""
    schedule, run = tick.schedule, tick.run
    # Only the time in which a process held the run counts.
    held_until = min(tick.at, schedule.lease_until or tick.at)
    if held_until - (schedule.started_at or held_until) - run.unheld_ms > longest_ms:
        return f"the run took longer than {longest_ms // 1000} seconds"
    futile = run.id in accused and run.adoptions >= MAX_ADOPTIONS and run.ended_urls == run.adopted_ended
    return STALE_LOCK_REASON if futile else None
