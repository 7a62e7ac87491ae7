from rich.console import Console

from bench.lap import Course
from bench.parsing import SHELF, Times, _urls, measure, share, table
from longline.engine.parse.page_parser import PageParser


def test_shares():
    assert share([1.0, 2.0, 3.0, 4.0], 0.5) == 3.0
    assert share([1.0, 2.0], 1.0) == 2.0
    assert share([], 0.5) == 0.0


def test_pages_are_fetched_at_a_rate_and_parsed(small_course: Course):
    urls = _urls(small_course.site, small_course.served.port)
    times = measure(urls, PageParser(SHELF.open()).parse, 40, 0.25)
    assert (len(times.fetches), times.parsed, times.failed) == (10, 10, 0)
    assert times.late
    assert measure(urls, None, 40, 0.1).parsed == 0


def test_the_table_shows_milliseconds():
    console = Console(width=120, record=True, file=None, quiet=False)
    with console.capture() as shown:
        console.print(table({"here": Times([0.001, 0.002], [0.003], 2, 1)}, "two pages"))
    for figure in ("two pages", "here", "2.0", "3.0"):
        assert figure in shown.get()
