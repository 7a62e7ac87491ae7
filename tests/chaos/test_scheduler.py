"""Ticks over processes that die, in a size for every day; the large form is a program of its own."""

import signal
from typing import Any

import pytest

from tests.chaos.scheduler import SMALL, Verdict, follow, regular, storm


async def test_every_tick_runs_once_or_is_superseded_and_nothing_is_stuck():
    verdict = await storm(SMALL)
    assert verdict.kills >= 2
    assert (verdict.wrong, verdict.stuck, verdict.left_running) == ([], 0, 0)
    assert (verdict.half_done, verdict.never_ran) == (0, 0)
    assert verdict.completed >= SMALL.schedules
    assert set(verdict.exits) <= {0, -signal.SIGTERM}, "a process that had not started yet ends by the signal"


def run(number: int, due: int, state: str = "completed", completed: int = 1) -> dict[str, Any]:
    return {"schedule_id": 1, "number": number, "due": due, "state": state, "completed": completed}


@pytest.mark.parametrize(
    ("runs", "moments", "wrong", "superseded"),
    [
        ([run(1, 100), run(2, 110_100)], [105_000], 0, 10),
        ([run(1, 100), run(2, 10_100)], [105], 0, 0),
        ([run(1, 100), run(2, 10_100), run(3, 20_100)], [105, 10_105], 0, 0),
        ([run(1, 100), run(2, 20_100)], [105], 1, 1),
        ([run(1, 100), run(2, 10_101)], [105], 1, 0),
        ([run(1, 100), run(3, 10_100)], [105], 1, 0),
        ([run(1, 100), run(2, 100)], [105], 1, -1),
        ([run(1, 10_100)], [], 1, 0),
    ],
)
def test_the_judge_counts_wrong_and_superseded_ticks(runs: list[Any], moments: list[int], wrong: int, superseded: int):
    verdict = Verdict()
    follow(verdict, 100, 10_000, runs, moments)
    assert (len(verdict.wrong), verdict.superseded) == (wrong, superseded)


def test_half_a_run_is_seen():
    verdict = Verdict()
    follow(verdict, 0, 10, [run(1, 0, completed=2)], [])
    assert verdict.half_done == 1


def test_the_next_time_is_after_the_moment():
    assert [regular(100, 10, moment) for moment in (99, 100, 109, 110)] == [100, 110, 110, 120]
