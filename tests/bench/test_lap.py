import sys
from dataclasses import replace
from pathlib import Path

import pytest

from bench import ceiling
from bench.contestants import CONTESTANTS, Contestant, chosen
from bench.lap import Course, Database, Fell, run
from tests.bench.conftest import PAGES
from tests.bench.scripted import Scripted

OURS = [each for each in CONTESTANTS if each.python == sys.executable and not each.postgres]
RIVALS = [each for each in CONTESTANTS if each.python != sys.executable]


def named(contestant: Contestant) -> str:
    return contestant.name


@pytest.mark.parametrize("contestant", OURS, ids=named)
def test_ours_fetch_each_page_once(contestant: Contestant, small_course: Course):
    seen: list[int] = []
    lap = run(contestant, small_course, Database(), seen.append)
    assert not lap.faults
    assert lap.pages == PAGES
    assert lap.cpu > 0
    assert lap.peak_bytes > 10 << 20
    assert lap.rate > 0


@pytest.mark.parametrize("contestant", RIVALS, ids=named)
def test_rivals_fetch_each_page_once(contestant: Contestant, small_course: Course):
    if not contestant.available:
        pytest.skip("rivals are installed by `make bench`")
    lap = run(contestant, small_course, Database(), lambda _: None)
    assert not lap.faults
    assert lap.pages == PAGES


def test_two_workers_share_one_database(small_course: Course, postgres_url: str):
    lap = run(chosen("postgres")[0], small_course, Database(postgres_url), lambda _: None)
    assert not lap.faults
    assert lap.pages == PAGES


def test_a_contestant_that_falls_is_heard(small_course: Course):
    early = Scripted("early", "", "raise SystemExit('cannot begin')")
    with pytest.raises(Fell, match="cannot begin"):
        run(early, small_course, Database(), lambda _: None)
    late = Scripted("late", "", "with lap(): pass\nraise SystemExit('cannot end')")
    with pytest.raises(Fell, match="cannot end"):
        run(late, small_course, Database(), lambda _: None)


def test_a_contestant_without_end_is_given_up(small_course: Course):
    endless = Scripted("endless", "", "with lap():\n    while True: pass")
    with pytest.raises(Fell, match="ended before"):
        run(endless, replace(small_course, patience=1), Database(), lambda _: None)


def test_pages_that_were_not_fetched_are_faults(small_course: Course):
    lazy = Scripted("lazy", "", "with lap(): pass")
    assert run(lazy, small_course, Database(), lambda _: None).faults == [f"{PAGES} pages not fetched"]


def test_a_lap_leaves_no_file_behind(small_course: Course):
    folder = Path(small_course.site.folder).parent
    before = sorted(folder.iterdir())
    run(Scripted("lazy", "", "with lap(): pass"), small_course, Database(), lambda _: None)
    assert sorted(folder.iterdir()) == before


def test_the_server_alone_is_measured(small_course: Course):
    assert ceiling.measure(replace(small_course, concurrency=4)) > 0
