"""Moves of tasks at random while workers crawl them, for seconds; the large form is a program."""

from pathlib import Path

from tests.chaos import product_races
from tests.journeys.place import Place


def test_moves_at_random_leave_legal_states_and_no_effect_of_superseded_attempts(tmp_path: Path):
    figures = product_races.run(Place(tmp_path / "races" / "data"), tasks=30, seconds=2.0)
    assert figures["requests"] > 0
