"""The storm in its small form, and the proof that the checker finds each fault."""

import asyncio
import time
from pathlib import Path

import pytest

from tests.chaos.bot_history import History, Lock, Submit
from tests.chaos.bots import admin_token, report, server, storm

LONG = Lock("a", "j", 0, 500)
A, B = Lock("a", "j", 0, 100), Lock("b", "j", 101, 201)
DONE = Submit("b", "j", B, 150, 151, "done")
GOOD = {"j": ("done", 0, True)}


def test_a_sound_history_has_no_faults():
    late = Submit("a", "j", A, 140, 141, "not_assigned")
    assert History([A, B], [late, DONE]).faults(GOOD) == []


@pytest.mark.parametrize(
    ("locks", "submits", "final", "fault"),
    [
        ([A, Lock("b", "j", 99, 199)], [DONE], GOOD, "held it until 100"),
        ([A, B], [Submit("a", "j", A, 140, 141, "done")], GOOD, "after its lock had lapsed"),
        ([A, B], [Submit("a", "j", None, 50, 51, "done")], GOOD, "never held it"),
        ([A, B], [DONE, DONE], GOOD, "2 successes"),
        ([A, B], [], {"j": ("done", 0, False)}, "0 successes"),
        ([A, B], [DONE], {"j": ("done", 0, False)}, "result: False"),
        ([A, B], [DONE], {"j": ("done", 1, True)}, "1 were counted"),
        ([A], [], {"j": ("locked", 0, False)}, "is locked at the end"),
        (
            [Lock("a", "j", 0, 500), B],
            [Submit("a", "j", Lock("a", "j", 0, 500), 160, 161, "done")],
            GOOD,
            "somebody else",
        ),
    ],
)
def test_a_fault_is_seen(locks: list[Lock], submits: list[Submit], final: dict[str, tuple[str, int, bool]], fault: str):
    assert any(fault in found for found in History(locks, submits).faults(final))


@pytest.mark.parametrize("careless", [False, True], ids=["sound", "without the owner check"])
def test_bots_in_trouble(wiped_home: str, tmp_path: Path, careless: bool):
    with server(wiped_home, tmp_path, careless=careless) as address:
        begun = time.monotonic()
        history, final = asyncio.run(storm(address, admin_token(), jobs=300 if careless else 1500, bots=50, seed=1))
        told = report(history, time.monotonic() - begun)
    outcomes = {submit.outcome for submit in history.submits}
    assert {"done", "pending", "job_not_locked"} <= outcomes, told
    faults = history.faults(final)
    if careless:
        assert any("its answer was accepted" in fault or "was accepted when" in fault for fault in faults), told
    else:
        assert not faults, f"{told}\n{faults[:10]}"
        assert {"not_assigned", "lock_expired"} & outcomes, told
