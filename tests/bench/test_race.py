from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO

import pytest
from rich.console import Console

from bench import race
from bench.lap import Course
from bench.site import Site
from bench.web import Served
from tests.bench.scripted import Scripted

LAZY = "with lap(): pass"


@pytest.fixture
def small_site(small_course: Course, monkeypatch: pytest.MonkeyPatch) -> Site:
    """A site that is served already when races look for it."""

    @contextmanager
    def served(_: Site) -> Iterator[Served]:
        yield small_course.served

    monkeypatch.setattr(race, "served", served)
    return small_course.site


def test_the_order_turns_every_round(small_site: Site):
    field = [Scripted("one", "one", LAZY), Scripted("two", "two", LAZY)]
    ended = race.run(small_site, field, 3, 4, Console(file=StringIO()))
    assert [list(laps) for laps in ended.rounds] == [["one", "two"], ["two", "one"], ["one", "two"]]
    assert ended.server_rate > 0
    assert not ended.fell


def test_a_failing_contestant_does_not_stop_the_others(small_site: Site):
    field = [Scripted("one", "one", "raise SystemExit('ill')"), Scripted("two", "two", LAZY)]
    ended = race.run(small_site, field, 1, 4, Console(file=StringIO()))
    assert [list(laps) for laps in ended.rounds] == [["two"]]
    assert "ill" in ended.fell["one"]
