"""The automatic schedules of sources."""

import pytest

from longline.model.sources.source import CrawlSource
from longline.model.sources.source_schedule import automatic_schedule, fnv1a, interval_minutes, leading_number


@pytest.mark.parametrize(
    ("base", "rate", "depth", "failures", "wanted"),
    [
        (60, 10, 1, 0, 60),
        (60, 5, 1, 0, 90),
        (60, 20, 1, 0, 45),
        (60, 21, 1, 0, 30),
        (60, 0, 0, 0, 60),
        (15, 5, 3, 0, 27),
        (180, 5, 6, 0, 405),
        (60, 10, 1, 3, 480),
        (60, 10, 1, 9, 1440),
    ],
)
def test_intervals_worked_out_by_hand(base: int, rate: int, depth: int, failures: int, wanted: int):
    assert interval_minutes(base, rate, depth, failures) == wanted


def test_leading_numbers_and_hashes_are_those_of_the_contract():
    assert [leading_number(text) for text in ("10s", "5", "", "often", " 7m")] == [10, 5, 10, 10, 7]
    assert leading_number("9" * 5_000) == 999_999_999
    assert fnv1a("") == 0x811C9DC5
    assert fnv1a("foobar") == 0xBF9CF968


def crawl_source(priority: str) -> CrawlSource:
    return CrawlSource(ref="1", name="n", url="https://n.example/", priority=priority)


def test_the_priority_of_a_crawl_source_gives_the_interval_and_priority_of_its_schedule():
    from_source = automatic_schedule(crawl_source("normal"))
    assert from_source.interval_ms == 3_600_000
    assert (
        automatic_schedule(crawl_source("critical")).every,
        automatic_schedule(crawl_source("critical")).priority,
    ) == (15, 100)
    assert automatic_schedule(crawl_source("urgent")).priority == 50
