from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO

import pytest
from bench.lap import Course
from bench.site import Site
from bench.web import Served
from rich.console import Console

from bench import race
from tests.bench.scripted import Scripted

LAZY = "with lap(): pass"


@pytest.fixture
def small_race(small_course: Course, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Races are served by the small server; the list tells who ran, in order."""

    @contextmanager
    def served(_: Site) -> Iterator[Served]:
        yield small_course.served

    ran: list[str] = []
    run_lap = race.run_lap
    monkeypatch.setattr(race, "served", served)
    monkeypatch.setattr(race, "run_lap", lambda who, *rest: (ran.append(who.name), run_lap(who, *rest))[1])
    return ran


def test_the_order_turns_every_round(small_race: list[str], small_course: Course):
    field = [Scripted("one", "one", LAZY), Scripted("two", "two", LAZY)]
    ended = race.run(small_course.site, field, 3, 4, Console(file=StringIO()))
    assert small_race == ["one", "two", "two", "one", "one", "two"]
    assert [set(laps) for laps in ended.rounds] == [{"one", "two"}] * 3
    assert ended.server_rate > 0


def test_one_that_falls_does_not_stop_the_others(small_race: list[str], small_course: Course):
    field = [Scripted("one", "one", "raise SystemExit('ill')"), Scripted("two", "two", LAZY)]
    ended = race.run(small_course.site, field, 1, 4, Console(file=StringIO()))
    assert small_race == ["one", "two"]
    assert [set(laps) for laps in ended.rounds] == [{"two"}]
    assert "ill" in ended.fell["one"]
