"""Orphaned runs: adopted, accused, and finally failed."""

from types import SimpleNamespace
from typing import Any

import pytest

from longline.engine.schedules.orphaned_runs import (
    MAX_ADOPTIONS,
    STALE_LOCK_REASON,
    accused_runs,
    given_up,
    has_lapsed,
)

NOW, ME, URL_MS = 1_000_000, 1, 30_000


def tick(run_id: int = 1, owner: int | None = 2, lease_until: int | None = NOW - 1, **run: Any) -> Any:
    facts = {"adoptions": 0, "ended_urls": 0, "adopted_ended": 0, "unheld_ms": 0} | run
    schedule = SimpleNamespace(owner=owner, lease_until=lease_until, updated_at=NOW - 10_000, started_at=NOW - 20_000)
    return SimpleNamespace(schedule=schedule, run=SimpleNamespace(id=run_id, **facts), at=NOW)


def test_a_lease_lapses_after_its_end():
    assert [has_lapsed(tick(lease_until=until)) for until in (None, NOW - 1, NOW, NOW + 1)] == [
        True,
        True,
        False,
        False,
    ]


def test_the_only_run_of_a_killed_process_is_accused():
    assert accused_runs([tick(1)], ME, URL_MS) == {1}
    assert accused_runs([tick(1), tick(2)], ME, URL_MS) == frozenset(), "neither had time to end a URL"
    assert accused_runs([tick(1), tick(2, ended_urls=1)], ME, 5_000) == {1, 2}


def test_runs_of_a_process_that_ended_no_url_are_not_accused():
    stalled = [tick(number, ended_urls=7, adopted_ended=7, adoptions=MAX_ADOPTIONS) for number in range(60)]
    assert accused_runs(stalled, ME, 5_000) == frozenset()
    other = tick(99, owner=3, ended_urls=8, adopted_ended=7)
    assert accused_runs([*stalled, other], ME, 5_000) == {99}, "another process ended a URL"
    assert accused_runs(stalled[:1], ME, 5_000) == {0}


@pytest.mark.parametrize("facts", [{"owner": ME}, {"owner": None}, {"lease_until": NOW}])
def test_only_runs_of_killed_processes_are_accused(facts: dict[str, Any]):
    assert accused_runs([tick(1, **facts)], ME, URL_MS) == frozenset()


def test_a_run_fails_after_three_adoptions_without_a_url():
    adopted = tick(1, adoptions=MAX_ADOPTIONS, ended_urls=5, adopted_ended=5)
    assert given_up(adopted, 10**9, frozenset({1})) == STALE_LOCK_REASON
    assert given_up(adopted, 10**9, frozenset()) is None, "the run was not accused"
    assert given_up(tick(1, adoptions=MAX_ADOPTIONS - 1), 10**9, frozenset({1})) is None
    assert given_up(tick(1, adoptions=9, ended_urls=6, adopted_ended=5), 10**9, frozenset({1})) is None


def test_the_time_without_an_owner_does_not_count_for_a_run():
    assert given_up(tick(), 19_000, frozenset()) == "the run took longer than 19 seconds"
    assert given_up(tick(), 20_000, frozenset()) is None
    assert given_up(tick(unheld_ms=1_000), 19_000, frozenset()) is None
